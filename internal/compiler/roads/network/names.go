package network

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// textWriter writes texts of roads to a section, each once, in the order in which roads use them.
type textWriter struct {
	texts  *scratch.Texts
	out    *region.SectionWriter
	places *scratch.Array[uint32] // of each text in the file; 0 for those that are not there
}

// newTextWriter begins with the empty text, which is at 0.
func newTextWriter(b *builder, section string) (*textWriter, error) {
	n := &textWriter{b.data.Texts, b.w.Spool(section, 1), scratch.NewArray[uint32](b.dir, section+"-places")}
	if _, err := n.places.Extend(n.texts.Len()); err != nil {
		return nil, err
	}
	_, err := n.out.Write([]byte{0, 0})
	return n, err
}

// add returns the place of a text.
func (n *textWriter) add(text uint32) (uint32, error) {
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

func (n *textWriter) free() error { return n.places.Free() }

// kindWriter writes kinds of roads, each once, in the order in which roads use them.
type kindWriter struct {
	known *scratch.Texts // their bytes
	out   *region.SectionWriter
}

func newKindWriter(b *builder) (*kindWriter, error) {
	known, err := scratch.NewTexts(b.dir, "road-kinds")
	return &kindWriter{known, b.w.Spool(roadgraph.KindsSection, sizeOf[roadgraph.Kind]())}, err
}

// add returns the number of a kind.
func (k *kindWriter) add(kind roadgraph.Kind) (uint32, error) {
	before := k.known.Len()
	number, err := k.known.Add(unsafe.String((*byte)(unsafe.Pointer(&kind)), sizeOf[roadgraph.Kind]()))
	if err == nil && k.known.Len() > before {
		err = region.Append(k.out, kind)
	}
	return number - 1, err // 0 is the empty text
}
