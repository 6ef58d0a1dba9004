package sections

import (
	"cmp"
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// table is a section of bytes in which everything is once. It begins with a zero byte, so that nothing else begins at
// 0.
type table struct {
	bytes *scratch.Array[byte]
	known *scratch.Texts
	at    *scratch.Array[uint64] // where what has a number in known begins
}

func newTable(dir *scratch.Dir, name string) (*table, error) {
	known, err := scratch.NewTexts(dir, name+"-known")
	if err != nil {
		return nil, err
	}
	t := &table{scratch.NewArray[byte](dir, name), known, scratch.NewArray[uint64](dir, name+"-at")}
	if err := t.bytes.Append(0); err != nil {
		return nil, err
	}
	return t, t.at.Append(0)
}

// add returns where some bytes begin.
func (t *table) add(data []byte) (uint64, error) { return t.find(string(data)) }

// string returns where a string begins, which has its length before it.
func (t *table) string(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	var head [binary.MaxVarintLen64]byte
	return t.find(s, binary.AppendUvarint(head[:0], uint64(len(s)))...)
}

// find returns where a text begins, and adds it with what is before it where it is new.
func (t *table) find(text string, head ...byte) (uint64, error) {
	n, err := t.known.Add(text)
	if err != nil {
		return 0, err
	}
	if int(n) < t.at.Len() {
		return t.at.Slice()[n], nil
	}
	at := uint64(t.bytes.Len())
	return at, cmp.Or(t.at.Append(at), t.bytes.Append(head...), t.bytes.Append([]byte(text)...))
}

// text returns what string added, as bytes to be read only.
func (t *table) text(at uint64) []byte {
	if at == 0 {
		return nil
	}
	length, n := binary.Uvarint(t.bytes.Slice()[at:])
	return t.bytes.Slice()[at+uint64(n):][:length]
}
