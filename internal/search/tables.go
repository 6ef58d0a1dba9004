package search

// set is a set of numbers in the order in which they were added: a hash table without pointers, so that a search
// allocates nothing once it has grown.
type set struct {
	slots []uint32 // numbers + 1
	index []int32  // of each slot: what was given to add
	count int
}

const (
	firstSlots = 1 << 10
	hashFactor = 0x9E3779B1 // 2^32 divided by the golden ratio (Knuth)
)

func (t *set) reset() {
	if t.slots == nil {
		t.slots, t.index = make([]uint32, firstSlots), make([]int32, firstSlots)
	}
	if t.count > 0 {
		clear(t.slots)
	}
	t.count = 0
}

// add adds a number with an index, and reports whether it is new.
func (t *set) add(v uint32, index int32) bool {
	if 2*t.count >= len(t.slots) {
		slots, indexes := t.slots, t.index
		t.slots, t.index, t.count = make([]uint32, 2*len(slots)), make([]int32, 2*len(slots)), 0
		for i, slot := range slots {
			if slot != 0 {
				t.add(slot-1, indexes[i])
			}
		}
	}
	at := slotOf(t.slots, v)
	if t.slots[at] != 0 {
		return false
	}
	t.slots[at], t.index[at] = v+1, index
	t.count++
	return true
}

// get returns the index of a number; false if it is not in the set or has a negative index.
func (t *set) get(v uint32) (int32, bool) {
	at := slotOf(t.slots, v)
	return t.index[at], t.slots[at] != 0 && t.index[at] >= 0
}

// slotOf returns the slot of a number, or the free one for it.
func slotOf(slots []uint32, v uint32) uint32 {
	mask := uint32(len(slots) - 1)
	at := v * hashFactor >> 7 & mask
	for slots[at] != 0 && slots[at] != v+1 {
		at = (at + 1) & mask
	}
	return at
}

// table maps numbers to qualities.
type table struct {
	set
	values []qualities
}

func (t *table) reset() {
	t.set.reset()
	t.values = t.values[:0]
}

// get returns the qualities of a number, or nil.
func (t *table) get(v uint32) *qualities {
	if i, ok := t.set.get(v); ok {
		return &t.values[i]
	}
	return nil
}

// raise raises the qualities of a number.
func (t *table) raise(v uint32, q *qualities) {
	if !t.add(v, int32(len(t.values))) {
		t.get(v).raise(q)
		return
	}
	t.values = append(t.values, *q)
}
