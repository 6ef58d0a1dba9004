package extract

import (
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// object is an object of an extract while it is looked at. Its lists are valid until the next one is; its texts stay.
type object struct {
	kind     mapdata.Kind
	id       int64
	version  int32
	tags     osm.Tags
	lat, lon int32   // of a node, in 1e-7 degrees
	refs     []int64 // the nodes of a way
	places   []place // where these are, for as far as the way itself says so; empty or as long as refs
	members  []member
}

// reset makes it an empty object of a kind. The memory of the lists stays.
func (o *object) reset(kind mapdata.Kind) {
	*o = object{kind: kind, tags: o.tags[:0], refs: o.refs[:0], places: o.places[:0], members: o.members[:0]}
}

// member is an object that a relation has.
type member struct {
	id   int64
	kind mapdata.Kind
	role string
}

// place is a position in 1e-7 degrees.
type place struct {
	lat, lon int32
	known    bool
}

// batch is what was made of some objects in a row, in a goroutine of its own, for the one that puts everything together
// in the order of the files.
type batch struct {
	nodes     []locatedNode
	tagged    []taggedNode
	ways      []foundWay
	relations []foundRelation
	// bounds is that of the nodes.
	bounds bounds
	tile   tileBox // of the last one
	// counts are the objects that were looked at, wanted or not.
	counts Counts

	// What the lists above refer to.
	tags    Tags
	classes []string // encoded
	encoded int      // bytes of them
	refs    []byte
	members []member
}

// full says whether a batch is to be handed on. What one object adds is bounded too, so that a batch has some megabytes
// at most, whatever the block holds.
func (b *batch) full() bool {
	return len(b.nodes) >= 1<<14 || len(b.tagged) >= 1<<12 || len(b.ways) >= 1<<12 || len(b.relations) >= 1<<10 ||
		len(b.tags) >= 1<<15 || len(b.refs) >= 1<<18 || len(b.members) >= 1<<15 ||
		b.encoded >= 1<<20
}

func (b *batch) reset() {
	clear(b.tags) // their texts hold the block that they are of
	clear(b.classes)
	clear(b.members)
	clear(b.ways)
	clear(b.relations)
	*b = batch{nodes: b.nodes[:0], tagged: b.tagged[:0], ways: b.ways[:0], relations: b.relations[:0],
		tags: b.tags[:0], classes: b.classes[:0], refs: b.refs[:0], members: b.members[:0], bounds: noBounds}
}

// addTags keeps tags, and returns where they are.
func (b *batch) addTags(tags osm.Tags) span {
	from := len(b.tags)
	b.tags = appendKept(b.tags, tags)
	return span{from, len(b.tags)}
}

// span is a part of a list.
type span struct{ from, to int }

func (s span) empty() bool { return s.from == s.to }
