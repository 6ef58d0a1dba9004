package extract

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// collector gathers what a region needs while the files are gone through: nodes and relations first, because these tell
// which ways matter, then the ways, whose nodes have numbers by then.
//
// The look functions are called in several goroutines at a time and change nothing but the batch; the take functions
// put together what they found, in the order of the files.
type collector struct {
	dir    *scratch.Dir
	cost   *Budget
	data   *Data
	texts  *scratch.Texts // those of data
	names  textCache      // of texts
	keys   keyNumbers
	counts Counts
	bounds bounds
	// withMap says that what a map shows is gathered too.
	withMap bool

	locations    *locations
	nodeFeatures *records
	barriers     *scratch.Array[barrier]
	entrances    *scratch.Array[entrance]

	areas      *records
	memberWays *scratch.Array[int64] // ways of areas, sorted after the relations
	squares    []square
	outlines   map[int64]*namedRoad   // by way, after the relations
	borders    *scratch.Array[border] // by way, after the relations
	turns      []turnRelation
	streets    *records
	houses     *scratch.Array[house] // of streets, sorted after the ways

	ways *records
}

// visitor looks at an object, and adds what is needed of it to a batch.
type visitor func(o *object, b *batch)

func newCollector(dir *scratch.Dir, cost *Budget, inOrder, withMap bool) (*collector, error) {
	data, err := NewData(dir)
	if err != nil {
		return nil, err
	}
	if withMap {
		data.Drawings, data.Coast = NewDrawings(dir), NewCoast(dir)
	}
	texts := data.Texts
	keys, err := newKeyNumbers(texts)
	if err != nil {
		return nil, err
	}
	return &collector{
		dir: dir, cost: cost, data: data, texts: texts, names: textCache{texts: texts}, keys: keys, bounds: noBounds,
		withMap: withMap, locations: newLocations(dir, inOrder), nodeFeatures: newRecords(dir, "node-features"),
		barriers: scratch.NewArray[barrier](dir, "barriers"), entrances: scratch.NewArray[entrance](dir, "entrances"),
		areas: newRecords(dir, "areas"), memberWays: scratch.NewArray[int64](dir, "member-ways"),
		borders: scratch.NewArray[border](dir, "borders"),
		streets: newRecords(dir, "streets"), houses: scratch.NewArray[house](dir, "houses"),
		ways: newRecords(dir, "ways"),
	}, nil
}

// taggedNode is a node that is a feature, on the map, a barrier or an entrance, often several of them.
type taggedNode struct {
	id       int64
	version  int32
	feature  bool
	stops    mapdata.Modes
	entrance entranceKind
	tags     span // of a feature
	classes  span // what the map shows of it
}

// What a node is, as flags of its record.
const (
	nodeIsFeature recordFlags = 1 << iota
	nodeIsDrawn
)

type barrier struct {
	id    int64
	stops mapdata.Modes
}

// foundRelation is a relation whose type says that it may be needed.
type foundRelation struct {
	id      int64
	version int32
	tags    osm.Tags
	classes span // what the map shows of its area
	members span
}

// look looks at nodes and relations, and at ways that say where their nodes are.
func (c *collector) look(o *object, b *batch) {
	switch o.kind {
	case mapdata.KindNode:
		b.counts.Nodes++
		c.lookAtNode(o, b)
	case mapdata.KindWay:
		for i, p := range o.places {
			if p.known {
				c.locate(o.refs[i], p.lat, p.lon, b)
			}
		}
	case mapdata.KindRelation:
		b.counts.Relations++
		o.tags = trim(o.tags)
		switch o.tags.Find("type") {
		case "multipolygon", "boundary", "restriction", "associatedStreet", "street":
			from := len(b.members)
			b.members = append(b.members, o.members...)
			r := foundRelation{id: o.id, version: o.version, tags: slices.Clone(o.tags), members: span{from, len(b.members)}}
			if r.isArea() {
				r.classes = c.classify(o.kind, o.tags, true, b)
			}
			b.relations = append(b.relations, r)
		}
	}
}

// locate notes where a node is.
func (c *collector) locate(id int64, lat, lon int32, b *batch) *locatedNode {
	if !b.tile.has(lat, lon) {
		tile := tileOf(lat, lon)
		b.tile = boxOf(tile)
		c.data.Tiles.Add(tile)
	}
	b.bounds.add(lat, lon)
	b.nodes = append(b.nodes, locatedNode{id: id, at: pack(lat, lon)})
	return &b.nodes[len(b.nodes)-1]
}

func (c *collector) lookAtNode(o *object, b *batch) {
	n := c.locate(o.id, o.lat, o.lon, b)
	n.version = o.version
	if len(o.tags) == 0 {
		return
	}
	tags := trim(o.tags)
	t := taggedNode{id: o.id, version: o.version, feature: isFeature(tags), stops: barrierOf(tags),
		entrance: entranceOf(tags), classes: c.classify(o.kind, tags, false, b)}
	if t.stops != 0 || t.entrance != noEntrance {
		n.at |= specialNode
	} else if !t.feature && t.classes.empty() {
		return
	}
	if t.feature {
		t.tags = b.addTags(tags)
	}
	b.tagged = append(b.tagged, t)
}

// take takes what was found among nodes and relations.
func (c *collector) take(b *batch) error {
	c.counts.Nodes += b.counts.Nodes
	c.counts.Relations += b.counts.Relations
	c.bounds.join(b.bounds)
	if err := c.cost.TakeMemory(costNode * int64(len(b.nodes))); err != nil {
		return err
	}
	if err := c.locations.add(b.nodes); err != nil {
		return err
	}
	for i := range b.tagged {
		if err := c.takeNode(&b.tagged[i], b); err != nil {
			return err
		}
	}
	for i := range b.relations {
		r := &b.relations[i]
		if err := c.takeRelation(r, b); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) takeNode(n *taggedNode, b *batch) error {
	cost, flags := int64(0), recordFlags(0)
	if n.feature {
		flags, cost = nodeIsFeature, CostFeature
	}
	if !n.classes.empty() {
		flags |= nodeIsDrawn
	}
	if flags != 0 {
		tags := b.tags[n.tags.from:n.tags.to]
		row, err := appendTags(c.nodeFeatures.begin(n.version), c.texts, tags)
		if err != nil {
			return err
		}
		if flags&nodeIsDrawn != 0 {
			if row, err = c.appendDrawn(row, b, n.classes); err != nil {
				return err
			}
		}
		if err := c.nodeFeatures.end(n.id, flags, row); err != nil {
			return err
		}
		cost += tags.cost()
	}
	if n.stops != 0 {
		if err := c.barriers.Append(barrier{n.id, n.stops}); err != nil {
			return err
		}
		cost += costMember
	}
	if n.entrance != noEntrance {
		if err := c.entrances.Append(entrance{n.id, n.entrance}); err != nil {
			return err
		}
		cost += costMember
	}
	return c.cost.TakeMemory(cost)
}

func (c *collector) takeRelation(r *foundRelation, b *batch) error {
	members := b.members[r.members.from:r.members.to]
	switch r.tags.Find("type") {
	case "multipolygon":
		return cmp.Or(c.addSquare(r, members), c.addArea(r, members, b))
	case "boundary":
		return c.addArea(r, members, b)
	case "restriction":
		return c.addTurn(r, members)
	default:
		return c.addStreet(r, members)
	}
}

// prepareWays makes what was taken ready for the ways to be looked at.
func (c *collector) prepareWays(ctx context.Context) error {
	if err := c.locations.finish(ctx); err != nil {
		return err
	}
	for _, r := range []*records{c.nodeFeatures, c.areas, c.streets} {
		if err := r.finish(ctx); err != nil {
			return err
		}
	}
	ways := c.memberWays.Slice()
	slices.Sort(ways)
	c.memberWays.Truncate(len(slices.Compact(ways)))
	if err := c.findBorders(); err != nil {
		return err
	}
	c.turns = newest(c.turns, func(t *turnRelation) (int64, int32) { return t.id, t.version })
	c.outlineSquares()
	return c.numberEntrances()
}

// newest sorts objects by id and keeps the newest version of each; of equal ones the first that was read.
func newest[T any](list []T, key func(*T) (id int64, version int32)) []T {
	slices.SortStableFunc(list, func(a, b T) int {
		idA, versionA := key(&a)
		idB, versionB := key(&b)
		return cmp.Or(cmp.Compare(idA, idB), cmp.Compare(versionB, versionA))
	})
	return slices.CompactFunc(list, func(a, b T) bool {
		idA, _ := key(&a)
		idB, _ := key(&b)
		return idA == idB
	})
}
