// Package streets finds the streets near a house, how far they are, and the roads without a name that lead to them.
// Package places decides which of them a house is on. Begin at Map.
package streets

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// How a street is chosen for what has none of its own: the one with the least cost, which is how far it is, in metres,
// and what speaks against it. docs/internals/algorithms.md has the reasons, docs/internals/benchmarks.md how often the
// choice is right.
const (
	// maxPath is how far a path may be, in metres, that is to stand for a street.
	maxPath = 50
	// Nobody lives on a path where a street is about as near, and few on a service road or a ramp.
	pathFactor, pathCost       = 2, 20
	serviceFactor, serviceCost = 1.5, 5
)

// Street is a feature that houses may have their address on.
type Street struct {
	Ref      uint64 // see placefile.NewRef
	Name     uint32 // text
	Number   uint32 // of its name, the same in different spellings
	Postcode uint32 // text
	Kind     placefile.RoadKind
	_        [3]uint8
}

// Map finds streets.
type Map struct {
	streets *scratch.Array[Street]
	lines
}

// NewMap makes a map of no streets.
func NewMap(dir *scratch.Dir) *Map {
	return &Map{scratch.NewArray[Street](dir, "streets"), newLines(dir, "street")}
}

// Add takes a street on.
func (m *Map) Add(s Street, g *geometry.Geometry) error {
	return cmp.Or(m.streets.Append(s), m.add(uint32(m.streets.Len()-1), g))
}

// Seal ends the adding.
func (m *Map) Seal() error { return m.seal() }

// At returns a street.
func (m *Map) At(n uint32) *Street { return &m.streets.Slice()[n] }

// Free removes the files.
func (m *Map) Free() error { return cmp.Or(m.streets.Free(), m.lines.Free()) }

// Candidate is a street that a house may be on.
type Candidate struct {
	Number   uint32  // of its name
	Street   uint32  // the one of this number that is nearest
	Distance float64 // metres
	Cost     float64
}

// Compare puts the street first that is to be preferred.
func (c *Candidate) Compare(o *Candidate) int {
	return cmp.Or(cmp.Compare(c.Cost, o.Cost), cmp.Compare(c.Distance, o.Distance), cmp.Compare(c.Street, o.Street))
}

// Near appends the streets within some metres of an outline, each with the one of its name that costs least.
// They are in the order of their numbers.
func (m *Map) Near(list []Candidate, o *Outline, reach float64) []Candidate {
	wide := Around(o.box, reach)
	m.parts.Each(&wide, func(p *part) {
		nearest := math.Inf(1)
		m.edges(p, &wide, func(from, to geometry.Coord) { nearest = min(nearest, o.to(from, to)) })
		s := m.At(p.line)
		c := Candidate{s.Number, p.line, nearest, nearest}
		limit := reach
		switch s.Kind {
		case placefile.PathStreet:
			c.Cost, limit = nearest*pathFactor+pathCost, min(reach, maxPath)
		case placefile.ServiceStreet:
			c.Cost = nearest*serviceFactor + serviceCost
		}
		if nearest <= limit {
			list = append(list, c)
		}
	})
	slices.SortFunc(list, func(a, b Candidate) int { return cmp.Or(cmp.Compare(a.Number, b.Number), a.Compare(&b)) })
	return slices.CompactFunc(list, func(a, b Candidate) bool { return a.Number == b.Number })
}

// Find finds a street in a list in the order of their numbers.
func Find(list []Candidate, number uint32) (int, bool) {
	return slices.BinarySearchFunc(list, number, func(c Candidate, n uint32) int { return cmp.Compare(c.Number, n) })
}
