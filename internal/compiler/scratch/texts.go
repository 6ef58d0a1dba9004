package scratch

import (
	"fmt"
	"hash/maphash"
	"math"
	"unsafe"
)

// Texts keeps texts, each once, and numbers them in the order in which they come: the empty one is 0. Table and texts
// are in mapped files.
type Texts struct {
	seed  maphash.Seed
	bytes *Array[byte]
	ends  *Array[uint64] // of each text
	table *Array[textSlot]
}

// textSlot is a place of the hash table. The hash spares looking at most texts that are not meant, and finds the slot's
// place when the table grows.
type textSlot struct{ hash, number uint32 }

const firstSlots = 1 << 12

// NewTexts makes a table of the empty text.
func NewTexts(d *Dir, name string) (*Texts, error) {
	t := &Texts{seed: maphash.MakeSeed(), bytes: NewArray[byte](d, name), ends: NewArray[uint64](d, name+"-ends"),
		table: NewArray[textSlot](d, name+"-table")}
	if err := t.ends.Append(0); err != nil {
		return nil, err
	}
	_, err := t.table.Extend(firstSlots)
	return t, err
}

// Len is how many texts there are, with the empty one.
func (t *Texts) Len() int { return t.ends.Len() }

// Add returns the number of a text.
func (t *Texts) Add(text string) (uint32, error) {
	number, at, hash := t.find(text)
	if number != 0 || text == "" {
		return number, nil
	}
	slots := t.table.Slice()
	count := t.ends.Len()
	if count > math.MaxUint32 {
		return 0, fmt.Errorf("the extract has more than %d different names", uint32(math.MaxUint32))
	}
	slots[at] = textSlot{hash, uint32(count)}
	if err := t.bytes.Append(unsafe.Slice(unsafe.StringData(text), len(text))...); err != nil {
		return 0, err
	}
	if err := t.ends.Append(uint64(t.bytes.Len())); err != nil {
		return 0, err
	}
	if 3*count > 2*len(slots) && len(slots) < 1<<32 {
		return uint32(count), t.double()
	}
	return uint32(count), nil
}

// Find returns the number of a text, and 0 for one that is not there. Several goroutines may call it at a time.
func (t *Texts) Find(text string) uint32 {
	number, _, _ := t.find(text)
	return number
}

// find returns the number of a text and its slot, or 0 and the slot for it.
func (t *Texts) find(text string) (number, at, hash uint32) {
	if text == "" {
		return 0, 0, 0
	}
	hash = uint32(maphash.String(t.seed, text))
	slots := t.table.Slice()
	mask := uint32(len(slots) - 1)
	for at = hash & mask; slots[at].number != 0; at = (at + 1) & mask {
		if slots[at].hash == hash && string(t.Bytes(slots[at].number)) == text {
			return slots[at].number, at, hash
		}
	}
	return 0, at, hash
}

// double makes the table twice as large. A slot moves to its place in the second half or stays before the free ones,
// so the table is filled anew.
func (t *Texts) double() error {
	old := t.table
	t.table = NewArray[textSlot](old.dir, old.name)
	slots, err := t.table.Extend(2 * old.Len())
	if err != nil {
		return err
	}
	mask := uint32(len(slots) - 1)
	for _, s := range old.Slice() {
		if s.number == 0 {
			continue
		}
		at := s.hash & mask
		for slots[at].number != 0 {
			at = (at + 1) & mask
		}
		slots[at] = s
	}
	return old.Free()
}

// Bytes is a text by its number, to be read only, until the next Add or Free.
func (t *Texts) Bytes(number uint32) []byte {
	if number == 0 {
		return nil
	}
	ends := t.ends.Slice()
	return t.bytes.Slice()[ends[number-1]:ends[number]]
}

// Text is a text by its number.
func (t *Texts) Text(number uint32) string { return string(t.Bytes(number)) }

// Free removes the files.
func (t *Texts) Free() error {
	for _, free := range []func() error{t.bytes.Free, t.ends.Free, t.table.Free} {
		if err := free(); err != nil {
			return err
		}
	}
	return nil
}
