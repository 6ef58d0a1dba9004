// Package sections writes the sections of places in a region file: records of features in blocks, trees over them, and
// the areas and settlements of tiles. Package placefile has their format, and package places decides what they contain.
// Begin at Writer. What grows with the extract is in temporary files until the region is committed.
package sections

import (
	"cmp"
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Writer writes the places of a region. Only one goroutine may use it.
type Writer struct {
	dir                    *scratch.Dir
	text, kinds, addresses *scratch.StringTable

	blocks       *scratch.Array[placefile.Block]
	records      *scratch.Array[byte]
	count        uint32 // of features
	places       []placefile.Place
	placeNumbers map[placefile.Place]uint32

	// The features of the current block, as placefile.AppendRecord makes them:
	boxes   [placefile.Fanout]geo.Box
	filling [placefile.Fanout][]byte
	corners [placefile.Fanout]int

	trees   []placefile.Tree
	terms   []placefile.Term
	leaves  *scratch.Array[placefile.Leaf]
	items   *scratch.Array[byte]
	settled *scratch.Array[placefile.Settlement]
	treeEnd int // the number of settlements in complete trees
	levels  *scratch.Array[geo.Box]

	contexts *scratch.StringTable
	runs     *scratch.Array[placefile.Run]
	nearby   *scratch.Array[placefile.Run] // see Nearby
	context  []byte                        // the one that is written
}

// New makes a Writer with temporary files in dir.
func New(dir *scratch.Dir) (*Writer, error) {
	w := &Writer{dir: dir,
		blocks: scratch.NewArray[placefile.Block](dir, "blocks"), records: scratch.NewArray[byte](dir, "records"),
		leaves: scratch.NewArray[placefile.Leaf](dir, "leaves"), items: scratch.NewArray[byte](dir, "items"),
		placeNumbers: map[placefile.Place]uint32{},
		levels:       scratch.NewArray[geo.Box](dir, "levels"), runs: scratch.NewArray[placefile.Run](dir, "runs"),
		settled: scratch.NewArray[placefile.Settlement](dir, "settled"),
		nearby:  scratch.NewArray[placefile.Run](dir, "nearby"),
	}
	for name, t := range map[string]**scratch.StringTable{"text": &w.text, "kinds": &w.kinds, "addresses": &w.addresses,
		"contexts": &w.contexts} {
		var err error
		if *t, err = scratch.NewStringTable(dir, name); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Text returns the offset of a string in the region's text. The empty string is 0.
func (w *Writer) Text(s string) (uint64, error) { return w.text.AddText(s) }

// Add adds the next feature: its record, in which it sets Kinds and Address, its kinds, and its own address. Features
// are numbered from 0 in the order of these calls.
func (w *Writer) Add(r *placefile.Record, kinds []placefile.Kind, a *placefile.Address) error {
	data, err := placefile.AppendKindSet(nil, kinds, w.Text)
	if err != nil {
		return err
	}
	if r.Kinds, err = w.kinds.AddBytes(data); err != nil {
		return err
	}
	if *a != (placefile.Address{}) {
		if data, err = placefile.AppendAddress(data[:0], a, w.Text); err != nil {
			return err
		}
		if r.Address, err = w.addresses.AddBytes(data); err != nil {
			return err
		}
	}
	if r.Area != nil || r.Name == placefile.AddressName(r.HouseNumber, a.Street) {
		r.Name = ""
	}
	i := w.count % placefile.Fanout
	w.boxes[i] = r.Geometry.Box
	w.filling[i], w.corners[i], err = placefile.AppendRecord(w.filling[i][:0], r, w.Text)
	if w.count++; err == nil && i == placefile.Fanout-1 {
		err = w.flush(placefile.Fanout)
	}
	return err
}

// PlaceNumber returns the number of the areas of a settlement, from 1.
func (w *Writer) PlaceNumber(p placefile.Place) uint32 {
	n, has := w.placeNumbers[p]
	if !has {
		w.places = append(w.places, p)
		n = uint32(len(w.places))
		w.placeNumbers[p] = n
	}
	return n
}

// flush writes the current block, of n features.
func (w *Writer) flush(n uint32) error {
	b, corners := placefile.NewBlock(w.boxes[:n])
	records, size := w.filling[:n], uint64(0)
	for i := range records {
		records[i] = placefile.InsertCorner(records[i], w.corners[i], corners[i], b.Shift)
		size += uint64(len(records[i])) + 1<<b.Unit - 1
	}
	for size>>b.Unit > math.MaxUint16 {
		b.Unit++
		size += placefile.Fanout << b.Unit // the gaps between records
	}
	b.At = uint64(w.records.Len())
	for i, record := range records {
		offset := uint64(w.records.Len()) - b.At
		gap := -offset & (1<<b.Unit - 1)
		b.Offsets[i] = uint16((offset + gap) >> b.Unit)
		if err := cmp.Or(w.records.Append(make([]byte, gap)...), w.records.Append(record...)); err != nil {
			return err
		}
	}
	return w.blocks.Append(b)
}

// Finish adds the sections to the region. The temporary files must stay until the region is committed.
func (w *Writer) Finish(out *region.Writer) {
	region.Add(out, placefile.SectionBlocks, w.blocks.Slice())
	region.Add(out, placefile.SectionRecords, w.records.Slice())
	region.Add(out, placefile.SectionText, w.text.Bytes())
	region.Add(out, placefile.SectionKinds, w.kinds.Bytes())
	region.Add(out, placefile.SectionAddresses, w.addresses.Bytes())
	region.Add(out, placefile.SectionTrees, w.trees)
	region.Add(out, placefile.SectionTerms, w.terms)
	region.Add(out, placefile.SectionLeaves, w.leaves.Slice())
	region.Add(out, placefile.SectionSettled, w.settled.Slice())
	region.Add(out, placefile.SectionPlaces, w.places)
	region.Add(out, placefile.SectionItems, w.items.Slice())
	region.Add(out, placefile.SectionLevels, w.levels.Slice())
	region.Add(out, placefile.SectionRuns, w.runs.Slice())
	region.Add(out, placefile.SectionContexts, w.contexts.Bytes())
}
