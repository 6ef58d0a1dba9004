// Package objects collects the objects of OpenStreetMap that have a name or an address, with their tags and shapes, and
// the lines of addr:interpolation. Package places compiles them.
package objects

import (
	"context"
	"errors"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Data is what was collected. It is complete when it was handed all objects of the extracts, as an osm.Consumer. What
// grows with the input is in scratch files; any number of goroutines may read then.
type Data struct {
	// Texts are the tags of features and interpolations, by their numbers.
	Texts    *scratch.Texts
	Features *Features // by kind (node, way, relation), then id
	// Interpolations are the lines of addr:interpolation, by way id.
	Interpolations *Interpolations
	Counts         Counts
	// Roads are those that show how houses are reached, RoadNodes the nodes of one after the other; see NodesOf.
	Roads     *scratch.Array[Road]
	RoadNodes *scratch.Array[uint32]
	Nodes     *scratch.Array[Node]

	// What others tell: the bounds of the extracts, and the tiles of zoom 12 that hold any node of them.
	Bounds orb.Bound
	Tiles  *osm.Tiles
	// Once says that the data is compiled once: what has served is removed at once.
	Once bool
	// Progress is told how far compiling has come; nil where nobody watches.
	Progress *progress.Bar

	nodes               *osm.Nodes
	entrances           *scratch.Array[entrance]
	houses              *scratch.Array[house]
	lines               *Interpolations // without house numbers yet
	streets             *scratch.Records
	drives, streetNodes *scratch.Records
	driveNodes          *scratch.Ranks
	oldStyle            *scratch.Records // parts of features that are relations in the old style
	names               textCache
	numbers             []uint32 // of the texts of a batch
	row                 []byte
}

// Counts is what was collected.
type Counts struct{ Features, Addresses int64 }

// NewData makes Data of nothing, whose files are in dir.
func NewData(dir *scratch.Dir) (*Data, error) {
	texts, err := scratch.NewTexts(dir, "texts")
	if err != nil {
		return nil, err
	}
	return &Data{
		Texts: texts, Features: NewFeatures(dir, texts), Interpolations: NewInterpolations(dir, texts), Tiles: new(osm.Tiles),
		entrances: scratch.NewArray[entrance](dir, "entrances"), houses: scratch.NewArray[house](dir, "houses"),
		lines: NewInterpolations(dir, texts), streets: scratch.NewRecords(dir, "streets"),
		Roads: scratch.NewArray[Road](dir, "drives"), RoadNodes: scratch.NewArray[uint32](dir, "drive-road-nodes"),
		Nodes: scratch.NewArray[Node](dir, "drive-nodes"), driveNodes: scratch.NewRanks(dir, "drive-nodes"),
		drives: scratch.NewRecords(dir, "drive-rows"), streetNodes: scratch.NewRecords(dir, "street-nodes"),
		oldStyle: scratch.NewRecords(dir, "old-style"), names: textCache{texts: texts},
	}, nil
}

// Read collects the objects of extracts, and nothing else.
func Read(ctx context.Context, dir *scratch.Dir, paths []string) (*Data, error) {
	d, err := NewData(dir)
	if err != nil {
		return nil, err
	}
	e, err := osm.Read(ctx, dir, paths, nil, d)
	if err != nil {
		return nil, err
	}
	d.Bounds, d.Tiles = e.Bounds, e.Tiles
	return d, nil
}

// Located prepares for the ways.
func (d *Data) Located(_ context.Context, nodes *osm.Nodes) error {
	d.nodes = nodes
	return errors.Join(d.numberEntrances(), d.driveNodes.Init(nodes.Len()))
}

// Take takes what a batch has gathered.
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
	stores := [...]*scratch.Records{toFeatures: d.Features.records, toOldStyle: d.oldStyle, toLines: d.lines.records,
		toStreets: d.streets, toDrives: d.drives, toStreetNodes: d.streetNodes}
	for i, t := range b.tags {
		b.tags[i] = TagNumbers{d.numbers[t.Key], d.numbers[t.Value]}
	}
	var last object
	for _, o := range b.objects {
		d.row = append(appendTags(d.row[:0], b.tags[last.tags:o.tags]), b.rows[last.bytes:o.bytes]...)
		if err := stores[o.to].Add(o.key, d.row); err != nil {
			return err
		}
		last = o
	}
	d.Counts.Addresses += b.addresses
	return d.entrances.Append(b.entrances...)
}

// Finish puts together what came from several objects: streets and their houses, interpolations and theirs.
func (d *Data) Finish(ctx context.Context) error {
	for _, do := range []func(context.Context) error{
		d.joinOldStyle, d.Features.records.Sort, d.assembleStreets, d.assembleInterpolations, d.Features.records.Sort,
		d.assembleDrives,
	} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	d.Counts.Features = int64(d.Features.Len())
	return errors.Join(d.entrances.Free(), d.houses.Free(), d.lines.records.Free(), d.streets.Free(), d.oldStyle.Free(),
		d.drives.Free(), d.streetNodes.Free(), d.driveNodes.Free())
}

// joinOldStyle makes one feature of the parts of each relation in the old style. Those that are something else than the
// first part are left out.
func (d *Data) joinOldStyle(ctx context.Context) error {
	if err := d.oldStyle.Sort(ctx); err != nil {
		return err
	}
	parts := &Features{texts: d.Texts, records: d.oldStyle}
	var all, part FeatureRecord
	for i := 0; i < parts.Len(); {
		key := d.oldStyle.Key(i)
		parts.Read(uint64(i), &all)
		for i++; i < parts.Len() && d.oldStyle.Key(i) == key; i++ {
			if parts.Read(uint64(i), &part); slices.Equal(all.Tags, part.Tags) {
				all.join(&part)
			}
		}
		if err := d.Features.put(&all); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of an object's record: they are sorted by kind, then id.
func keyOf(kind mapdata.Kind, id int64) uint64 {
	return uint64(kind)<<idBits | uint64(id+firstID)&idMask
}

// objectOf is the object of a key.
func objectOf(key uint64) (mapdata.Kind, int64) {
	return mapdata.Kind(key >> idBits), int64(key&idMask) - firstID
}

const (
	idBits  = 60
	idMask  = 1<<idBits - 1
	firstID = 1 << (idBits - 1) // what is added to ids, of which some may be negative
)
