package places

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// maxInterpolated bounds the houses between two numbered nodes: no street has more, and a typing error could mean
// millions.
const maxInterpolated = 1000

// house is an address that lies between two others.
type house struct {
	way    int64
	number int32
	at     orb.Point
}

// interpolate yields the houses of an interpolation line, by distance along it. The numbered nodes at its ends are
// addresses themselves and are not repeated.
func interpolate(line *extract.Interpolation) iter.Seq[house] {
	return func(yield func(house) bool) {
		last := -1 // numbered node
		for i := range line.Line {
			if i >= len(line.Numbers) || line.Numbers[i] == extract.NoNumber {
				continue
			}
			if last >= 0 && !housesBetween(line, last, i, yield) {
				return
			}
			last = i
		}
	}
}

// housesBetween yields the houses between two numbered nodes, and reports whether more are wanted.
func housesBetween(line *extract.Interpolation, from, to int, yield func(house) bool) bool {
	first, last, step := int64(line.Numbers[from]), int64(line.Numbers[to]), int64(max(line.Step, 1))
	start := first // that houses are counted from
	if line.Parity != extract.AnyParity && (first%2 == 1) != (line.Parity == extract.Odd) {
		start-- // so that the next but one is the first of the parity
		if first > last {
			start += 2
		}
	}
	if first > last {
		step = -step
	}
	span := last - first
	if span/step > maxInterpolated {
		return true
	}
	piece := line.Line[from : to+1]
	along := make([]float64, len(piece)) // metres from the start
	for i := 1; i < len(piece); i++ {
		along[i] = along[i-1] + geometry.Distance(geometry.NewCoord(piece[i-1]), geometry.NewCoord(piece[i]))
	}
	total := along[len(along)-1]
	i := 1
	for n := start + step; (n < last) == (step > 0) && n != last; n += step {
		want := total * float64(n-first) / float64(span)
		for i < len(piece)-1 && along[i] < want {
			i++
		}
		t := 0.0
		if length := along[i] - along[i-1]; length > 0 {
			t = (want - along[i-1]) / length
		}
		a, b := piece[i-1], piece[i]
		if !yield(house{line.Way, int32(n), orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])}}) {
			return false
		}
	}
	return true
}

// lineHouse is a house of an interpolation line.
type lineHouse struct {
	way    int64
	at     geometry.Coord
	number uint32 // text
	line   uint32
}

// addHouses takes on the houses of interpolation lines. A line that does not say on which street it is takes the one
// beside it, and so do the houses at its ends.
func (c *compiler) addHouses() error {
	cost := c.data.Cost.Again()
	var tags []extract.TagNumbers
	for line := range c.data.Interpolations.All {
		tags = tags[:0]
		for _, t := range line.Tags {
			tags = append(tags, extract.TagNumbers{Key: c.texts.add(t.Key), Value: c.texts.add(t.Value)})
		}
		c.lexicon.read(tags)
		address := c.lexicon.address()
		if !address.onStreet() {
			address.street = c.lineStreet(line, cost)
			for i, node := range line.Nodes {
				if line.Numbers[i] != extract.NoNumber && address.street != 0 {
					c.ends = append(c.ends, lineEnd{placefile.NewRef(mapdata.KindNode, node), address.street})
				}
			}
		}
		n := uint32(c.ranges.Len())
		if err := c.ranges.Append(address); err != nil {
			return err
		}
		for h := range interpolate(line) {
			number := c.texts.add(strconv.Itoa(int(h.number)))
			house := lineHouse{way: h.way, at: geometry.NewCoord(h.at), number: number, line: n}
			err := cmp.Or(c.data.Cost.TakeMemory(extract.CostFeature), c.houses.Append(house), c.texts.err)
			if err != nil {
				return err
			}
		}
	}
	// A house at the ends of several lines is on the street of the first.
	slices.SortStableFunc(c.ends, func(a, b lineEnd) int { return cmp.Compare(a.ref, b.ref) })
	return nil
}

// end gives a house at the end of a line the street of the line.
func (c *compiler) end(e *entry, a *address) (err error) {
	i, ok := slices.BinarySearchFunc(c.ends, e.ref, func(l lineEnd, ref uint64) int { return cmp.Compare(l.ref, ref) })
	if ok {
		a.street = c.ends[i].street
		a.number, err = c.numbers.number(a.street)
	}
	return err
}

// maxSamples is how many parts of an interpolation line are looked at.
const maxSamples = 16

// lineStreet finds the street of an interpolation line without one: that which is nearest to the line as a whole, since
// each of its ends is near another one where streets cross. It returns the text of its name, or 0.
func (c *compiler) lineStreet(line *extract.Interpolation, cost *extract.Budget) uint32 {
	var sums, near []streetCandidate
	more := true
	work := func(steps int64) bool {
		more = more && cost.Work(steps) == nil
		return more
	}
	sample := func(at geometry.Coord) {
		g := geometry.Geometry{Shape: geometry.Point, Box: at.Box()}
		near = c.streets.near(near[:0], newOutline(&g, nil), maxStreet, work)
		for _, s := range near {
			s.cost -= maxStreet // which is what a street costs that is out of reach
			if i, has := indexOf(sums, s.street); has {
				sums[i].cost += s.cost
			} else {
				sums = slices.Insert(sums, i, s)
			}
		}
	}
	every := max(len(line.Line)/maxSamples, 1)
	for i := 0; i+1 < len(line.Line) && more; i += every {
		a, b := geometry.NewCoord(line.Line[i]), geometry.NewCoord(line.Line[i+1])
		sample(a)
		sample(geometry.Coord{X: int32((int64(a.X) + int64(b.X)) / 2), Y: int32((int64(a.Y) + int64(b.Y)) / 2)})
		sample(b)
	}
	if !more || len(sums) == 0 {
		return 0
	}
	best := slices.MinFunc(sums, func(a, b streetCandidate) int { return a.compare(&b) })
	return c.streets.streets.Slice()[best.entry].name
}
