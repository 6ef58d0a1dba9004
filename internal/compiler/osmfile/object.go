package osmfile

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Object is an object of an extract. Its lists are valid until the next one is read; its texts stay.
type Object struct {
	Kind     region.Kind
	ID       int64
	Version  int32
	Tags     tags.Set
	Lat, Lon int32   // of a node, in 1e-7 degrees
	Refs     []int64 // the nodes of a way
	Places   []Place // where these are, as far as the way itself says so
	Members  []Member
	// TooLarge says that it exceeds the limits of an object. Its lists are empty.
	TooLarge bool
}

// reset makes it an empty object of a kind. The memory of the lists stays.
func (o *Object) reset(kind region.Kind) {
	o.Kind, o.ID, o.Version, o.TooLarge = kind, 0, 0, false
	o.Tags.Reset()
	o.Refs, o.Places, o.Members = o.Refs[:0], o.Places[:0], o.Members[:0]
}

// Member is an object that a relation has.
type Member struct {
	ID   int64
	Kind region.Kind
	Role string
}

// Place is where a node is, in 1e-7 degrees.
type Place struct {
	ID       int64
	Lat, Lon int32
}

// The limits of an object. OpenStreetMap has at most 2,000 nodes to a way and 32,000 members to a relation.
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

// Batch is what is made of some objects in a row, in a goroutine of its own.
type Batch interface {
	// Add adds an object, and says whether the batch is to be handed over.
	Add(o *Object) (full bool)
}
