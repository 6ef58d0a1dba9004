package osm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/paulmach/orb"
	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Counts is what was read and what had to be left out.
type Counts struct {
	Nodes, Ways, Relations int64
	MissingNodes           int64 // references to nodes that the extracts lack
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

// Extracts is what is known of extracts beside their objects.
type Extracts struct {
	Counts Counts
	Bounds orb.Bound // of the nodes
	Tiles  *Tiles    // of zoom 12 that hold any node
	// Timestamp is that of the newest extract (replication time or newest object), zero when unknown.
	Timestamp time.Time
}

// Read reads extracts and hands their objects to consumers. It takes a part of dir.Memory, and its files are in dir.
// An error names the file.
//
// It goes through the files twice: for nodes and relations, which tell what ways are needed for, and for ways. Several
// files are gone through once more before, to tell which of them has the newest version of an object.
func Read(ctx context.Context, dir *scratch.Dir, paths []string, bar *progress.Bar, consumers ...Consumer) (
	*Extracts, error) {
	if len(paths) == 0 {
		return nil, errors.New("no extract given")
	}
	r := &reader{dir: dir, paths: paths, bar: bar, consumers: consumers,
		nodes: newNodes(dir, len(paths) == 1), areas: newAreas(dir)}
	r.free.New = func() any { return r.newBatch() }
	defer func() {
		for _, f := range r.files {
			f.Close()
		}
	}()
	// All of them before any is read, which may take long.
	for _, path := range paths {
		f, err := osmfile.Open(path, dir, bar)
		if err != nil {
			return nil, named(path, err)
		}
		r.files = append(r.files, f)
	}
	return r.read(ctx)
}

// reader is the reading of some files.
type reader struct {
	dir       *scratch.Dir
	paths     []string
	files     []*osmfile.File
	bar       *progress.Bar
	consumers []Consumer
	free      sync.Pool // of batches for areas

	file     int  // the one that is being read
	located  bool // all nodes have been read
	versions *versions
	nodes    *Nodes
	areas    *areas
	counts   Counts
}

// The stages that are reported.
const (
	stageVersions = "versions"
	stageNodes    = "nodes"
	stageWays     = "ways"
	stageAreas    = "areas"
)

func (r *reader) read(ctx context.Context) (*Extracts, error) {
	if len(r.files) > 1 {
		r.versions = newVersions(r.dir)
		fresh := func() osmfile.Batch { return &versionsBatch{file: int32(r.file)} }
		err := r.pass(ctx, stageVersions, osmfile.Nodes|osmfile.Ways|osmfile.Relations, fresh, r.versions.take)
		if err := cmp.Or(err, r.versions.finish(ctx)); err != nil {
			return nil, err
		}
	}
	fresh := func() osmfile.Batch { return r.newBatch() }
	take := func(b osmfile.Batch) error { return r.take(b.(*batch)) }
	if err := r.pass(ctx, stageNodes, osmfile.Nodes|osmfile.Relations, fresh, take); err != nil {
		return nil, err
	}
	if err := errors.Join(r.nodes.finish(ctx), r.areas.finishRelations(ctx)); err != nil {
		return nil, err
	}
	r.located = true
	err := r.eachConsumer(ctx, func(ctx context.Context, c Consumer) error { return c.Located(ctx, r.nodes) })
	if err != nil {
		return nil, err
	}
	if err := r.pass(ctx, stageWays, osmfile.Ways, fresh, take); err != nil {
		return nil, err
	}
	if r.counts.Nodes+r.counts.Ways+r.counts.Relations == 0 {
		return nil, fmt.Errorf("%s: holds no map data", r.paths[0])
	}
	if err := r.assemble(ctx); err != nil {
		return nil, err
	}
	if err := r.eachConsumer(ctx, func(ctx context.Context, c Consumer) error { return c.Finish(ctx) }); err != nil {
		return nil, err
	}
	e := &Extracts{Counts: r.counts}
	e.Bounds, e.Tiles = r.nodes.cover()
	for _, f := range r.files {
		if t := f.Timestamp; t.After(e.Timestamp) {
			e.Timestamp = t
		}
	}
	return e, errors.Join(r.nodes.free(), r.areas.free(), r.versions.free())
}

// eachConsumer calls all consumers at a time. The first error ends the others.
func (r *reader) eachConsumer(ctx context.Context, f func(context.Context, Consumer) error) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, c := range r.consumers {
		all.Go(func() error { return f(ctx, c) })
	}
	return all.Wait()
}

// pass goes through all files.
func (r *reader) pass(ctx context.Context, stage string, wanted osmfile.Kinds, fresh func() osmfile.Batch,
	take func(osmfile.Batch) error) error {
	var total int64
	for _, f := range r.files {
		total += f.Remaining(wanted)
	}
	r.bar.Start(stage, total)
	for i, f := range r.files {
		r.file = i
		if err := f.Scan(ctx, wanted, fresh, take); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return named(r.paths[i], err)
		}
	}
	r.bar.Finish()
	return ctx.Err()
}

// batch is what was made of some objects in a row.
type batch struct {
	r     *reader
	parts []Batch // of the consumers
	load  int     // how much is in it, by a rough measure

	nodes  []locatedNode
	counts Counts
	areas  areaBatch

	node     Node
	relation Relation
	way      Way
	area     Area
	found    int // where in Nodes the last node was
}

// fullLoad is what a batch holds before it is handed over: about as many objects, and references to others.
const fullLoad = 1 << 15

func (r *reader) newBatch() *batch {
	b := &batch{r: r}
	for _, c := range r.consumers {
		b.parts = append(b.parts, c.NewBatch())
	}
	return b
}

// take takes what a batch has gathered, in the order of the files.
func (r *reader) take(b *batch) error {
	r.counts.add(b.counts)
	if err := errors.Join(r.nodes.add(b.nodes), r.areas.take(&b.areas)); err != nil {
		return err
	}
	b.nodes, b.counts, b.load = b.nodes[:0], Counts{}, 0
	// The consumers share nothing, and taking is what is done on one core only.
	var all errgroup.Group
	for i, c := range r.consumers {
		all.Go(func() error { return c.Take(b.parts[i]) })
	}
	return all.Wait()
}

// Add implements osmfile.Batch. Before all nodes have been read, all that counts of a way is where its nodes are, if it
// says so.
func (b *batch) Add(o *osmfile.Object) (full bool) {
	switch {
	case !b.r.versions.wins(o, b.r.file):
	case o.Kind == mapdata.KindWay && !b.r.located:
		for _, p := range o.Places {
			b.nodes = append(b.nodes, locatedNode{id: p.ID, at: pack(p.Lat, p.Lon)})
		}
		b.load += len(o.Places)
	case o.TooLarge:
		b.counts.TooLarge++
	case o.Kind == mapdata.KindNode:
		b.addNode(o)
	case o.Kind == mapdata.KindRelation:
		b.addRelation(o)
	default:
		b.addWay(o)
	}
	return b.load >= fullLoad
}

func (b *batch) addNode(o *osmfile.Object) {
	b.counts.Nodes++
	b.load += 1 + o.Tags.Len()
	at := pack(o.Lat, o.Lon)
	if o.Tags.Len() > 0 {
		b.node = Node{ID: o.ID, At: Coord{Lon: o.Lon, Lat: o.Lat}, Tags: &o.Tags}
		for _, part := range b.parts {
			if part.Node(&b.node) {
				at |= notedNode
			}
		}
	}
	b.nodes = append(b.nodes, locatedNode{id: o.ID, at: at, version: o.Version})
}

func (b *batch) addRelation(o *osmfile.Object) {
	b.counts.Relations++
	b.load += len(o.Members) + o.Tags.Len()
	members := b.relation.Members[:0]
	for _, m := range o.Members {
		members = append(members, Member(m))
	}
	b.relation = Relation{ID: o.ID, Tags: &o.Tags, Members: members}
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
	b.load += len(o.Refs) + o.Tags.Len()
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
			return // until it is known whether its tags are those of the relation's area
		}
	}
	b.deliver(w, nil)
}

// locate completes a way of which the id, the tags and the nodes are known.
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
		w.Noted = w.Noted || at&notedNode != 0
	}
}

// deliver hands a way to the consumers, and what it encloses. The claim is that of a relation in the old style, or nil.
func (b *batch) deliver(w *Way, c *claim) {
	var polygons []Polygon
	claimed := c != nil && c.polygon != nil
	switch {
	case claimed:
		polygons = []Polygon{c.polygon}
	case !w.IsArea || !w.Closed():
	case w.Lacks > 0: // without some of its corners an area is another one
		b.counts.BrokenAreas++
	default:
		ring := Ring(slices.Clone(w.Coords))
		area := ring.Area()
		if area < 0 {
			slices.Reverse(ring)
		}
		if area != 0 {
			polygons = []Polygon{{ring}}
		}
	}
	w.HasArea = polygons != nil
	for _, part := range b.parts {
		part.Way(w)
	}
	if !w.HasArea {
		return
	}
	b.area = Area{Kind: mapdata.KindWay, ID: w.ID, Tags: w.Tags, Polygons: polygons, Outline: w.Outline,
		Noted: w.appendNoted(b.area.Noted[:0])}
	if claimed {
		b.area.Shared, b.area.Relation = c.shared, c.relation
	}
	b.deliverArea(&b.area)
}

// appendNoted appends the numbers of those of its nodes that consumers noted.
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

// named names the file of an error, unless it comes from package os and does so itself.
func named(path string, err error) error {
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
