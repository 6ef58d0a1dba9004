package roads

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// nameWriter writes the names of roads, each once, in the order in which roads use them.
type nameWriter struct {
	texts  *scratch.Texts
	out    *region.SectionWriter
	places *scratch.Array[uint32] // of each text in the file; 0 for those that are not there
}

// newNameWriter begins with the empty text, which is at 0.
func newNameWriter(b *builder) (*nameWriter, error) {
	n := &nameWriter{b.texts, b.w.Spool(roadgraph.NamesSection, 1), scratch.NewArray[uint32](b.dir, "road-name-places")}
	if _, err := n.places.Extend(b.texts.Len()); err != nil {
		return nil, err
	}
	_, err := n.out.Write([]byte{0, 0})
	return n, err
}

// add returns the place of a text. OpenStreetMap's values have at most 255 characters.
func (n *nameWriter) add(text uint32) (uint32, error) {
	place := &n.places.Slice()[text]
	if text == 0 || *place != 0 {
		return *place, nil
	}
	if n.out.Len() > math.MaxUint32 {
		return 0, fmt.Errorf("the extract has too many names of roads: %d bytes", n.out.Len())
	}
	*place = uint32(n.out.Len())
	name := n.texts.Bytes(text)
	name = name[:min(len(name), math.MaxUint16)]
	if _, err := n.out.Write([]byte{byte(len(name)), byte(len(name) >> 8)}); err != nil {
		return 0, err
	}
	_, err := n.out.Write(name)
	return *place, err
}

func (n *nameWriter) free() error { return n.places.Free() }
