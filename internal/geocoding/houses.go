package geocoding

import (
	"iter"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/paulmach/orb"
)

// maxInterpolated bounds the houses between two numbered nodes: no street has more, and a typing error could mean millions.
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
			if i >= len(line.Numbers) || line.Numbers[i] == 0 {
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
		along[i] = along[i-1] + distance(newCoord(piece[i-1]), newCoord(piece[i]))
	}
	total := along[len(along)-1]
	i := 1
	for n := first + step; (n < last) == (step > 0) && n != last; n += step {
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

// classifyHouse is what classify is for objects.
func classifyHouse(h *house, line *extract.Interpolation) classification {
	c := classification{kinds: []keyValue{{"place", "house"}}, general: true,
		address: addressTags{houseNumber: strconv.Itoa(int(h.number)), street: line.Street, city: line.City, postcode: line.Postcode}}
	c.name = c.address.line()
	return c
}
