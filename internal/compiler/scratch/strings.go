package scratch

import (
	"cmp"
	"encoding/binary"
	"errors"
)

// StringTable is the bytes of a section in which each entry is stored once. Entries are known by the offsets at which
// they begin. The table begins with a zero byte: offset 0 is the empty text.
type StringTable struct {
	bytes   *Array[byte]
	numbers *Texts
	offsets *Array[uint64] // of the entries by their numbers
}

// NewStringTable makes a table with the empty text.
func NewStringTable(d *Dir, name string) (*StringTable, error) {
	numbers, err := NewTexts(d, name+"-numbers")
	t := &StringTable{NewArray[byte](d, name), numbers, NewArray[uint64](d, name+"-offsets")}
	return t, cmp.Or(err, t.bytes.Append(0), t.offsets.Append(0))
}

// AddBytes returns the offset of an entry whose bytes tell where it ends, and adds it if it is new.
func (t *StringTable) AddBytes(entry []byte) (uint64, error) { return t.add(string(entry)) }

// AddText returns the offset of a text, and adds it with its length before it if it is new.
func (t *StringTable) AddText(text string) (uint64, error) {
	var length [binary.MaxVarintLen64]byte
	return t.add(text, binary.AppendUvarint(length[:0], uint64(len(text)))...)
}

func (t *StringTable) add(entry string, head ...byte) (uint64, error) {
	n, err := t.numbers.Add(entry)
	if err != nil {
		return 0, err
	}
	if int(n) < t.offsets.Len() {
		return t.offsets.Slice()[n], nil
	}
	at := uint64(t.bytes.Len())
	return at, cmp.Or(t.offsets.Append(at), t.bytes.Append(head...), t.bytes.Append([]byte(entry)...))
}

// Text returns the text at an offset. It is valid until the next addition, and must not be changed.
func (t *StringTable) Text(at uint64) []byte {
	all := t.bytes.Slice()
	length, n := binary.Uvarint(all[at:])
	return all[at+uint64(n):][:length]
}

// Bytes returns all bytes of the table, until the next addition.
func (t *StringTable) Bytes() []byte { return t.bytes.Slice() }

// FreeIndex frees what only additions need.
func (t *StringTable) FreeIndex() error { return errors.Join(t.numbers.Free(), t.offsets.Free()) }
