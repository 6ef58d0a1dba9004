package places

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
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

// roadKind tells whether the object is a street or a square, and of what kind. Its name is then the street of
// its address.
func (l *lexicon) roadKind() tagging.RoadKind {
	if kind := tagging.RoadKindOf(string(l.value(keyHighway))); kind != tagging.NoStreet {
		return kind
	}
	if string(l.value(keyPlace)) == "square" {
		return tagging.MainStreet
	}
	return tagging.NoStreet
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

// streetNames numbers streets by the keys of their names, so that the parts of one are one. Number 0 is that of no
// street; the name of no letters and no digits has another one.
type streetNames struct {
	texts  *textTable // of names
	keys   *scratch.Texts
	recent [1 << 12]struct{ name, number uint32 }
}

func newStreetNames(dir *scratch.Dir, texts *textTable) (*streetNames, error) {
	keys, err := scratch.NewTexts(dir, "streetnames")
	return &streetNames{texts: texts, keys: keys}, err
}

// number returns the number of a street's name.
func (s *streetNames) number(name uint32) (uint32, error) {
	if name == 0 {
		return 0, nil
	}
	recent := &s.recent[name%uint32(len(s.recent))]
	if recent.name != name {
		n, err := s.keys.Add("/" + streetKey(s.texts.text(name)))
		if err != nil {
			return 0, err
		}
		recent.name, recent.number = name, n
	}
	return recent.number, nil
}

// street is a feature that houses may have their address on. Streets are in the order of the features.
type street struct {
	ref      uint64
	name     uint32 // text
	number   uint32 // of its name
	postcode uint32 // text
	kind     tagging.RoadKind
	_        [3]uint8
}

// streetPart is a run of edges of a street: some of the coordinates of all streets.
type streetPart struct {
	street uint32
	edges  uint32
	first  uint64
}

// maxPartEdges is how many edges a part has at most.
const maxPartEdges = 16

// streetMap finds streets.
type streetMap struct {
	streets *scratch.Array[street]
	coords  *scratch.Array[geometry.Coord]
	sorter  *scratch.Sorter[sortedPart]
	parts   *scratch.Array[streetPart] // along the curve
	index   *boxIndex
}

type sortedPart struct {
	order uint64
	streetPart
}

func newStreetMap(dir *scratch.Dir) *streetMap {
	return &streetMap{
		streets: scratch.NewArray[street](dir, "streets"),
		coords:  scratch.NewArray[geometry.Coord](dir, "streetcoords"),
		parts:   scratch.NewArray[streetPart](dir, "streetparts"),
		index:   newBoxIndex(dir, "streetboxes"),
		sorter: scratch.NewSorter(dir, "streetparts", sortMemory(dir), func(a, b sortedPart) int {
			return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.first, b.first))
		}),
	}
}

// add takes a street on.
func (m *streetMap) add(s street, lines [][]geometry.Coord) (err error) {
	n := uint32(m.streets.Len())
	if err := m.streets.Append(s); err != nil {
		return err
	}
	for _, line := range lines {
		first := uint64(m.coords.Len())
		err = cmp.Or(err, m.coords.Append(line...))
		for i := 0; i < len(line)-1; i += maxPartEdges {
			edges := min(maxPartEdges, len(line)-1-i)
			box := geometry.BoxOf(line[i : i+edges+1])
			part := streetPart{n, uint32(edges), first + uint64(i)}
			err = cmp.Or(err, m.sorter.Add(sortedPart{box.Order(), part}))
		}
	}
	return err
}

// seal ends the adding.
func (m *streetMap) seal() error {
	coords := m.coords.Slice()
	err := m.sorter.Each(func(p *sortedPart) error {
		return cmp.Or(m.parts.Append(p.streetPart), m.index.add(geometry.BoxOf(coords[p.first:p.first+uint64(p.edges)+1])))
	})
	return cmp.Or(err, m.index.seal())
}

func (m *streetMap) free() error {
	return cmp.Or(m.streets.Free(), m.coords.Free(), m.parts.Free(), m.index.free())
}

// streetCandidate is a street that a house may be on.
type streetCandidate struct {
	street   uint32  // number of its name
	entry    uint32  // of the streets, the one of this number that is nearest
	distance float64 // metres
	cost     float64
}

func (c *streetCandidate) compare(o *streetCandidate) int {
	return cmp.Or(cmp.Compare(c.cost, o.cost), cmp.Compare(c.distance, o.distance), cmp.Compare(c.entry, o.entry))
}

// near appends the streets within some metres of an outline, each with the one of its name that costs least.
// They are in the order of their numbers. Neighbours are not counted yet. work counts steps; there is none where there
// may be no more of them.
func (m *streetMap) near(list []streetCandidate, o *outline, reach float64, work func(int64) bool) []streetCandidate {
	wide := widened(o.box, reach)
	parts, coords, streets := m.parts.Slice(), m.coords.Slice(), m.streets.Slice()
	more, found := true, 0
	steps := m.index.each(&wide, func(from, to int) {
		for i := from; i < to && more; i++ {
			p := &parts[i]
			line := coords[p.first : p.first+uint64(p.edges)+1]
			nearest := math.Inf(1)
			for k := 1; k < len(line); k++ {
				if edge := geometry.BoxOf(line[k-1 : k+1]); edge.Overlaps(&wide) {
					d, n := o.to(line[k-1], line[k])
					nearest = min(nearest, d)
					found++
					more = more && work(n)
				}
			}
			s := &streets[p.street]
			c := streetCandidate{s.number, p.street, nearest, nearest}
			limit := reach
			switch s.kind {
			case tagging.PathStreet:
				c.cost, limit = nearest*pathFactor+pathCost, min(reach, maxPath)
			case tagging.ServiceStreet:
				c.cost = nearest*serviceFactor + serviceCost
			}
			if nearest <= limit {
				list = append(list, c)
			}
		}
	})
	if !work(steps+int64(found)) || !more {
		return list[:0]
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
