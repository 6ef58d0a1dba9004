package country

import "github.com/paulmach/orb"

// Coast yields the coast of all countries in the grid cells that touch a box until yield returns false: lines in
// degrees with land to the left, cut at the borders of cells. Borders between countries are no coast. A line is valid
// during the call.
func Coast(b orb.Bound, yield func(line []orb.Point) bool) {
	w := coastWalk{bound: b, yield: yield}
	at := func(degrees float64) int { return int(degrees*unitsPerDegree) >> cellShift }
	for row := max(0, at(b.Min[1]+90)); row <= min(at(b.Max[1]+90), rows-1); row++ {
		for column := max(0, at(b.Min[0]+180)); column <= min(at(b.Max[0]+180), columns-1); column++ {
			if !w.node(uint32(row*columns+column), column<<cellShift, row<<cellShift, cellShift) {
				return
			}
		}
	}
}

// coastWalk is one walk along the coast.
type coastWalk struct {
	bound orb.Bound
	yield func(line []orb.Point) bool
	edges []edge
	line  []orb.Point
}

// edge is an edge of an area, in units from its cell's south-west corner.
type edge struct {
	from, to vertex
	// starts is true if the edge does not continue the one before it.
	starts bool
}

type vertex struct{ x, y int }

// degrees converts a position in units to degrees.
func degrees(x, y int) orb.Point {
	return orb.Point{float64(x)*degreesPerUnit - 180, float64(y)*degreesPerUnit - 90}
}

// node walks in a cell, given by its south-west corner and width in units.
func (w *coastWalk) node(index uint32, west, south int, shift uint) bool {
	tag, value := node(index)
	size := 1 << shift
	if tag == tagWhole || !w.bound.Intersects(orb.Bound{Min: degrees(west, south), Max: degrees(west+size, south+size)}) {
		return true
	}
	if tag == tagBranch {
		half := size / 2
		for child := range 4 {
			if !w.node(value+uint32(child), west+child&1*half, south+child>>1*half, shift-1) {
				return false
			}
		}
		return true
	}
	w.leaf(leaf(value), size)
	w.line = w.line[:0]
	for _, e := range w.edges {
		if (e.starts || len(w.line) == 0) && !w.flush() {
			return false
		}
		if len(w.line) == 0 {
			w.line = append(w.line, degrees(west+e.from.x, south+e.from.y))
		}
		w.line = append(w.line, degrees(west+e.to.x, south+e.to.y))
	}
	return w.flush()
}

func (w *coastWalk) flush() bool {
	more := len(w.line) == 0 || w.yield(w.line)
	w.line = w.line[:0]
	return more
}

// leaf reads the edges of a border cell that are coast. There is none if the rest of the cell is a country, too.
func (w *coastWalk) leaf(data []byte, size int) {
	w.edges = w.edges[:0]
	r := reader{data: data}
	if r.uint() != 0 {
		return
	}
	single := true
	for areas := r.uint(); areas > 0; areas-- {
		single = single && areas == 1
		r.uint() // the country
		for rings := r.uint(); rings > 0; rings-- {
			vertices := r.uint()
			first := vertex{r.uint(), r.uint()}
			starts := true
			for at := first; vertices > 0; vertices-- {
				to := first
				if vertices > 1 {
					to = vertex{at.x + r.int(), at.y + r.int()}
				}
				if onSide(at, to, size) {
					starts = true
				} else {
					w.edges = append(w.edges, edge{at, to, starts})
					starts = false
				}
				at = to
			}
		}
	}
	if !single {
		w.dropBorders()
	}
}

// onSide reports whether an edge lies on a side of its cell, where areas are cut.
func onSide(a, b vertex, size int) bool {
	return a.x == b.x && (a.x == 0 || a.x == size) || a.y == b.y && (a.y == 0 || a.y == size)
}

// dropBorders drops the edges that two countries share.
func (w *coastWalk) dropBorders() {
	there := make(map[[2]vertex]bool, len(w.edges))
	for _, e := range w.edges {
		there[[2]vertex{e.from, e.to}] = true
	}
	kept, starts := w.edges[:0], false
	for _, e := range w.edges {
		if there[[2]vertex{e.to, e.from}] {
			starts = true
			continue
		}
		e.starts = e.starts || starts
		kept, starts = append(kept, e), false
	}
	w.edges = kept
}
