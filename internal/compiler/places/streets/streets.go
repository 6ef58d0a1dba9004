// Package streets finds the streets near a house with their distances, and the driveways that lead to them. Package
// places decides which of them a house is on. Begin at Map, and at Driveways for roads without a name.
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
	// maxPath is the greatest distance, in metres, of a path that may be the street of an address.
	maxPath = 50
	// Houses are rarely on a path, a service road or a ramp if a street is about as near.
	pathFactor, pathCost       = 2, 20
	serviceFactor, serviceCost = 1.5, 5
)

// Street is a feature that can be the street of addresses.
type Street struct {
	Ref      uint64 // see placefile.NewRef
	Name     uint32 // text
	Number   uint32 // of its name, equal for different spellings
	Postcode uint32 // text
	Kind     placefile.RoadKind
	_        [3]uint8
}

// Map finds streets.
type Map struct {
	streets *scratch.Array[Street]
	lines
}

// NewMap makes an empty map.
func NewMap(dir *scratch.Dir) *Map {
	return &Map{scratch.NewArray[Street](dir, "streets"), newLines(dir, "street")}
}

// Add adds a street.
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
	Street   uint32  // the nearest one with this number
	Distance float64 // metres
	Cost     float64
}

// Compare orders streets by preference.
func (c *Candidate) Compare(o *Candidate) int {
	return cmp.Or(cmp.Compare(c.Cost, o.Cost), cmp.Compare(c.Distance, o.Distance), cmp.Compare(c.Street, o.Street))
}

// Near appends the streets within some metres of an outline, of each name the one with the least cost, in the order of
// their numbers.
func (m *Map) Near(list []Candidate, o *Outline, reach float64) []Candidate {
	wide := Around(o.box, reach)
	m.parts.Each(&wide, func(p *part) {
		nearest := math.Inf(1)
		m.segments(p, &wide, func(from, to geometry.Coord) { nearest = min(nearest, o.to(from, to)) })
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
