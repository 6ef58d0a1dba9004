package extract

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// collector gathers what a region needs while the files are gone through: relations first, because they tell which ways
// matter, then ways, because they tell which nodes do.
type collector struct {
	cost     *Budget
	strings  interner
	counts   Counts
	coverage *coverage

	areas      []areaRelation
	squares    []square
	outlines   map[int64]*Road // by way, after the relations
	turns      []turnRelation
	streets    []streetRelation
	memberWays []int64 // ways of areas, sorted after the relations
	wayCount   atomic.Int64
	ways       []wayRecord
	refs       []int64 // nodes of all ways; after the ways, indexes into locations
	// refPoints are where these nodes are, for as far as a file's ways say so themselves (LocationsOnWays). Such files may
	// lack nodes without tags.
	refPoints    []fixed
	locations    *locations
	nodeCount    atomic.Int64
	nodeFeatures []nodeRecord
	barriers     []barrier
	entrances    []entrance
}

// member is an object that a relation has.
type member struct {
	kind mapdata.Kind
	id   int64
}

// wayRecord is a way that is a road, a feature, an interpolation or a part of an area; often several of them.
type wayRecord struct {
	id         int64
	version    int
	start, end int // its part of collector.refs
	road       *Road
	takes      int32 // seconds for all of it, where the tags tell
	// feature says that the way has a name or an address itself. tags are there for features, for interpolations, and for
	// members of areas, which may take them over.
	feature      bool
	areal        bool // an area where it is closed
	interpolates string
	tags         Tags
}

type nodeRecord struct {
	id       int64
	version  int
	lat, lon int32
	tags     Tags
}

type barrier struct {
	id    int64
	stops mapdata.Modes
}

func newCollector(cost *Budget) *collector {
	return &collector{cost: cost, strings: interner{}, coverage: newCoverage()}
}

func (c *collector) addRelation(r *osm.Relation) error {
	c.counts.Relations++
	r.Tags = trim(r.Tags)
	switch r.Tags.Find("type") {
	case "multipolygon":
		return cmp.Or(c.addSquare(r), c.addArea(r))
	case "boundary":
		return c.addArea(r)
	case "restriction":
		return c.addTurn(r)
	case "associatedStreet", "street":
		return c.addStreet(r)
	}
	return nil
}

func kindOf(t osm.Type) mapdata.Kind {
	switch t {
	case osm.TypeNode:
		return mapdata.KindNode
	case osm.TypeWay:
		return mapdata.KindWay
	default:
		return mapdata.KindRelation
	}
}

// endRelations prepares for the ways.
func (c *collector) endRelations() {
	c.areas = newest(c.areas, func(a *areaRelation) (int64, int) { return a.id, a.version })
	c.turns = newest(c.turns, func(t *turnRelation) (int64, int) { return t.id, t.version })
	c.streets = newest(c.streets, func(s *streetRelation) (int64, int) { return s.id, s.version })
	for i := range c.areas {
		for _, m := range c.areas[i].members {
			c.memberWays = append(c.memberWays, m.way)
		}
	}
	slices.Sort(c.memberWays)
	c.memberWays = slices.Compact(c.memberWays)
	c.outlineSquares()
}

// newest sorts objects by id and keeps the newest version of each; of equal ones the first that was read.
func newest[T any](list []T, key func(*T) (id int64, version int)) []T {
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

func (c *collector) isMemberWay(id int64) bool {
	_, ok := slices.BinarySearch(c.memberWays, id)
	return ok
}

// wantsWay says whether a region needs a way. It may be called concurrently.
func (c *collector) wantsWay(w *osm.Way) bool {
	c.wayCount.Add(1)
	w.Tags = trim(w.Tags)
	if len(w.Nodes) < 2 {
		return false
	}
	id := int64(w.ID)
	if isFeature(w.Tags) || c.isMemberWay(id) || c.outlines[id] != nil || w.Tags.Find("addr:interpolation") != "" {
		return true
	}
	_, ok := highwayOf(w.Tags)
	return ok
}

func (c *collector) addWay(w *osm.Way) error {
	rec := wayRecord{id: int64(w.ID), version: w.Version, start: len(c.refs)}
	if rec.road = c.road(rec.id, w.Tags); rec.road == nil {
		rec.road = c.outline(w)
	}
	if rec.road != nil && rec.road.Ferry {
		rec.takes = int32(parseDuration(w.Tags.Find("duration")))
	}
	rec.feature = isFeature(w.Tags)
	rec.areal = describesArea(w.Tags)
	rec.interpolates = c.strings.intern(w.Tags.Find("addr:interpolation"))
	isMember := c.isMemberWay(rec.id)
	if rec.road == nil && !rec.feature && rec.interpolates == "" && !isMember {
		return nil
	}
	if rec.feature || rec.interpolates != "" || isMember && rec.areal {
		rec.tags = c.strings.keep(w.Tags)
	}
	for _, n := range w.Nodes {
		if n.Lat != 0 || n.Lon != 0 {
			c.locate(len(c.refs), n)
		}
		c.refs = append(c.refs, int64(n.ID))
	}
	rec.end = len(c.refs)
	c.ways = append(c.ways, rec)
	cost := costWay + costRef*int64(len(w.Nodes)) + rec.tags.cost()
	if rec.feature {
		cost += CostFeature
	}
	return c.cost.TakeMemory(cost)
}

// endWays prepares for the nodes: from here on the ways refer to indexes into c.locations.
func (c *collector) endWays() error {
	c.memberWays = nil
	c.ways = newest(c.ways, func(w *wayRecord) (int64, int) { return w.id, w.version })
	c.locations = newLocations(slices.Clone(c.refs))
	if len(c.locations.ids) > math.MaxInt32 {
		return fmt.Errorf("the ways have %d nodes, and a region may have %d", len(c.locations.ids), math.MaxInt32)
	}
	for i, id := range c.refs {
		c.refs[i] = int64(c.locations.find(id))
	}
	for i, p := range c.refPoints {
		if p.known {
			c.locations.set(int32(c.refs[i]), p.lat, p.lon)
			c.coverage.add(p.lat, p.lon)
		}
	}
	c.refPoints = nil
	return nil
}

// fixed is a position in 1e-7 degrees.
type fixed struct {
	lat, lon int32
	known    bool
}

// locate notes where the i-th reference is.
func (c *collector) locate(i int, n osm.WayNode) {
	if lat, lon, ok := toFixed(n.Lat, n.Lon); ok {
		c.refPoints = append(c.refPoints, make([]fixed, i+1-len(c.refPoints))...)
		c.refPoints[i] = fixed{lat, lon, true}
	}
}

// wantsNode notes where a node is, and says whether a region needs more of it. It may be called concurrently.
func (c *collector) wantsNode(n *osm.Node) bool {
	lat, lon, ok := toFixed(n.Lat, n.Lon)
	if !ok {
		return false
	}
	c.nodeCount.Add(1)
	c.coverage.add(lat, lon)
	i := c.locations.find(int64(n.ID))
	if i >= 0 {
		c.locations.set(i, lat, lon)
	}
	if len(n.Tags) == 0 {
		return false
	}
	n.Tags = trim(n.Tags)
	return isFeature(n.Tags) || i >= 0 && (barrierOf(n.Tags) != 0 || entranceOf(n.Tags) != noEntrance)
}

func (c *collector) addNode(n *osm.Node) error {
	id := int64(n.ID)
	cost := int64(0)
	if isFeature(n.Tags) {
		lat, lon, _ := toFixed(n.Lat, n.Lon)
		tags := c.strings.keep(n.Tags)
		c.nodeFeatures = append(c.nodeFeatures, nodeRecord{id: id, version: n.Version, lat: lat, lon: lon, tags: tags})
		cost += CostFeature + tags.cost()
	}
	if stops := barrierOf(n.Tags); stops != 0 && c.locations.find(id) >= 0 {
		c.barriers = append(c.barriers, barrier{id, stops})
		cost += costMember
	}
	if kind := entranceOf(n.Tags); kind != noEntrance && c.locations.find(id) >= 0 {
		c.entrances = append(c.entrances, entrance{c.locations.find(id), kind})
		cost += costMember
	}
	return c.cost.TakeMemory(cost)
}

// nodesOf returns the indexes into c.locations of a way's nodes that the extract has, without repetitions of the same node
// in a row, and how many it has not.
func (c *collector) nodesOf(w *wayRecord) (nodes []int32, missing int) {
	nodes = make([]int32, 0, w.end-w.start)
	for _, ref := range c.refs[w.start:w.end] {
		i := int32(ref)
		switch {
		case !c.locations.known(i):
			missing++
		case len(nodes) == 0 || nodes[len(nodes)-1] != i:
			nodes = append(nodes, i)
		}
	}
	return nodes, missing
}

// find returns a way that was kept, or nil.
func (c *collector) find(way int64) *wayRecord {
	i, ok := slices.BinarySearchFunc(c.ways, way, func(w wayRecord, id int64) int { return cmp.Compare(w.id, id) })
	if !ok {
		return nil
	}
	return &c.ways[i]
}
