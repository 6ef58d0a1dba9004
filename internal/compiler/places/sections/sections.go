// Package sections writes the places of a region file: features one after the other, and trees over them.
// What grows with the extract is in temporary files until the region is committed.
package sections

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Writer writes the places of a region. Only one goroutine may use it.
type Writer struct {
	text, kinds, addresses *table

	blocks       *scratch.Array[placefile.Block]
	records      *scratch.Array[byte]
	pending      []pending // features of the block that is being filled
	count        uint32
	places       []placefile.Place
	placeNumbers map[placefile.Place]uint32

	trees   []placefile.Tree
	terms   []placefile.Term
	leaves  *scratch.Array[placefile.Leaf]
	items   *scratch.Array[byte]
	settled *scratch.Array[placefile.Settlement]
	levels  *scratch.Array[boxtree.Box]

	contexts *table
	runs     *scratch.Array[placefile.Run]
	nearby   *scratch.Array[placefile.Run] // see Nearby
	context  []byte                        // the one that is written
}

// New makes a Writer with temporary files in a directory.
func New(dir *scratch.Dir) (*Writer, error) {
	w := &Writer{
		blocks: scratch.NewArray[placefile.Block](dir, "blocks"), records: scratch.NewArray[byte](dir, "records"),
		leaves: scratch.NewArray[placefile.Leaf](dir, "leaves"), items: scratch.NewArray[byte](dir, "items"),
		placeNumbers: map[placefile.Place]uint32{},
		levels:       scratch.NewArray[boxtree.Box](dir, "levels"), runs: scratch.NewArray[placefile.Run](dir, "runs"),
		settled: scratch.NewArray[placefile.Settlement](dir, "settled"),
		nearby:  scratch.NewArray[placefile.Run](dir, "nearby"),
	}
	for name, t := range map[string]**table{"text": &w.text, "kinds": &w.kinds, "addresses": &w.addresses,
		"contexts": &w.contexts} {
		var err error
		if *t, err = newTable(dir, name); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Feature is a feature in the form that it is written in.
type Feature struct {
	Ref      uint64 // see placefile.NewRef
	Geometry *geometry.Geometry
	Extent   float32 // see geometry.Geometry.Extent
	Kinds    []tagging.Kind
	Name     string
	IsStreet bool // its name is the street of its address
	// HouseNumber and Address are the feature's own address.
	HouseNumber string
	Address     placefile.Address
	Names       []tagging.Kind // in other languages
	Area        *placefile.Area
}

// pending is a feature of a block that is not full yet.
type pending struct {
	box    boxtree.Box
	record []byte
	corner int // see placefile.AppendRecord
}

// Text returns where a string begins in the text of the region. The empty string is 0.
func (w *Writer) Text(s string) (uint64, error) { return w.text.string(s) }

// Add adds the next feature. Features have the numbers in whose order they are added, from 0.
func (w *Writer) Add(f *Feature) error {
	if w.count == math.MaxUint32 {
		return fmt.Errorf("the extract has more than %d places", uint32(math.MaxUint32))
	}
	kinds, err := placefile.AppendKinds(nil, f.Kinds, w.Text)
	if err != nil {
		return err
	}
	r := placefile.Record{Ref: f.Ref, Extent: f.Extent, Geometry: f.Geometry, IsStreet: f.IsStreet,
		HouseNumber: f.HouseNumber, Name: f.Name, Area: f.Area, Names: f.Names}
	if r.Kinds, err = w.kinds.add(kinds); err != nil {
		return err
	}
	if f.Address != (placefile.Address{}) {
		address, err := placefile.AppendAddress(nil, &f.Address, w.Text)
		if err != nil {
			return err
		}
		if r.Address, err = w.addresses.add(address); err != nil {
			return err
		}
	}
	if f.Area != nil || f.Name == placefile.AddressName(f.HouseNumber, f.Address.Street) {
		r.Name = ""
	}
	p := pending{box: f.Geometry.Box}
	if n := len(w.pending); n < cap(w.pending) {
		p.record = w.pending[:n+1][n].record[:0]
	}
	if p.record, p.corner, err = placefile.AppendRecord(p.record, &r, w.Text); err != nil {
		return err
	}
	w.pending = append(w.pending, p)
	w.count++
	if len(w.pending) == placefile.Fanout {
		return w.flush()
	}
	return nil
}

// PlaceNumber is the number of what settlements belong to, from 1.
func (w *Writer) PlaceNumber(p placefile.Place) uint32 {
	n, has := w.placeNumbers[p]
	if !has {
		w.places = append(w.places, p)
		n = uint32(len(w.places))
		w.placeNumbers[p] = n
	}
	return n
}

// flush writes the block that is being filled.
func (w *Writer) flush() error {
	if len(w.pending) == 0 {
		return nil
	}
	boxes := make([]boxtree.Box, 0, placefile.Fanout)
	for i := range w.pending {
		boxes = append(boxes, w.pending[i].box)
	}
	b, corners := placefile.NewBlock(boxes)
	size := uint64(0)
	for i := range w.pending {
		p := &w.pending[i]
		p.record = placefile.InsertCorner(p.record, p.corner, corners[i], b.Shift)
		size += uint64(len(p.record)) + 1<<b.Unit - 1
	}
	for size>>b.Unit > math.MaxUint16 {
		b.Unit++
		size += placefile.Fanout << b.Unit // what may be between records
	}
	b.At = uint64(w.records.Len())
	for i := range w.pending {
		offset := uint64(w.records.Len()) - b.At
		if rest := offset & (1<<b.Unit - 1); rest > 0 {
			if _, err := w.records.Extend(1<<b.Unit - int(rest)); err != nil {
				return err
			}
			offset += 1<<b.Unit - rest
		}
		b.Offsets[i] = uint16(offset >> b.Unit)
		if err := w.records.Append(w.pending[i].record...); err != nil {
			return err
		}
	}
	w.pending = w.pending[:0]
	return w.blocks.Append(b)
}

// Finish adds the sections to the region. The temporary files must stay until it is committed.
func (w *Writer) Finish(out *region.Writer) {
	region.Add(out, placefile.SectionBlocks, w.blocks.Slice())
	region.Add(out, placefile.SectionRecords, w.records.Slice())
	region.Add(out, placefile.SectionText, w.text.bytes.Slice())
	region.Add(out, placefile.SectionKinds, w.kinds.bytes.Slice())
	region.Add(out, placefile.SectionAddresses, w.addresses.bytes.Slice())
	region.Add(out, placefile.SectionTrees, w.trees)
	region.Add(out, placefile.SectionTerms, w.terms)
	region.Add(out, placefile.SectionLeaves, w.leaves.Slice())
	region.Add(out, placefile.SectionSettled, w.settled.Slice())
	region.Add(out, placefile.SectionPlaces, w.places)
	region.Add(out, placefile.SectionItems, w.items.Slice())
	region.Add(out, placefile.SectionLevels, w.levels.Slice())
	region.Add(out, placefile.SectionRuns, w.runs.Slice())
	region.Add(out, placefile.SectionContexts, w.contexts.bytes.Slice())
}
