package geocoding

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// stringTable keeps each distinct string once. String 0 is the empty one.
type stringTable struct {
	index map[string]uint32
	text  []byte
	ends  []uint32
}

func newStringTable() *stringTable {
	return &stringTable{index: map[string]uint32{"": 0}, ends: []uint32{0, 0}}
}

func (t *stringTable) add(s string) uint32 {
	if i, ok := t.index[s]; ok {
		return i
	}
	i := uint32(len(t.ends) - 1)
	t.index[s] = i
	t.text = append(t.text, s...)
	t.ends = append(t.ends, uint32(len(t.text)))
	return i
}

func (t *stringTable) write(w *region.Writer) error {
	if len(t.text) > math.MaxUint32 {
		return fmt.Errorf("the names take %d bytes, more than a region holds (4 GiB)", len(t.text))
	}
	region.Add(w, sectionStrings, t.ends)
	region.Add(w, sectionText, t.text)
	return nil
}

// bytes returns string i as a part of the mapped file.
func (x *Index) bytes(i uint32) []byte {
	if i == 0 {
		return nil
	}
	ends := x.strings.Range(int(i), int(i)+2)
	return x.text.Range(int(ends[0]), int(ends[1]))
}
