// Package osm reads OpenStreetMap extracts once and hands their objects to consumers: nodes with tags, ways with the
// positions of their nodes, and areas with polygons. It does not know what the consumers make of them. Package osmfile
// reads the files, and package rings makes the polygons. Begin at Read and Consumer.
package osm

import (
	"context"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/rings"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// A Coord is a position in 1e-7 degrees. A Ring is a closed list of them, whose last one is the first. A Polygon is a
// counter-clockwise outer ring with clockwise holes.
type (
	Coord   = rings.Coord
	Ring    = rings.Ring
	Polygon = rings.Polygon
)

// Consumer uses objects. It gets each object once, in its newest version, in this order: nodes and relations, then a
// call of Located, then ways, then the areas of relations.
//
// Several goroutines hand objects to batches. Take then takes the batches in the order of the files, so that the result
// depends only on the files.
type Consumer interface {
	// NewBatch makes an empty batch.
	NewBatch() Batch
	// Take takes the content of a batch, and empties the batch for the next objects. It is never called concurrently with
	// Take, Located or Finish of the same consumer.
	Take(b Batch) error
	// Located is called when all nodes have been read, before the first way. Nodes can be looked up from then on, until
	// Finish returns.
	Located(ctx context.Context, nodes *Nodes) error
	// Finish is called after the last object.
	Finish(ctx context.Context) error
}

// Batch gathers what a consumer needs of consecutive objects. One goroutine at a time uses it. Objects and their lists
// are valid during the call. Texts of tags may be kept until the batch is taken.
type Batch interface {
	// Node is called with nodes that have tags. It reports whether to note the node, so that ways through it are
	// recognized: see Way.Noted.
	Node(n *Node) (note bool)
	// Relation is called with all relations. It reports whether the consumer wants the relation's area, if it has one
	// (type=multipolygon or boundary).
	Relation(r *Relation) (wantArea bool)
	// Way is called with all ways of at least two nodes, including areas.
	Way(w *Way)
	// Area is called with closed ways that are areas by their tags, and with the relations that consumers want.
	Area(a *Area)
}

// Node is a node with tags.
type Node struct {
	ID   int64
	At   Coord
	Tags *tags.Set
}

// Missing is the number of a node that is not in the extracts.
const Missing = ^uint64(0)

// Way is a way. No two consecutive nodes are the same.
type Way struct {
	ID   int64
	Tags *tags.Set
	// Nodes are the ids of its nodes, Numbers their numbers (see Nodes) or Missing, and Coords their positions, which are
	// zero for missing nodes. All have the same length.
	Nodes   []int64
	Numbers []uint64
	Coords  []Coord
	// Lacks is the number of missing nodes.
	Lacks int
	// Noted says that a consumer noted some of its nodes. NodeNoted tells which.
	Noted bool
	// Member says that it is a member of a relation with an area.
	Member bool
	// IsArea says that its tags make it an area if it is closed. HasArea says that it comes as an Area, too: it is closed
	// and complete, and encloses something.
	IsArea, HasArea bool
	// Outline is set for a part of the outline of an old-style multipolygon: the tags of its area, which comes as well.
	Outline *tags.Set

	claim         claim
	nodes         *Nodes
	road          profile.Road
	isRoad, asked bool // see Road
}

// Road returns the way as a road, or false if no one travels along it. It is computed once for all consumers.
func (w *Way) Road() (*profile.Road, bool) {
	if !w.asked {
		w.road, w.isRoad = profile.RoadOf(w.Tags)
		w.asked = true
	}
	return &w.road, w.isRoad
}

// Closed reports whether the way ends at its first node.
func (w *Way) Closed() bool { return w.Nodes[0] == w.Nodes[len(w.Nodes)-1] }

// NodeNoted reports whether a consumer noted the i-th node.
func (w *Way) NodeNoted(i int) bool {
	return w.Noted && w.Numbers[i] != Missing && w.nodes.at.Slice()[w.Numbers[i]].noted()
}

// Parts yields the index ranges [from, to) of at least two nodes between missing ones.
func (w *Way) Parts(yield func(from, to int) bool) {
	from := 0
	for to := range len(w.Numbers) + 1 {
		if to < len(w.Numbers) && w.Numbers[to] != Missing {
			continue
		}
		if to-from > 1 && !yield(from, to) {
			return
		}
		from = to + 1
	}
}

// Relation is a relation.
type Relation struct {
	ID      int64
	Tags    *tags.Set
	Members []Member
}

// Member is a member of a relation.
type Member = osmfile.Member

// Area is a closed way or a relation with its polygons, of which there is at least one.
type Area struct {
	Kind     region.Kind
	ID       int64
	Tags     *tags.Set
	Polygons []Polygon
	// Noted are the numbers of its noted nodes, in the order of its ways.
	Noted []uint64
	// OldStyle says that the tags are those of the ways of a multipolygon relation without tags.
	OldStyle bool
	// Outline is Way.Outline, if it is a way.
	Outline *tags.Set
	// Shared is set for a way that is the only outer way of an old-style multipolygon: the tags of the way and of the
	// relation, whose id is Relation.
	Shared   *tags.Set
	Relation int64
}
