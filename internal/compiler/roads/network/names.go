package network

import (
	"cmp"
	"fmt"
	"math"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// writeRoads writes the roads of base edges, with their kinds, names and details.
func (b *builder) writeRoads() error {
	names, failed := newTextWriter(b, roadgraph.NamesSection)
	texts, failedToo := newTextWriter(b, roadgraph.DetailTextSection)
	known, err := scratch.NewTexts(b.dir, "road-kinds") // of bytes
	if err := cmp.Or(failed, failedToo, err); err != nil {
		return err
	}
	kinds := b.w.Spool(roadgraph.KindsSection, sizeOf[roadgraph.Kind]())
	details := b.w.Spool(roadgraph.DetailsSection, sizeOf[roadgraph.Details]())
	out := b.w.Direct(roadgraph.RoadsSection, sizeOf[roadgraph.Road]())
	for number, road := range b.roadOf.Slice() {
		r := &b.roads[road]
		name, failed := names.add(r.Name)
		ref, failedToo := names.add(r.Ref)
		kind := roadgraph.Kind{Ref: ref, Class: r.Class, Flags: uint8(r.Flags >> roadgraph.RoadFlags), Layer: r.Layer,
			Speeds: [4]uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed}}
		count := known.Len()
		k, err := known.Add(unsafe.String((*byte)(unsafe.Pointer(&kind)), sizeOf[roadgraph.Kind]()))
		if known.Len() > count {
			err = cmp.Or(err, region.Append(kinds, kind))
		}
		err = cmp.Or(failed, failedToo, err, region.Append(out, roadgraph.Road{WayLow: uint32(r.Way),
			WayHigh: uint32(uint64(r.Way) >> 32), Name: name, Kind: k - 1})) // number 0 is the empty text
		if r.Details != 0 && err == nil {
			var text uint32
			text, err = texts.add(r.Details)
			err = cmp.Or(err, region.Append(details, roadgraph.Details{Road: uint32(number), Text: text}))
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(out.Close(), known.Free())
}

// textWriter writes texts of roads to a section, each once, in the order of their first use.
type textWriter struct {
	texts  *scratch.Texts
	out    *region.SectionWriter
	places []uint32 // the offset of each text; 0 if it is not written yet
}

// newTextWriter writes the empty text at offset 0.
func newTextWriter(b *builder, section string) (*textWriter, error) {
	t := &textWriter{b.data.Texts, b.w.Spool(section, 1), zeros[uint32](b, section+"-places", b.data.Texts.Len())}
	return t, cmp.Or(b.failed, t.write(nil))
}

// write writes the length of a text and the text.
func (t *textWriter) write(text []byte) error {
	text = text[:min(len(text), math.MaxUint16)]
	return cmp.Or(region.Append(t.out, uint16(len(text))), region.Append(t.out, text...))
}

// add returns the offset of a text, and writes it if it is new.
func (t *textWriter) add(text uint32) (uint32, error) {
	place := &t.places[text]
	if text == 0 || *place != 0 {
		return *place, nil
	}
	if t.out.Len() > math.MaxUint32 {
		return 0, fmt.Errorf("the extract has too many names of roads: %d bytes", t.out.Len())
	}
	*place = uint32(t.out.Len())
	return *place, t.write(t.texts.Bytes(text))
}
