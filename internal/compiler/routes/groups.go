package routes

import "github.com/mapsedge/caddy-maps/internal/routing"

// groups are junctions that stay together: dead ends with the junction where they begin, and those along a road with
// one of its ends. No good cut parts them, and there are far fewer groups than junctions.
type groups struct {
	of    []uint32 // the number of the group of each junction
	count int
}

// largestGroup is how many junctions a group has at most: few enough to fill leaf cells well.
const largestGroup = routing.LeafSize / 4

// ends returns the groups of the first and the last node of a base edge.
func (g *groups) ends(b *builder, base uint32) (first, last uint32) {
	return g.of[b.junctions[2*base]], g.of[b.junctions[2*base+1]]
}

// group makes the groups of all junctions.
func (b *builder) group() (*groups, error) {
	n := uint32(0)
	for _, j := range b.junctions {
		n = max(n, j+1)
	}
	g := &groups{of: zeros[uint32](b, "groups", int(n))} // until the end: the junction that each is joined to, or itself
	degrees, others := zeros[uint32](b, "degrees", int(n)), zeros[uint32](b, "others", int(n))
	sizes := zeros[uint8](b, "sizes", int(n))
	if b.failed != nil {
		return nil, b.failed
	}
	for i := range n {
		g.of[i], sizes[i] = i, 1
	}
	for base := range b.baseEdges() {
		if x, y := b.junctions[2*base], b.junctions[2*base+1]; x != y {
			degrees[x]++
			degrees[y]++
			others[x] ^= y // all neighbours: the only one, if there is one
			others[y] ^= x
		}
	}
	join := func(x, to uint32) bool {
		if x == to || sizes[x]+sizes[to] > largestGroup {
			return false
		}
		g.of[x] = to
		sizes[to] += sizes[x]
		return true
	}
	for i := range n {
		for x := i; degrees[x] == 1; { // a dead end, and what it makes a dead end
			to := others[x]
			if !join(x, to) {
				break
			}
			degrees[x] = 0
			degrees[to]--
			others[to] ^= x
			x = to
		}
	}
	for base := range b.baseEdges() {
		x, y := g.find(b.junctions[2*base]), g.find(b.junctions[2*base+1])
		if degrees[x] == 2 {
			join(x, y)
		} else if degrees[y] == 2 {
			join(y, x)
		}
	}
	for i := range n { // numbers in the order of the junctions
		degrees[i] = 0
	}
	for i := range n {
		root := g.find(i)
		if degrees[root] == 0 {
			g.count++
			degrees[root] = uint32(g.count)
		}
		others[i] = degrees[root] - 1
	}
	copy(g.of, others)
	return g, nil
}

// find returns the junction to which all others of a group are joined.
func (g *groups) find(x uint32) uint32 {
	for g.of[x] != x {
		g.of[x] = g.of[g.of[x]]
		x = g.of[x]
	}
	return x
}
