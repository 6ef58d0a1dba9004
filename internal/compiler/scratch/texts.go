package scratch

import (
	"errors"
	"hash/maphash"
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

// Find returns the number of a text, and 0 for one that is not there. Several goroutines may call it at a time.
func (t *Texts) Find(text string) uint32 {
	if text == "" {
		return 0
	}
	slot, _ := t.find(text)
	return slot.number
}

// find returns the slot of a text, or the free one for it, and its hash.
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

// double makes the table twice as large.
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
func (t *Texts) Free() error { return errors.Join(t.bytes.Free(), t.ends.Free(), t.table.Free()) }
