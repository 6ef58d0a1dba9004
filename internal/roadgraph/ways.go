package roadgraph

// HasWays reports whether the graph knows of which OpenStreetMap ways its segments are. Region files that were built
// before this was kept do not.
func (g *Graph) HasWays() bool { return g.ways.Len() > 0 }

// Way returns the id of the OpenStreetMap way that a piece of a segment's shape is of, from its point i to the next
// one, and the pieces around it that are of the same: from first up to last, without last. The graph must have ways.
func (g *Graph) Way(segment uint32, i int) (id int64, first, last int) {
	begin, end := g.segments.At(int(segment)).FirstPoint, g.segments.At(int(segment)+1).FirstPoint
	at := begin + uint32(i)
	low, high := 0, g.ways.Len() // the run begins at or behind low and before high
	for high-low > 1 {
		if h := int(uint(low+high) >> 1); g.ways.At(h).Point <= at {
			low = h
		} else {
			high = h
		}
	}
	run := g.ways.At(low)
	if run.Point > begin {
		first = int(run.Point - begin)
	}
	if high < g.ways.Len() {
		end = min(end, g.ways.At(high).Point+1) // its first point is the last one of the piece before
	}
	last = int(end-begin) - 1
	if first > i || last <= i {
		g.foreign("the ways of a segment are not in order")
	}
	return run.Way(), first, last
}
