package osm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/paulmach/orb"
	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Counts is how many objects were read and left out.
type Counts struct {
	Nodes, Ways, Relations int64
	MissingNodes           int64 // references to nodes that are not in the extracts
	TooLarge               int64 // ways and relations beyond the limits of an object
	BrokenAreas            int64 // areas that could not be closed
	RepairedRings          int64
}

func (c *Counts) add(o Counts) {
	c.Nodes += o.Nodes
	c.Ways += o.Ways
	c.Relations += o.Relations
	c.MissingNodes += o.MissingNodes
	c.TooLarge += o.TooLarge
	c.BrokenAreas += o.BrokenAreas
	c.RepairedRings += o.RepairedRings
}

// Extracts describes extracts, apart from their objects.
type Extracts struct {
	Counts Counts
	Bounds orb.Bound // of the nodes
	Tiles  *Tiles    // of zoom 12 with any node
	// Timestamp is that of the newest extract: its replication time or its newest object. It is zero when unknown.
	Timestamp time.Time
}

// Read reads extracts and hands their objects to consumers. It takes a part of dir.Memory, and keeps its files in dir.
// Errors name the extract.
//
// It reads the files twice: first nodes and relations, which tell what ways are needed for, and then ways. It reads
// several files once more before these, to find the newest version of each object.
func Read(ctx context.Context, dir *scratch.Dir, paths []string, bar *pipeline.Bar, consumers ...Consumer) (
	*Extracts, error) {
	r := &reader{paths: paths, bar: bar, consumers: consumers, versions: newVersions(dir),
		nodes: newNodes(dir, len(paths) == 1), areas: newAreas(dir)}
	// Open all of them before reading, which may take long.
	for _, path := range paths {
		f, err := osmfile.Open(path, dir, bar)
		if err != nil {
			return nil, named(path, err)
		}
		defer f.Close()
		r.files = append(r.files, f)
	}
	return r.read(ctx)
}

// reader is the reading of some files.
type reader struct {
	paths     []string
	files     []*osmfile.File
	bar       *pipeline.Bar
	consumers []Consumer

	stage    string // of the passes over the files
	file     int    // the index of the one that is being read
	versions *versions
	nodes    *Nodes
	areas    *areas
	counts   Counts
}

// The passes over the files.
const (
	stageVersions = "versions"
	stageNodes    = "nodes"
	stageWays     = "ways"
)

func (r *reader) read(ctx context.Context) (*Extracts, error) {
	if len(r.files) > 1 {
		err := r.pass(ctx, stageVersions, osmfile.Nodes|osmfile.Ways|osmfile.Relations, r.versions.finish)
		if err != nil {
			return nil, err
		}
	}
	finish := func(ctx context.Context) error {
		return errors.Join(r.nodes.finish(ctx), r.areas.finishRelations(ctx))
	}
	if err := r.pass(ctx, stageNodes, osmfile.Nodes|osmfile.Relations, finish); err != nil {
		return nil, err
	}
	located := func(ctx context.Context, c Consumer) error { return c.Located(ctx, r.nodes) }
	if err := r.eachConsumer(ctx, located); err != nil {
		return nil, err
	}
	if err := r.pass(ctx, stageWays, osmfile.Ways, r.areas.ways.Sort); err != nil {
		return nil, err
	}
	if r.counts.Nodes+r.counts.Ways+r.counts.Relations == 0 {
		return nil, fmt.Errorf("%s: has no map data", r.paths[0])
	}
	if err := r.assemble(ctx); err != nil {
		return nil, err
	}
	if err := r.eachConsumer(ctx, func(ctx context.Context, c Consumer) error { return c.Finish(ctx) }); err != nil {
		return nil, err
	}
	bounds, tiles := r.nodes.cover()
	newest := slices.MaxFunc(r.files, func(a, b *osmfile.File) int { return a.Timestamp.Compare(b.Timestamp) })
	e := &Extracts{Counts: r.counts, Bounds: bounds, Tiles: tiles, Timestamp: newest.Timestamp}
	return e, errors.Join(r.nodes.free(), r.areas.free(), r.versions.losers.Free())
}

// eachConsumer calls f for all consumers concurrently. The first error ends the others.
func (r *reader) eachConsumer(ctx context.Context, f func(context.Context, Consumer) error) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, c := range r.consumers {
		all.Go(func() error { return f(ctx, c) })
	}
	return all.Wait()
}

// pass reads all files, and calls finish.
func (r *reader) pass(ctx context.Context, stage string, wanted osmfile.Kinds,
	finish func(context.Context) error) error {
	r.stage = stage
	var total int64
	for _, f := range r.files {
		total += f.Remaining(wanted)
	}
	r.bar.Start(stage, total)
	fresh := func() osmfile.Batch { return r.newBatch() }
	take := func(b osmfile.Batch) error { return r.take(b.(*batch)) }
	for i, f := range r.files {
		r.file = i
		if err := f.Scan(ctx, wanted, fresh, take); err != nil {
			return cmp.Or(ctx.Err(), named(r.paths[i], err))
		}
	}
	r.bar.Finish()
	return finish(ctx)
}

// batch is the result of consecutive objects.
type batch struct {
	r     *reader
	parts []Batch // of the consumers
	load  int     // a rough measure of its size

	versions []version
	nodes    []locatedNode
	areas    areaBatch
	counts   Counts

	node     Node
	relation Relation
	way      Way
	area     Area    // of a way
	closed   Polygon // of a single way
	found    found
}

// fullLoad is the load at which a batch is handed over: about as many objects, tags and references.
const fullLoad = 1 << 15

func (r *reader) newBatch() *batch {
	b := &batch{r: r, areas: areaBatch{of: r.areas}}
	for _, c := range r.consumers {
		b.parts = append(b.parts, c.NewBatch())
	}
	return b
}

// take takes the content of a batch. It is called in the order of the files.
func (r *reader) take(b *batch) error {
	r.counts.add(b.counts)
	if err := errors.Join(r.versions.add(b.versions), r.nodes.add(b.nodes), b.areas.take()); err != nil {
		return err
	}
	b.versions, b.nodes, b.counts, b.load = b.versions[:0], b.nodes[:0], Counts{}, 0
	// Consumers are independent. Without this, taking would be the only work on a single core.
	var all errgroup.Group
	for i, c := range r.consumers {
		all.Go(func() error { return c.Take(b.parts[i]) })
	}
	return all.Wait()
}

// Add implements osmfile.Batch.
func (b *batch) Add(o *osmfile.Object) (full bool) {
	b.load += 1 + o.Tags.Len() + len(o.Refs) + len(o.Members)
	switch {
	case b.r.stage == stageVersions:
		b.versions = append(b.versions, version{o.ID, o.Version, int32(b.r.file), o.Kind})
	case len(b.r.files) > 1 && !b.r.versions.wins(o, b.r.file):
	case o.Kind == region.KindWay && b.r.stage == stageNodes: // a way with the positions of its nodes
		for _, p := range o.Places {
			b.nodes = append(b.nodes, locatedNode{id: p.ID, at: placeOf(p.Lon, p.Lat)})
		}
	case o.TooLarge:
		b.counts.TooLarge++
	case o.Kind == region.KindNode:
		b.addNode(o)
	case o.Kind == region.KindRelation:
		b.addRelation(o)
	default:
		b.addWay(o)
	}
	return b.load >= fullLoad
}

func (b *batch) addNode(o *osmfile.Object) {
	b.counts.Nodes++
	at := placeOf(o.Lon, o.Lat)
	if o.Tags.Len() > 0 {
		b.node = Node{ID: o.ID, At: Coord{Lon: o.Lon, Lat: o.Lat}, Tags: &o.Tags}
		for _, part := range b.parts {
			if part.Node(&b.node) {
				at.lat2 |= 1
			}
		}
	}
	b.nodes = append(b.nodes, locatedNode{id: o.ID, at: at, version: o.Version})
}

func (b *batch) addRelation(o *osmfile.Object) {
	b.counts.Relations++
	b.relation = Relation{ID: o.ID, Tags: &o.Tags, Members: o.Members}
	wanted := false
	for _, part := range b.parts {
		if part.Relation(&b.relation) {
			wanted = true
		}
	}
	b.areas.addRelation(&b.relation, wanted)
}

func (b *batch) addWay(o *osmfile.Object) {
	b.counts.Ways++
	w := &b.way
	w.ID, w.Tags, w.Nodes = o.ID, &o.Tags, w.Nodes[:0]
	for _, id := range o.Refs {
		if n := len(w.Nodes); n == 0 || w.Nodes[n-1] != id {
			w.Nodes = append(w.Nodes, id)
		}
	}
	if len(w.Nodes) < 2 {
		return
	}
	b.locate(w)
	b.counts.MissingNodes += int64(w.Lacks)
	w.IsArea = IsArea(w.Tags)
	var outline bool
	if w.Member, outline = b.r.areas.hasMember(w.ID); w.Member {
		b.areas.addMember(w)
		if w.IsArea && outline {
			return // until it is known whether its tags belong to the area of a relation
		}
	}
	b.deliver(w)
}

// locate completes a way with an id, tags and nodes.
func (b *batch) locate(w *Way) {
	*w = Way{ID: w.ID, Tags: w.Tags, Nodes: w.Nodes, Numbers: w.Numbers[:0], Coords: w.Coords[:0], nodes: b.r.nodes}
	places := b.r.nodes.at.Slice()
	for _, id := range w.Nodes {
		number, ok := b.r.nodes.find(id, &b.found)
		if !ok {
			w.Numbers, w.Coords = append(w.Numbers, Missing), append(w.Coords, Coord{})
			w.Lacks++
			continue
		}
		at := places[number]
		w.Numbers, w.Coords = append(w.Numbers, number), append(w.Coords, at.coord())
		w.Noted = w.Noted || at.noted()
	}
}

// deliver hands a way and its area to the consumers.
func (b *batch) deliver(w *Way) {
	polygon, area := w.claim.polygon, 0.0
	switch {
	case polygon != nil, !w.IsArea, !w.Closed():
	case w.Lacks > 0: // its shape is not known
		b.counts.BrokenAreas++
	default:
		area = Ring(w.Coords).Area()
	}
	w.HasArea = polygon != nil || area != 0
	for _, part := range b.parts {
		part.Way(w)
	}
	if !w.HasArea {
		return
	}
	if polygon == nil {
		if area < 0 {
			slices.Reverse(w.Coords) // which are not used again
		}
		b.closed = append(b.closed[:0], w.Coords)
		polygon = b.closed
	}
	b.area = Area{Kind: region.KindWay, ID: w.ID, Tags: w.Tags, Polygons: append(b.area.Polygons[:0], polygon),
		Outline: w.Outline, Shared: w.claim.shared, Relation: w.claim.relation, Noted: w.appendNoted(b.area.Noted[:0])}
	b.deliverArea(&b.area)
}

// appendNoted appends the numbers of its noted nodes.
func (w *Way) appendNoted(list []uint64) []uint64 {
	for i, n := range w.Numbers {
		if w.NodeNoted(i) {
			list = append(list, n)
		}
	}
	return list
}

func (b *batch) deliverArea(a *Area) {
	for _, part := range b.parts {
		part.Area(a)
	}
}

// named adds the path to an error, unless it is one of package os, which has it.
func named(path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
