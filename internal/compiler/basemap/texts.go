package basemap

import (
	"cmp"
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/tiles"
)

// textTable is the text of the map: classes and names, each once.
type textTable struct {
	numbers *scratch.Texts
	at      *scratch.Array[uint64] // where the text of a number begins
	bytes   *scratch.Array[byte]
}

func newTextTable(dir *scratch.Dir) (*textTable, error) {
	numbers, err := scratch.NewTexts(dir, "map-texts")
	t := &textTable{numbers, scratch.NewArray[uint64](dir, "map-text-at"), scratch.NewArray[byte](dir, "map-text")}
	return t, cmp.Or(err, t.at.Append(0), t.bytes.Append(0)) // the empty text
}

// add returns where a text begins, and adds it where it is not there yet.
func (t *textTable) add(text string) (uint64, error) {
	n, err := t.numbers.Add(text)
	if err != nil {
		return 0, err
	}
	if int(n) < t.at.Len() {
		return t.at.Slice()[n], nil
	}
	text = text[:min(len(text), tiles.MaxText)]
	at := uint64(t.bytes.Len())
	record := append(binary.AppendUvarint(make([]byte, 0, len(text)+3), uint64(len(text))), text...)
	return at, cmp.Or(t.at.Append(at), t.bytes.Append(record...))
}

// freeIndex frees what is not needed any more when all is in the text.
func (t *textTable) freeIndex() error { return cmp.Or(t.numbers.Free(), t.at.Free()) }

// Text returns the text that begins somewhere, for tiles.Cutters.
func (t *textTable) Text(at uint64) []byte {
	all := t.bytes.Slice()
	length, n := binary.Uvarint(all[at:])
	from := at + uint64(n)
	return all[from : from+length]
}
