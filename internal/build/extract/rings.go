package extract

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// piece is a way that is a member of an area, or a part of one, as indexes of its nodes.
type piece struct {
	way   int64
	nodes []int32
	inner bool // by its role
}

func (p *piece) first() int32 { return p.nodes[0] }
func (p *piece) last() int32  { return p.nodes[len(p.nodes)-1] }
func (p *piece) closed() bool { return len(p.nodes) > 1 && p.first() == p.last() }

// joiner puts the pieces of one area together to rings that enclose it by the even-odd rule.
//
// The pieces are cut wherever more than two lines meet, so that rings may touch themselves and each other in any way. What
// is there twice encloses nothing and goes. At every meeting point the lines are paired with their neighbours by angle:
// then no two rings cross. Each pair is a way through the point, and going on from pair to pair gives the rings.
type joiner struct {
	pieces []piece
	at     func(node int32) orb.Point
	cost   *Budget
	// partial says that members are missing. Then a gap is theirs, and a ring of several ways may close by chance where the
	// missing ones would have led on: only ways that are rings themselves are to be trusted.
	partial bool

	rings []chain
	// repaired counts what had to be mended: pieces given twice, ends that do not quite meet.
	repaired int
	broken   bool // some of the pieces belong to no ring
}

// chain is a closed run of nodes, the last of which is the first, and for each but the last the piece that leads on.
type chain struct {
	nodes  []int32
	pieces []int32
}

// join makes rings of the pieces.
func (j *joiner) join() {
	if j.partial {
		j.broken = true
		j.pieces = slices.DeleteFunc(j.pieces, func(p piece) bool { return !p.closed() })
	}
	j.dropDuplicates()
	j.cut()
	j.cancel()
	j.mend()
	j.prune()
	j.dropUneven()
	j.trace()
}

// dropDuplicates removes ways that have the nodes of another.
func (j *joiner) dropDuplicates() {
	seen := make(map[pieceKey][]int, len(j.pieces))
	kept := j.pieces[:0]
	for _, p := range j.pieces {
		k := keyOf(p.nodes)
		same := func(i int) bool {
			return sameNodes(kept[i].nodes, p.nodes) || p.closed() && kept[i].closed() && sameRing(kept[i].nodes, p.nodes)
		}
		if slices.ContainsFunc(seen[k], same) {
			j.repaired++
			continue
		}
		seen[k] = append(seen[k], len(kept))
		kept = append(kept, p)
	}
	j.pieces = kept
}

// pieceKey is equal for pieces with the same nodes, in whatever direction, and for rings also from whatever start. It
// is hardly ever equal for others, also where somebody has chosen them to look alike.
type pieceKey struct {
	hash   uint64
	length int
}

func keyOf(nodes []int32) pieceKey {
	k := pieceKey{length: len(nodes)}
	if nodes[0] == nodes[len(nodes)-1] {
		for _, n := range nodes[1:] {
			k.hash += maphash.Comparable(keySeed, n)
		}
		return k
	}
	var forward, backward uint64
	for i := range nodes {
		forward = forward*keyFactor + maphash.Comparable(keySeed, nodes[i])
		backward = backward*keyFactor + maphash.Comparable(keySeed, nodes[len(nodes)-1-i])
	}
	k.hash = forward + backward
	return k
}

var keySeed = maphash.MakeSeed()

const keyFactor = 0x9E3779B97F4A7C15 // odd, and of no pattern

// sameNodes compares two lists of nodes of one length, in either direction.
func sameNodes(a, b []int32) bool {
	if slices.Equal(a, b) {
		return true
	}
	for i := range a {
		if a[i] != b[len(b)-1-i] {
			return false
		}
	}
	return true
}

// cut splits the pieces at the nodes where more than two lines meet.
func (j *joiner) cut() {
	lines := make(map[int32]int) // that end at a node
	for i := range j.pieces {
		p := &j.pieces[i]
		for k, n := range p.nodes {
			if k > 0 {
				lines[n]++
			}
			if k < len(p.nodes)-1 {
				lines[n]++
			}
		}
	}
	var parts []piece
	for _, p := range j.pieces {
		nodes := p.nodes
		if p.closed() {
			nodes = startAt(nodes, func(n int32) bool { return lines[n] > 2 })
		}
		start := 0
		for k := 1; k < len(nodes); k++ {
			if k == len(nodes)-1 || lines[nodes[k]] > 2 {
				parts = append(parts, piece{way: p.way, nodes: nodes[start : k+1], inner: p.inner})
				start = k
			}
		}
	}
	j.pieces = parts
}

// startAt turns a closed ring so that it starts at a node of a kind, if it has one.
func startAt(ring []int32, is func(int32) bool) []int32 {
	i := slices.IndexFunc(ring, is)
	if i <= 0 {
		return ring
	}
	turned := append(slices.Clone(ring[i:]), ring[1:i]...)
	return append(turned, ring[i])
}

// cancel removes pairs of pieces with the same nodes: the border between two parts of the area.
func (j *joiner) cancel() {
	open := make(map[pieceKey][]int)
	gone := make([]bool, len(j.pieces))
	for i := range j.pieces {
		k := keyOf(j.pieces[i].nodes)
		same := slices.IndexFunc(open[k], func(other int) bool { return sameNodes(j.pieces[other].nodes, j.pieces[i].nodes) })
		if same < 0 {
			open[k] = append(open[k], i)
			continue
		}
		gone[open[k][same]], gone[i] = true, true
		open[k] = slices.Delete(open[k], same, same+1)
	}
	j.drop(gone)
}

func (j *joiner) drop(gone []bool) {
	kept := j.pieces[:0]
	for i, p := range j.pieces {
		if !gone[i] {
			kept = append(kept, p)
		}
	}
	j.pieces = kept
}

// end is one of the two ends of a piece.
type end struct {
	piece int32
	last  bool
}

// ends returns the ends of pieces at each node.
func (j *joiner) ends() map[int32][]end {
	ends := make(map[int32][]end, len(j.pieces))
	for i := range j.pieces {
		p := &j.pieces[i]
		ends[p.first()] = append(ends[p.first()], end{int32(i), false})
		ends[p.last()] = append(ends[p.last()], end{int32(i), true})
	}
	return ends
}

// trace goes along the pieces, of which an even number meets at every node, until all are in rings.
func (j *joiner) trace() {
	next := make([][2]end, len(j.pieces)) // where an end leads on, by piece and whether it is the last
	for node, at := range j.ends() {
		if len(at) > 2 {
			j.sortByAngle(node, at)
		}
		for k := 0; k+1 < len(at); k += 2 {
			next[at[k].piece][index(at[k].last)] = at[k+1]
			next[at[k+1].piece][index(at[k+1].last)] = at[k]
		}
	}
	used := make([]bool, len(j.pieces))
	for i := range j.pieces {
		if used[i] {
			continue
		}
		var c chain
		for from := (end{int32(i), false}); !used[from.piece]; {
			used[from.piece] = true
			nodes := j.pieces[from.piece].nodes
			if from.last {
				nodes = slices.Clone(nodes)
				slices.Reverse(nodes)
			}
			for _, n := range nodes[:len(nodes)-1] {
				c.nodes = append(c.nodes, n)
				c.pieces = append(c.pieces, from.piece)
			}
			from = next[from.piece][index(!from.last)]
		}
		c.nodes = append(c.nodes, c.nodes[0])
		j.split(c)
	}
}

func index(last bool) int {
	if last {
		return 1
	}
	return 0
}

// sortByAngle sorts ends around their node by the direction in which their pieces leave it.
func (j *joiner) sortByAngle(node int32, ends []end) {
	center := j.at(node)
	angle := func(e end) float64 {
		nodes := j.pieces[e.piece].nodes
		to := nodes[1]
		if e.last {
			to = nodes[len(nodes)-2]
		}
		p := j.at(to)
		return math.Atan2(p[1]-center[1], p[0]-center[0])
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(angle(a), angle(b)) })
}

// split takes a chain that comes back to nodes where it has been apart into rings that do not.
func (j *joiner) split(c chain) {
	position := make(map[int32]int, len(c.nodes))
	var path chain
	for i, node := range c.nodes {
		if start, seen := position[node]; seen {
			ring := chain{nodes: append(slices.Clone(path.nodes[start:]), node), pieces: slices.Clone(path.pieces[start:])}
			if len(ring.nodes) > 3 {
				j.rings = append(j.rings, ring)
			}
			for _, n := range path.nodes[start:] {
				delete(position, n)
			}
			path.nodes, path.pieces = path.nodes[:start], path.pieces[:start]
		}
		if i == len(c.pieces) {
			break
		}
		position[node] = len(path.nodes)
		path.nodes = append(path.nodes, node)
		path.pieces = append(path.pieces, c.pieces[i])
	}
}
