package search

// set is a set of numbers: a hash table without pointers, so that a search allocates nothing once it has grown.
type set struct {
	slots []uint32 // numbers + 1
	count int
}

const (
	firstSlots = 1 << 10
	hashFactor = 0x9E3779B1 // 2^32 divided by the golden ratio (Knuth)
)

func (t *set) reset() {
	if t.slots == nil {
		t.slots = make([]uint32, firstSlots)
	}
	if t.count > 0 {
		clear(t.slots)
	}
	t.count = 0
}

// add adds a number, and reports whether it is new.
func (t *set) add(v uint32) bool {
	if 2*t.count >= len(t.slots) {
		old := t.slots
		t.slots, t.count = make([]uint32, 2*len(old)), 0
		for _, slot := range old {
			if slot != 0 {
				t.add(slot - 1)
			}
		}
	}
	at := slotOf(t.slots, v)
	if t.slots[at] != 0 {
		return false
	}
	t.slots[at] = v + 1
	t.count++
	return true
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
	values []qualities // of each slot
}

func (t *table) reset() {
	t.set.reset()
	if len(t.values) != len(t.slots) {
		t.values = make([]qualities, len(t.slots))
	}
}

// get returns the qualities of a number, or nil.
func (t *table) get(v uint32) *qualities {
	if at := slotOf(t.slots, v); t.slots[at] != 0 {
		return &t.values[at]
	}
	return nil
}

// raise raises the qualities of a number.
func (t *table) raise(v uint32, q *qualities) {
	if old := t.get(v); old != nil {
		old.raise(q)
		return
	}
	if 2*t.count >= len(t.slots) {
		slots, values := t.slots, t.values
		t.slots, t.values, t.count = make([]uint32, 2*len(slots)), make([]qualities, 2*len(slots)), 0
		for i, slot := range slots {
			if slot != 0 {
				t.raise(slot-1, &values[i])
			}
		}
	}
	at := slotOf(t.slots, v)
	t.slots[at], t.values[at] = v+1, *q
	t.count++
}
