package basemap

import (
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/maptile"
	"github.com/mapsedge/caddy-maps/internal/maptile/mapfile"
)

// textTable is the text of the map: what of the extract's texts a piece needs, each once.
type textTable struct {
	of    *scratch.Texts
	bytes *scratch.Array[byte]
	at    *scratch.Array[uint64] // where the text of a number begins, 0 where it is not there yet
}

func newTextTable(dir *scratch.Dir, of *scratch.Texts) (*textTable, error) {
	t := &textTable{of: of, bytes: scratch.NewArray[byte](dir, "map-text"),
		at: scratch.NewArray[uint64](dir, "map-text-at")}
	if err := t.bytes.Append(0); err != nil { // the empty text
		return nil, err
	}
	_, err := t.at.Extend(of.Len())
	return t, err
}

// freeIndex frees what is not needed any more when all is in the text.
func (t *textTable) freeIndex() error { return t.at.Free() }

// number returns where the text with a number begins, and adds it where it is not there yet.
func (t *textTable) number(n uint32) (uint64, error) {
	if n == 0 {
		return 0, nil
	}
	at := &t.at.Slice()[n]
	if *at == 0 {
		var err error
		if *at, err = t.add(t.of.Text(n)); err != nil {
			return 0, err
		}
	}
	return *at, nil
}

// add adds a text, and returns where it begins.
func (t *textTable) add(text string) (uint64, error) {
	text = text[:min(len(text), maptile.MaxText)]
	at := uint64(t.bytes.Len())
	if err := t.bytes.Append(binary.AppendUvarint(nil, uint64(len(text)))...); err != nil {
		return 0, err
	}
	return at, t.bytes.Append([]byte(text)...)
}

// names returns where keys and values begin.
func (t *textTable) names(tags []extract.TagNumbers) ([]mapfile.Name, error) {
	names := make([]mapfile.Name, len(tags))
	for i, tag := range tags {
		var err error
		if names[i].Key, err = t.number(tag.Key); err != nil {
			return nil, err
		}
		if names[i].Value, err = t.number(tag.Value); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Text returns the text that begins somewhere, for maptile.Cutter.
func (t *textTable) Text(at uint64) []byte {
	all := t.bytes.Slice()
	length, n := binary.Uvarint(all[at:])
	from := at + uint64(n)
	return all[from : from+length]
}
