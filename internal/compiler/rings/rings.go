// Package rings makes the polygons of an area of the lines that enclose it.
package rings

import (
	"hash/maphash"
	"slices"

	"github.com/paulmach/orb"
)

// Piece is a line that an area is enclosed by, or a part of one.
type Piece struct {
	Way   int64
	Nodes []uint64 // their numbers
	Inner bool     // by its role
}

func (p *Piece) first() uint64 { return p.Nodes[0] }
func (p *Piece) last() uint64  { return p.Nodes[len(p.Nodes)-1] }
func (p *Piece) closed() bool  { return len(p.Nodes) > 1 && p.first() == p.last() }

// joiner puts the pieces of one area together to rings that enclose it by the even-odd rule.
//
// The pieces are cut wherever more than two lines meet, so that rings may touch themselves and each other in any way.
// What is there twice encloses nothing and goes. At every meeting point the lines are paired with their neighbours by
// angle: then no two rings cross. Each pair is a way through the point, and going on from pair to pair gives the rings.
type joiner struct {
	pieces []Piece
	at     func(node uint64) orb.Point
	// partial says that members are missing. Then a gap is theirs, and a ring of several ways may close by chance where
	// the missing ones would have led on: only ways that are rings themselves are to be trusted.
	partial bool

	rings []chain
	// repaired counts what had to be repaired: pieces given twice, ends that do not quite meet.
	repaired int
	broken   bool // some of the pieces belong to no ring
}

// chain is a closed run of nodes, the last of which is the first, and for each but the last the piece that leads on.
type chain struct {
	nodes  []uint64
	pieces []int32
}

// join makes rings of the pieces.
func (j *joiner) join() {
	if j.partial {
		j.broken = true
		j.pieces = slices.DeleteFunc(j.pieces, func(p Piece) bool { return !p.closed() })
	}
	j.dropDuplicates()
	j.cut()
	j.cancel()
	j.closeGaps()
	j.prune()
	j.dropUneven()
	j.trace()
}

// dropDuplicates removes ways that have the nodes of another.
func (j *joiner) dropDuplicates() {
	seen := make(map[pieceKey][]int, len(j.pieces))
	kept := j.pieces[:0]
	for _, p := range j.pieces {
		k := keyOf(p.Nodes)
		same := func(i int) bool {
			return sameNodes(kept[i].Nodes, p.Nodes) || p.closed() && kept[i].closed() && sameRing(kept[i].Nodes, p.Nodes)
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

func keyOf(nodes []uint64) pieceKey {
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
func sameNodes(a, b []uint64) bool {
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
	junctions := j.junctions()
	is := func(node uint64) bool { return junctions[node] }
	var parts []Piece
	for _, p := range j.pieces {
		nodes := p.Nodes
		if p.closed() {
			nodes = startAt(nodes, is)
		}
		start := 0
		for k := 1; k < len(nodes); k++ {
			if k == len(nodes)-1 || is(nodes[k]) {
				parts = append(parts, Piece{Way: p.Way, Nodes: nodes[start : k+1], Inner: p.Inner})
				start = k
			}
		}
	}
	j.pieces = parts
}

// junctions returns the nodes where more than two lines meet. Most nodes are none, and borders have a million of them,
// so the nodes are sorted rather than each kept in a map.
func (j *joiner) junctions() map[uint64]bool {
	total := 0
	for i := range j.pieces {
		total += len(j.pieces[i].Nodes)
	}
	// A node stands there once for each piece that runs through it, and as often as one ends there with a mark.
	const mark = 1
	seen := make([]uint64, 0, total)
	for i := range j.pieces {
		for k, n := range j.pieces[i].Nodes {
			if k == 0 || k == len(j.pieces[i].Nodes)-1 {
				seen = append(seen, n<<1|mark)
			} else {
				seen = append(seen, n<<1)
			}
		}
	}
	slices.Sort(seen)
	junctions := make(map[uint64]bool)
	for i := 0; i < len(seen); {
		node, lines := seen[i]>>1, 0
		for ; i < len(seen) && seen[i]>>1 == node; i++ {
			lines += 2 - int(seen[i]&mark)
		}
		if lines > 2 {
			junctions[node] = true
		}
	}
	return junctions
}

// startAt turns a closed ring so that it starts at a node of a kind, if it has one.
func startAt(ring []uint64, is func(uint64) bool) []uint64 {
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
		k := keyOf(j.pieces[i].Nodes)
		same := slices.IndexFunc(open[k], func(other int) bool { return sameNodes(j.pieces[other].Nodes, j.pieces[i].Nodes) })
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
func (j *joiner) ends() map[uint64][]end {
	ends := make(map[uint64][]end, len(j.pieces))
	for i := range j.pieces {
		p := &j.pieces[i]
		ends[p.first()] = append(ends[p.first()], end{int32(i), false})
		ends[p.last()] = append(ends[p.last()], end{int32(i), true})
	}
	return ends
}
