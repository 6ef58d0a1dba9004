package osm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	r := &reader{dir: dir, paths: paths, bar: bar, consumers: consumers, bounds: noBounds, tiles: new(Tiles),
		nodes: newNodes(dir, len(paths) == 1), areas: newAreas(dir)}
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
	free      sync.Pool // of batches

	file     int // the one that is being read
	versions *versions
	nodes    *Nodes
	areas    *areas
	counts   Counts
	bounds   bounds
	tiles    *Tiles
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
		if err := r.pass(ctx, stageVersions, osmfile.Nodes|osmfile.Ways|osmfile.Relations, r.versionsBatch,
			r.takeVersions); err != nil {
			return nil, err
		}
		if err := r.versions.finish(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.pass(ctx, stageNodes, osmfile.Nodes|osmfile.Relations, r.batch, r.take); err != nil {
		return nil, err
	}
	if err := errors.Join(r.nodes.finish(ctx), r.areas.finishRelations(ctx)); err != nil {
		return nil, err
	}
	err := r.eachConsumer(ctx, func(ctx context.Context, c Consumer) error { return c.Located(ctx, r.nodes) })
	if err != nil {
		return nil, err
	}
	if err := r.pass(ctx, stageWays, osmfile.Ways, r.wayBatch, r.take); err != nil {
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
	e := &Extracts{Counts: r.counts, Bounds: r.bounds.bound(), Tiles: r.tiles}
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
	bounds bounds
	tile   tileBox // of the last node
	counts Counts
	areas  areaBatch

	node     Node
	relation Relation
	way      Way
	area     Area
	points   orb.Ring
}

// fullLoad is what a batch holds before it is handed over: about as many objects.
const fullLoad = 1 << 13

func (r *reader) newBatch() *batch {
	b := &batch{r: r, bounds: noBounds}
	for _, c := range r.consumers {
		b.parts = append(b.parts, c.NewBatch())
	}
	return b
}

func (r *reader) batch() osmfile.Batch { return r.newBatch() }

// take takes what was found, in the order of the files.
func (r *reader) take(of osmfile.Batch) error {
	if w, ok := of.(*wayBatch); ok {
		return r.takeBatch((*batch)(w))
	}
	return r.takeBatch(of.(*batch))
}

func (r *reader) takeBatch(b *batch) error {
	r.counts.add(b.counts)
	r.bounds.join(b.bounds)
	if err := errors.Join(r.nodes.add(b.nodes), r.areas.take(&b.areas)); err != nil {
		return err
	}
	b.nodes, b.bounds, b.counts, b.load = b.nodes[:0], noBounds, Counts{}, 0
	// The consumers share nothing, and taking is what is done on one core only.
	results := make([]error, len(b.parts))
	var all sync.WaitGroup
	for i, c := range r.consumers {
		all.Go(func() { results[i] = c.Take(b.parts[i]) })
	}
	all.Wait()
	return cmp.Or(results...) // of one full disk all tell
}

// Add adds a node or a relation, or a way that says where its nodes are.
func (b *batch) Add(o *osmfile.Object) (full bool) {
	switch {
	case !b.r.versions.wins(o, b.r.file):
	case o.TooLarge:
		if o.Kind == mapdata.KindRelation {
			b.counts.TooLarge++
		}
	case o.Kind == mapdata.KindNode:
		b.counts.Nodes++
		b.addNode(o)
	case o.Kind == mapdata.KindWay:
		for _, p := range o.Places {
			b.locate(p.ID, p.Lat, p.Lon)
		}
	case o.Kind == mapdata.KindRelation:
		b.counts.Relations++
		b.addRelation(o)
	}
	return b.load >= fullLoad
}

// locate notes where a node is.
func (b *batch) locate(id int64, lat, lon int32) *locatedNode {
	if !b.tile.has(lat, lon) {
		tile := tileOf(lat, lon)
		b.tile = boxOf(tile)
		b.r.tiles.Add(tile)
	}
	b.bounds.add(lat, lon)
	b.nodes = append(b.nodes, locatedNode{id: id, at: pack(lat, lon)})
	b.load++
	return &b.nodes[len(b.nodes)-1]
}

func (b *batch) addNode(o *osmfile.Object) {
	at := b.locate(o.ID, o.Lat, o.Lon)
	at.version = o.Version
	if o.Tags.Len() == 0 {
		return
	}
	b.node = Node{ID: o.ID, At: Coord{Lon: o.Lon, Lat: o.Lat}, Tags: &o.Tags}
	for _, part := range b.parts {
		if part.Node(&b.node) {
			at.at |= notedNode
		}
	}
	b.load += o.Tags.Len()
}

func (b *batch) addRelation(o *osmfile.Object) {
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
	b.load += len(members) + o.Tags.Len()
	b.areas.addRelation(&b.relation, wanted)
}

// wayBatch is a batch of the pass for ways.
type wayBatch batch

func (r *reader) wayBatch() osmfile.Batch { return (*wayBatch)(r.newBatch()) }

// Add adds a way.
func (w *wayBatch) Add(o *osmfile.Object) (full bool) {
	b := (*batch)(w)
	switch {
	case !b.r.versions.wins(o, b.r.file):
	case o.TooLarge:
		b.counts.TooLarge++
	default:
		b.counts.Ways++
		b.addWay(o)
	}
	return b.load >= 4*fullLoad
}

func (b *batch) addWay(o *osmfile.Object) {
	w := &b.way
	*w = Way{ID: o.ID, Tags: &o.Tags, Nodes: w.Nodes[:0], Numbers: w.Numbers[:0], Coords: w.Coords[:0],
		special: w.special[:0]}
	for _, id := range o.Refs {
		if n := len(w.Nodes); n == 0 || w.Nodes[n-1] != id {
			w.Nodes = append(w.Nodes, id)
		}
	}
	b.load += len(w.Nodes) + o.Tags.Len()
	if len(w.Nodes) < 2 {
		return
	}
	before := uint64(0)
	for _, id := range w.Nodes {
		number, ok := b.r.nodes.find(id, before)
		if !ok {
			w.Numbers, w.Coords = append(w.Numbers, Missing), append(w.Coords, Coord{})
			w.Lacks++
			continue
		}
		before = number
		at := b.r.nodes.at.Slice()[number]
		w.Numbers, w.Coords = append(w.Numbers, number), append(w.Coords, at.coord())
		w.Noted = w.Noted || at&notedNode != 0
	}
	b.counts.MissingNodes += int64(w.Lacks)
	w.IsArea = IsArea(w.Tags)
	role := b.r.areas.roleOf(w.ID)
	w.Member = role != noMember
	if w.Member {
		b.areas.addMember(w)
		if w.IsArea && role == untaggedMember {
			b.areas.hold(w)
			return // until it is known whether its tags are those of the relation's area
		}
	}
	b.deliver(w, nil)
}

// deliver hands a way to the consumers, and what it encloses. The claim is that of an untagged relation, or nil.
func (b *batch) deliver(w *Way, c *claim) {
	if w.Noted {
		for _, n := range w.Numbers {
			w.special = append(w.special, n != Missing && b.r.nodes.noted(n))
		}
	}
	var polygons []Polygon
	claimed := c != nil && c.polygon != nil
	switch {
	case claimed:
		polygons = polygonsOf(orb.MultiPolygon{c.polygon})
	case !w.IsArea || !w.Closed():
	case w.Lacks > 0: // without some of its corners an area is another one
		b.counts.BrokenAreas++
	default:
		if ring := b.ring(w); ring != nil {
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
		Noted: b.area.Noted[:0]}
	if claimed {
		b.area.Shared, b.area.Relation = c.shared, c.relation
	}
	for i := range w.special {
		if w.special[i] {
			b.area.Noted = append(b.area.Noted, w.Numbers[i])
		}
	}
	b.deliverArea(&b.area)
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
