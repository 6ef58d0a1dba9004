// Package osm reads OpenStreetMap extracts once and hands their objects to consumers: nodes with their tags, ways with
// the positions of their nodes, and areas with their finished polygons. It begins at Read and Consumer.
package osm

import (
	"context"

	"github.com/mapsedge/caddy-maps/internal/compiler/osmfile"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/rings"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// A Coord is a position in 1e-7 degrees, a Ring a list of which the last is the first, and a Polygon an outer ring,
// counter-clockwise, with its holes, clockwise.
type (
	Coord   = rings.Coord
	Ring    = rings.Ring
	Polygon = rings.Polygon
)

// Consumer makes something of objects. Each object is handed to it once, in its newest version, in this order: nodes
// and relations; then Located is called; then ways; then areas of relations.
//
// Objects are handed to batches in several goroutines at a time. Take puts together what batches gathered, in the order
// of the files, so that the result depends on the files alone.
type Consumer interface {
	// NewBatch makes an empty batch.
	NewBatch() Batch
	// Take takes what a batch has gathered, and empties it for the next objects. It is never called concurrently with
	// itself, Located or Finish of the same consumer.
	Take(b Batch) error
	// Located is called when all nodes have been read, before the first way: nodes can be looked up from then on, until
	// Finish returns.
	Located(ctx context.Context, nodes *Nodes) error
	// Finish is called after the last object.
	Finish(ctx context.Context) error
}

// Batch gathers what a consumer needs of some objects in a row. It is used by one goroutine at a time. The objects and
// their lists are valid during the call; texts of tags may be kept until the batch is taken.
type Batch interface {
	// Node is called with nodes that have tags. It says whether the consumer wants to recognize the node again where a way
	// leads through it: see Way.Noted.
	Node(n *Node) (note bool)
	// Relation is called with all relations. It says whether the consumer wants the area of it, if it is one that has one
	// (type=multipolygon or boundary).
	Relation(r *Relation) (wantArea bool)
	// Way is called with all ways of at least two nodes, areas among them.
	Way(w *Way)
	// Area is called with closed ways that are areas by their tags, and with the relations that are wanted.
	Area(a *Area)
}

// Node is a node with tags.
type Node struct {
	ID   int64
	At   Coord
	Tags *tags.Set
}

// Missing is the number of a node that the extracts lack.
const Missing = ^uint64(0)

// Way is a way. No two nodes in a row are the same.
type Way struct {
	ID   int64
	Tags *tags.Set
	// Nodes are the ids of its nodes; Numbers their numbers (see Nodes), or Missing; and Coords their positions, which
	// mean nothing where the node is missing. All have the same length.
	Nodes   []int64
	Numbers []uint64
	Coords  []Coord
	// Lacks is how many of its nodes are missing.
	Lacks int
	// Noted says that some node of it is one that a consumer noted. NodeNoted tells which.
	Noted bool
	// Member says that it is a member of a relation that has an area.
	Member bool
	// IsArea says that its tags make it an area where it is closed, and HasArea that it is handed over as an Area too: it
	// is closed, nothing of it is missing, and it encloses something.
	IsArea, HasArea bool
	// Outline is set for a part of the outline of a multipolygon in the old style, which has its tags from its ways: those
	// of the area, which is handed over as well.
	Outline *tags.Set

	claim         claim
	nodes         *Nodes
	road          profile.Road
	isRoad, asked bool // see Road
}

// Road returns what the way is to those who travel along it; false if nobody does. It is found out once for all
// consumers.
func (w *Way) Road() (*profile.Road, bool) {
	if !w.asked {
		w.road, w.isRoad = profile.RoadOf(w.Tags)
		w.asked = true
	}
	return &w.road, w.isRoad
}

// Closed says whether it ends where it begins.
func (w *Way) Closed() bool { return w.Nodes[0] == w.Nodes[len(w.Nodes)-1] }

// NodeNoted says whether the i-th node is one that a consumer noted.
func (w *Way) NodeNoted(i int) bool {
	return w.Noted && w.Numbers[i] != Missing && w.nodes.at.Slice()[w.Numbers[i]].noted()
}

// Parts yields the parts of at least two nodes between those that are missing: from the one to before the other.
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

// Member is an object that a relation has.
type Member = osmfile.Member

// Area is a closed way or a relation with its polygons, at least one.
type Area struct {
	Kind     region.Kind
	ID       int64
	Tags     *tags.Set
	Polygons []Polygon
	// Noted are the numbers of those of its nodes that consumers noted, in the order in which its ways come to them.
	Noted []uint64
	// OldStyle says that the tags are those of the ways of a multipolygon relation that has none itself.
	OldStyle bool
	// Outline is that of the way, if it is one.
	Outline *tags.Set
	// Shared is set for a way that is the only outer way of a multipolygon in the old style: the tags of the way and those
	// of the relation. Relation is its id.
	Shared   *tags.Set
	Relation int64
}
