package geocoding

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
)

// How a street is chosen for what has none of its own: the one with the least cost, which is how far it is, in metres,
// and what speaks against it. docs/geocoding.md has the reasons, and docs/benchmarks.md how often the choice is right.
const (
	// maxStreet is how far a street may be, in metres, and maxPath how far a path may be that is to stand for one.
	maxStreet, maxPath = 250, 50
	// firstLook is where the search begins: most streets are nearer.
	firstLook = 60
	// Nobody lives on a path where a street is about as near, and few on a service road or a ramp.
	pathFactor, pathCost       = 2, 20
	serviceFactor, serviceCost = 1.5, 5
	// A house has its number on a street that its neighbours have theirs on: the distance to the nearest that says so
	// counts by a share, up to some metres, as does that nobody says so.
	neighbourShare, maxNeighbour = 1. / 3, 100
)

// roadKind says what a highway is to the houses on it.
type roadKind uint8

const (
	noStreet roadKind = iota // nothing that a house has its address on
	onlyRoad                 // nor that, but a road with a name, which is the street of its own address
	mainStreet
	serviceStreet
	pathStreet
)

// roadKindOf tells what a value of highway is. Motorways and their ramps have no houses; what is proposed or being
// built has none yet.
func roadKindOf(highway string) roadKind {
	switch highway {
	case "trunk", "primary", "secondary", "tertiary", "unclassified", "residential", "living_street", "pedestrian",
		"road", "busway":
		return mainStreet
	case "motorway", "motorway_link", "trunk_link":
		return onlyRoad
	case "service", "primary_link", "secondary_link", "tertiary_link":
		return serviceStreet
	case "track", "footway", "path", "cycleway", "bridleway", "steps", "corridor", "byway":
		return pathStreet
	}
	return noStreet
}

// streetKind tells whether a feature is a street or a square, and of what kind. Its name is then the street of its
// address.
func streetKind(tags extract.Tags, shape shape) roadKind {
	if tags.Get("name") == "" || shape == shapePoint {
		return noStreet
	}
	if kind := roadKindOf(tags.Get("highway")); kind != noStreet {
		return kind
	}
	if tags.Get("place") == "square" {
		return mainStreet
	}
	return noStreet
}

// streetKey is what is the same of one street's name in different spellings: letters and digits, in lower case.
func streetKey(name string) string {
	return strings.ReplaceAll(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name), "ß", "ss")
}

// streetMap finds streets. Streets are numbered by their keys, so that the parts of one are one.
type streetMap struct {
	keys     map[string]uint32
	grid     grid
	segments []streetSegment
}

type streetSegment struct {
	a, b   coord
	street uint32 // number of its key
	entry  uint32
	kind   roadKind
}

// number returns the number of a street's name.
func (m *streetMap) number(name string) uint32 {
	key := streetKey(name)
	n, ok := m.keys[key]
	if !ok {
		n = uint32(len(m.keys))
		m.keys[key] = n
	}
	return n
}

// add takes on the street that an entry is.
func (m *streetMap) add(n uint32, e *entry) {
	street := m.number(e.name)
	for line := range e.geometry.lines {
		for i := 1; i < len(line); i++ {
			m.grid.add(boxOf(line[i-1:i+1]), uint32(len(m.segments)))
			m.segments = append(m.segments, streetSegment{line[i-1], line[i], street, n, e.road})
		}
	}
}

// streetCandidate is a street that a house may be on.
type streetCandidate struct {
	street   uint32
	entry    uint32  // the way of it that is nearest
	distance float64 // metres
	cost     float64
}

func (c *streetCandidate) compare(o *streetCandidate) int {
	return cmp.Or(cmp.Compare(c.cost, o.cost), cmp.Compare(c.distance, o.distance), cmp.Compare(c.entry, o.entry))
}

// outline is what of a feature a street is measured from: its entrances, or all of its geometry.
type outline struct {
	box   box
	plane plane
	lines [][]flat // a position is a line of one
}

// newOutline makes an outline of a geometry, or of the entrances that it has.
func newOutline(g *geometry, entrances []coord) *outline {
	o := &outline{box: g.box, plane: newPlane(g.box)}
	flatten := func(line []coord) {
		out := make([]flat, len(line))
		for i, c := range line {
			out[i] = o.plane.flat(c)
		}
		o.lines = append(o.lines, out)
	}
	switch {
	case len(entrances) > 0:
		for i := range entrances {
			flatten(entrances[i : i+1])
		}
	case g.shape == shapePoint:
		flatten([]coord{{g.box.MinX, g.box.MinY}})
	default:
		g.lines(func(line []coord) bool { flatten(line); return true })
	}
	return o
}

// edgeSteps is what it takes to compare two edges.
const edgeSteps = 8

// to is how far an edge is, in metres, and how many steps it took to tell.
func (o *outline) to(a, b coord) (distance float64, steps int64) {
	distance = math.Inf(1)
	p, q := o.plane.flat(a), o.plane.flat(b)
	for _, line := range o.lines {
		steps += edgeSteps * int64(len(line))
		if len(line) == 1 {
			distance = min(distance, line[0].toSegment(p, q))
		}
		for i := 1; i < len(line); i++ {
			distance = min(distance, between(line[i-1], line[i], p, q))
		}
	}
	return distance, steps
}

// near returns the streets within some metres of an outline, each with the way of it that costs least.
// They are in the order of their numbers. Neighbours are not counted yet. work counts steps; there is none where there
// may be no more of them.
func (m *streetMap) near(o *outline, reach float64, work func(int64) bool) (list []streetCandidate) {
	items, steps := m.grid.near(nil, o.box.widened(reach))
	if !work(steps) {
		return nil
	}
	for _, i := range items {
		s := &m.segments[i]
		d, n := o.to(s.a, s.b)
		if !work(n) {
			return nil
		}
		c := streetCandidate{s.street, s.entry, d, d}
		limit := reach
		switch s.kind {
		case pathStreet:
			c.cost, limit = d*pathFactor+pathCost, min(reach, maxPath)
		case serviceStreet:
			c.cost = d*serviceFactor + serviceCost
		}
		if d <= limit {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b streetCandidate) int {
		return cmp.Or(cmp.Compare(a.street, b.street), a.compare(&b))
	})
	return slices.CompactFunc(list, func(a, b streetCandidate) bool { return a.street == b.street })
}

// indexOf finds a street in a list in the order of their numbers.
func indexOf(list []streetCandidate, street uint32) (int, bool) {
	return slices.BinarySearchFunc(list, street, func(c streetCandidate, s uint32) int { return cmp.Compare(c.street, s) })
}

// into adds a candidate to a list in which each street is once.
func (c streetCandidate) into(list []streetCandidate) []streetCandidate {
	i, has := indexOf(list, c.street)
	if !has {
		return slices.Insert(list, i, c)
	}
	if c.compare(&list[i]) < 0 {
		list[i] = c
	}
	return list
}
