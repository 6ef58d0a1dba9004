package places

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// maxInterpolated limits the houses between two numbered nodes. More are a typing error.
const maxInterpolated = 1000

// interpolate yields the house numbers of an interpolation line with their positions, by distance along it. It does not
// repeat the numbered nodes, which are addresses themselves.
func interpolate(line *objects.Interpolation, yield func(number int32, at orb.Point)) {
	last := -1 // numbered node
	for i, number := range line.Numbers {
		if number == objects.NoNumber {
			continue
		}
		if last >= 0 {
			housesBetween(line, last, i, yield)
		}
		last = i
	}
}

// housesBetween yields the houses between two numbered nodes.
func housesBetween(line *objects.Interpolation, from, to int, yield func(int32, orb.Point)) {
	first, last, step := int64(line.Numbers[from]), int64(line.Numbers[to]), int64(max(line.Step, 1))
	start := first // from which houses are counted
	if line.Parity != objects.AnyParity && (first%2 == 1) != (line.Parity == objects.Odd) {
		start-- // two more is the first of the parity
		if first > last {
			start += 2
		}
	}
	if first > last {
		step = -step
	}
	span := last - first
	if span/step > maxInterpolated {
		return
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
		yield(int32(n), orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])})
	}
}

// addHouses adds the houses of interpolation lines. A line without a street or place gets the street beside it, and so
// do the houses at its ends.
func (c *compiler) addHouses() (err error) {
	for line := range c.data.Interpolations.All {
		class := classes.Class{General: true, Unnamed: true, Address: c.reader.Address(line.Tags)}
		if !class.Address.OnStreet() {
			class.Address.Street = c.lineStreet(line)
			for i, node := range line.Nodes {
				// A house at the ends of several lines gets the street of the first.
				if ref := placefile.NewRef(region.KindNode, node); line.Numbers[i] != objects.NoNumber && c.ends[ref] == 0 {
					c.ends[ref] = class.Address.Street
				}
			}
		}
		interpolate(line, func(number int32, at orb.Point) {
			class.Address.HouseNumber = c.texts.Number(strconv.Itoa(int(number)))
			g := geometry.Geometry{Box: geometry.NewCoord(at).Box()}
			e := entry{ref: placefile.NewRef(region.KindWay, line.Way), features: isInterpolated}
			err = cmp.Or(err, c.add(e, &class, c.house, nil, &g, nil))
		})
		if err = cmp.Or(err, c.texts.Err); err != nil {
			return err
		}
	}
	return nil
}

// maxSamples is the number of parts of an interpolation line that are sampled.
const maxSamples = 16

// lineStreet returns the name of the street that is nearest to an interpolation line as a whole, or 0. Each end of the
// line may be nearer to a street that crosses.
func (c *compiler) lineStreet(line *objects.Interpolation) uint32 {
	var sums, near []streets.Candidate
	sample := func(at geometry.Coord) {
		g := geometry.Geometry{Shape: geometry.Point, Box: at.Box()}
		near = c.streets.Near(near[:0], streets.NewOutline(&g, nil), maxStreet)
		for _, s := range near {
			s.Cost -= maxStreet // the cost of a street out of reach
			if i, has := streets.Find(sums, s.Number); has {
				sums[i].Cost += s.Cost
			} else {
				sums = slices.Insert(sums, i, s)
			}
		}
	}
	every := max(len(line.Line)/maxSamples, 1)
	for i := 0; i+1 < len(line.Line); i += every {
		a, b := geometry.NewCoord(line.Line[i]), geometry.NewCoord(line.Line[i+1])
		sample(a)
		sample(geometry.Coord{X: int32((int64(a.X) + int64(b.X)) / 2), Y: int32((int64(a.Y) + int64(b.Y)) / 2)})
		sample(b)
	}
	if len(sums) == 0 {
		return 0
	}
	best := slices.MinFunc(sums, func(a, b streets.Candidate) int { return a.Compare(&b) })
	return c.streets.At(best.Street).Name
}
