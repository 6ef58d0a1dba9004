package geocoding

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// stringTable keeps strings, most of them once. A string's number is where it begins in the text: with its length as an
// unsigned varint, so that reading it touches one place in memory. String 0 is the empty one.
type stringTable struct {
	index map[string]uint32
	text  []byte
}

func newStringTable() *stringTable {
	return &stringTable{index: map[string]uint32{"": 0}, text: []byte{0}}
}

func (t *stringTable) add(s string) uint32 {
	if i, ok := t.index[s]; ok {
		return i
	}
	i := t.append(s)
	t.index[s] = i
	return i
}

// append adds a string even where it is known, so that the names of neighbours are neighbours in memory. A long one
// is kept once.
func (t *stringTable) append(s string) uint32 {
	if s == "" {
		return 0
	}
	if len(s) > longName {
		if i, ok := t.index[s]; ok {
			return i
		}
		t.index[s] = uint32(len(t.text))
	}
	i := uint32(len(t.text))
	t.text = binary.AppendUvarint(t.text, uint64(len(s)))
	t.text = append(t.text, s...)
	return i
}

// maxString is above the longest string, in bytes: a house number and a street, of 255 characters each.
const maxString = 1 << 14

// longName is above nearly all names, in bytes.
const longName = 80

// check refuses more text than the numbers can count.
func (t *stringTable) check() error {
	if len(t.text) > math.MaxUint32 {
		return fmt.Errorf("the names take %d bytes, more than a region holds (%d)", len(t.text), uint32(math.MaxUint32))
	}
	return nil
}

// bytes returns a string as a part of the mapped file.
func (x *Index) bytes(i uint32) []byte {
	if i == 0 {
		return nil
	}
	from := int(i)
	length := int(*x.text.At(from))
	if from++; length >= 0x80 {
		head := x.text.Range(from-1, min(from-1+binary.MaxVarintLen32, x.text.Len()))
		long, n := binary.Uvarint(head)
		if n <= 0 || long > maxString {
			panic(&region.DamageError{Path: x.file.Path(), Problem: fmt.Sprintf("no string begins at %d", i)})
		}
		from, length = from-1+n, int(long)
	}
	return x.text.Range(from, from+length)
}
