package scratch

import (
	"errors"
	"hash/maphash"
	"unsafe"
)

// Texts stores each text once, and numbers them in the order in which they are added. The empty text is 0. It is a hash
// table in mapped files.
type Texts struct {
	seed  maphash.Seed
	bytes *Array[byte]
	ends  *Array[uint64] // of the texts in bytes
	table *Array[textSlot]
}

// textSlot is a slot of the hash table. The hash rules out most other texts, and finds the slot's new place when the
// table grows.
type textSlot struct{ hash, number uint32 }

const firstSlots = 1 << 12

// NewTexts makes a table with the empty text.
func NewTexts(d *Dir, name string) (*Texts, error) {
	t := &Texts{seed: maphash.MakeSeed(), bytes: NewArray[byte](d, name), ends: NewArray[uint64](d, name+"-ends"),
		table: NewArray[textSlot](d, name+"-table")}
	if err := t.ends.Append(0); err != nil {
		return nil, err
	}
	_, err := t.table.Extend(firstSlots)
	return t, err
}

// Len returns the number of texts, including the empty one.
func (t *Texts) Len() int { return t.ends.Len() }

// Add returns the number of a text, and adds it if it is new.
func (t *Texts) Add(text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	slot, hash := t.find(text)
	if slot.number != 0 {
		return slot.number, nil
	}
	number := uint32(t.ends.Len())
	if err := t.bytes.Append(unsafe.Slice(unsafe.StringData(text), len(text))...); err != nil {
		return 0, err
	}
	if err := t.ends.Append(uint64(t.bytes.Len())); err != nil {
		return 0, err
	}
	*slot = textSlot{hash, number}
	if 3*t.ends.Len() > 2*t.table.Len() {
		return number, t.double()
	}
	return number, nil
}

// Find returns the number of a text, or 0 if it is not there. It is safe for concurrent use.
func (t *Texts) Find(text string) uint32 {
	if text == "" {
		return 0
	}
	slot, _ := t.find(text)
	return slot.number
}

// find returns the slot of a text, or the free slot for it, and its hash.
func (t *Texts) find(text string) (*textSlot, uint32) {
	hash := uint32(maphash.String(t.seed, text))
	slots := t.table.Slice()
	at := t.mask() & hash
	for slots[at].number != 0 && (slots[at].hash != hash || string(t.Bytes(slots[at].number)) != text) {
		at = t.mask() & (at + 1)
	}
	return &slots[at], hash
}

func (t *Texts) mask() uint32 { return uint32(t.table.Len() - 1) }

// double doubles the size of the table.
func (t *Texts) double() error {
	old, larger := t.table, NewArray[textSlot](t.table.file.dir, t.table.file.name)
	slots, err := larger.Extend(2 * old.Len())
	if err != nil {
		return err
	}
	t.table = larger
	for _, s := range old.Slice() {
		if s.number == 0 {
			continue
		}
		at := t.mask() & s.hash
		for slots[at].number != 0 {
			at = t.mask() & (at + 1)
		}
		slots[at] = s
	}
	return old.Free()
}

// Bytes returns the text with a number. It is valid until the next Add or Free, and must not be changed.
func (t *Texts) Bytes(number uint32) []byte {
	if number == 0 {
		return nil
	}
	ends := t.ends.Slice()
	return t.bytes.Slice()[ends[number-1]:ends[number]]
}

// Text returns the text with a number.
func (t *Texts) Text(number uint32) string { return string(t.Bytes(number)) }

// Free removes the files.
func (t *Texts) Free() error { return errors.Join(t.bytes.Free(), t.ends.Free(), t.table.Free()) }
