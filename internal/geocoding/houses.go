package geocoding

import (
	"iter"
	"maps"
	"strconv"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
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
		along[i] = along[i-1] + distance(newCoord(piece[i-1]), newCoord(piece[i]))
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

// addHouses takes on the houses of interpolation lines. A line that does not say on which street it is takes the one
// beside it, and so do the houses at its ends.
func (b *builder) addHouses(v *deriver, lines []extract.Interpolation) error {
	ends := b.endsOf(lines)
	for i := range lines {
		line := &lines[i]
		address := readAddress(line.Tags)
		if address.street == "" && address.place == "" {
			address.street, _ = v.line(line)
			for _, node := range line.Nodes {
				if n, ok := ends[newRef(mapdata.KindNode, node)]; ok && !b.entries[n].address.onStreet() {
					b.entries[n].address.street = address.street
				}
			}
		}
		for h := range interpolate(line) {
			if err := b.cost.TakeMemory(extract.CostFeature); err != nil {
				return err
			}
			f := extract.Feature{Kind: mapdata.KindWay, ID: h.way, Geometry: h.at}
			c := classification{kinds: []keyValue{{"place", "house"}}, general: true, unnamed: true, address: address}
			c.address.houseNumber = strconv.Itoa(int(h.number))
			b.add(newRef(f.Kind, f.ID), nil, c, &f)
		}
	}
	return nil
}

// endsOf returns the entries of nodes of lines that have house numbers.
func (b *builder) endsOf(lines []extract.Interpolation) map[uint64]int {
	ends := map[uint64]int{}
	for i := range lines {
		for k, node := range lines[i].Nodes {
			if lines[i].Numbers[k] != extract.NoNumber {
				ends[newRef(mapdata.KindNode, node)] = -1
			}
		}
	}
	for i := range b.entries {
		if _, ok := ends[b.entries[i].ref]; ok {
			ends[b.entries[i].ref] = i
		}
	}
	maps.DeleteFunc(ends, func(_ uint64, n int) bool { return n < 0 })
	return ends
}
