// Package objects collects what geocoding needs of OpenStreetMap: features, which have a name or an address, with their
// tags and shapes; the lines of addr:interpolation; and roads without a name. Package places finds their addresses and
// compiles them. Begin at Data and objectBatch.
package objects

import (
	"context"
	"errors"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Data is the collected objects. It is an osm.Consumer, and complete after Finish. Then reading is safe for concurrent
// use. What grows with the input is in temporary files.
type Data struct {
	// Texts are the keys and values of the tags of features and interpolations, by their numbers.
	Texts    *scratch.Texts
	Features Features // sorted by kind (node, way, relation), then id
	// Interpolations are the lines of addr:interpolation, sorted by way id.
	Interpolations Interpolations
	// Drives are the minor roads without a name, which show how houses are reached. They are lines without tags, sorted by
	// way id.
	Drives Features
	Counts Counts

	// Tiles are the tiles of zoom 12 with any node of the extracts. The caller sets them.
	Tiles *osm.Tiles
	// Progress reports the progress of compiling. The caller may set it.
	Progress *pipeline.Bar

	nodes     *osm.Nodes
	entrances *scratch.Array[entrance]
	streets   *scratch.Records // relations
	houses    *scratch.Array[house]
	lines     Interpolations // without house numbers yet
	oldStyle  Features       // parts of features that are old-style relations
	shared    []uint32       // the numbers of sharedKeys
	numbers   []uint32       // of the texts of a batch
	row       []byte
}

// Counts is how many features and addresses there are.
type Counts struct{ Features, Addresses int64 }

// NewData makes empty Data with files in dir.
func NewData(dir *scratch.Dir) (*Data, error) {
	texts, err := scratch.NewTexts(dir, "texts")
	if err != nil {
		return nil, err
	}
	var shared []uint32
	for _, key := range sharedKeys {
		n, err := texts.Add(key)
		if err != nil {
			return nil, err
		}
		shared = append(shared, n)
	}
	features := func(name string) Features { return Features{scratch.NewRecords(dir, name)} }
	return &Data{
		Texts: texts, shared: shared, Tiles: new(osm.Tiles),
		Features: features("features"), oldStyle: features("old-style"), Drives: features("drives"),
		Interpolations: Interpolations{scratch.NewRecords(dir, "interpolations")},
		lines:          Interpolations{scratch.NewRecords(dir, "lines")},
		entrances:      scratch.NewArray[entrance](dir, "entrances"),
		streets:        scratch.NewRecords(dir, "streets"), houses: scratch.NewArray[house](dir, "houses"),
	}, nil
}

// Located implements osm.Consumer. It prepares for the ways.
func (d *Data) Located(_ context.Context, nodes *osm.Nodes) error {
	d.nodes = nodes
	return d.numberEntrances()
}

// Take implements osm.Consumer.
func (d *Data) Take(batch osm.Batch) error {
	b := batch.(*objectBatch)
	defer b.reset()
	d.numbers = d.numbers[:0]
	for _, text := range b.texts {
		n, err := d.Texts.Add(text)
		if err != nil {
			return err
		}
		d.numbers = append(d.numbers, n)
	}
	for i, t := range b.tags {
		b.tags[i] = Tag{d.numbers[t.Key], d.numbers[t.Value]}
	}
	var last object
	for _, o := range b.objects {
		d.row = append(appendTags(d.row[:0], b.tags[last.tags:o.tags]), b.rows[last.bytes:o.bytes]...)
		if err := o.to.Add(o.key, d.row); err != nil {
			return err
		}
		last = o
	}
	d.Counts.Addresses += b.addresses
	return d.entrances.Append(b.entrances...)
}

// Finish implements osm.Consumer. It joins data of several objects: streets and their houses, interpolations and
// theirs.
func (d *Data) Finish(ctx context.Context) error {
	for _, do := range []func(context.Context) error{
		d.joinOldStyle, d.Features.Sort, d.assembleStreets, d.assembleInterpolations, d.Features.Sort, d.Drives.Sort,
	} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	d.Counts.Features = int64(d.Features.Len())
	return errors.Join(d.entrances.Free(), d.houses.Free(), d.lines.Free(), d.streets.Free(), d.oldStyle.Free())
}

// joinOldStyle makes one feature of the parts of each old-style relation. It leaves out parts with other tags than the
// first.
func (d *Data) joinOldStyle(ctx context.Context) error {
	if err := d.oldStyle.Sort(ctx); err != nil {
		return err
	}
	var all, part Feature
	for i := 0; i < d.oldStyle.Len(); {
		d.oldStyle.Read(i, &all)
		for i++; i < d.oldStyle.Len() && d.oldStyle.Key(i) == d.oldStyle.Key(i-1); i++ {
			if d.oldStyle.Read(i, &part); slices.Equal(all.Tags, part.Tags) {
				all.join(&part)
			}
		}
		if err := d.Features.Add(&all); err != nil {
			return err
		}
	}
	return nil
}

// find reads a feature by its key, and returns its index, or -1 if there is none.
func (d *Data) find(key uint64, r *Feature) int {
	i, ok := d.Features.Find(key)
	if !ok {
		return -1
	}
	d.Features.Read(i, r)
	return i
}

// replace replaces the i-th feature.
func (d *Data) replace(i int, f *Feature) error {
	return d.Features.Replace(i, f.append(appendTags(nil, f.Tags)))
}

// keyOf returns the key of an object's record. Keys are sorted by kind, then id.
func keyOf(kind region.Kind, id int64) uint64 {
	return uint64(kind)<<idBits | uint64(id)&(1<<idBits-1)
}

// objectOf returns the object of a key. Its id may be negative.
func objectOf(key uint64) (region.Kind, int64) {
	return region.Kind(key >> idBits), int64(key<<(64-idBits)) >> (64 - idBits)
}

const idBits = 62
