package osmfile

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Object is an object of an extract. Its lists are valid until the next one is read, and its texts longer.
type Object struct {
	Kind     region.Kind
	ID       int64
	Version  int32
	Tags     tags.Set
	Lat, Lon int32   // of a node, in 1e-7 degrees
	Refs     []int64 // the nodes of a way
	Places   []Place // the positions of nodes, if the way has them
	Members  []Member
	// TooLarge says that it exceeds the limits of an object. Its lists are empty then.
	TooLarge bool
}

// reset makes it an empty object of a kind, and keeps the memory of the lists.
func (o *Object) reset(kind region.Kind) {
	o.Kind, o.ID, o.Version, o.TooLarge = kind, 0, 0, false
	o.Tags.Reset()
	o.Refs, o.Places, o.Members = o.Refs[:0], o.Places[:0], o.Members[:0]
}

// Member is a member of a relation.
type Member struct {
	ID   int64
	Kind region.Kind
	Role string
}

// Place is the position of a node, in 1e-7 degrees.
type Place struct {
	ID       int64
	Lat, Lon int32
}

// Limits of an object. OpenStreetMap allows 2,000 nodes for a way and 32,000 members for a relation.
const (
	maxRefs    = 1 << 16
	maxMembers = 1 << 17
)

// Kinds is a set of kinds of objects.
type Kinds uint8

// The kinds.
const (
	Nodes     Kinds = 1 << region.KindNode
	Ways      Kinds = 1 << region.KindWay
	Relations Kinds = 1 << region.KindRelation
)

// Batch processes consecutive objects, in one goroutine.
type Batch interface {
	// Add adds an object, and reports whether the batch is full and has to be handed over.
	Add(o *Object) (full bool)
}
