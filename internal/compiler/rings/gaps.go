package rings

import (
	"cmp"
	"math"
	"slices"
)

// maxGap is how far apart, in metres, two ends may be that were meant to be one node.
const maxGap = 10

// maxLoose bounds the loose ends of an area that are looked at for gaps: more of them are no slip of the mapper's.
const maxLoose = 1000

// closeGaps puts bridges between loose ends that are less than maxGap apart, the nearest first.
func (j *joiner) closeGaps() {
	var loose []end
	for _, at := range j.ends() {
		if len(at) == 1 {
			loose = append(loose, at[0])
		}
	}
	if len(loose) > maxLoose {
		return
	}
	slices.SortFunc(loose, func(a, b end) int {
		return cmp.Or(cmp.Compare(a.piece, b.piece), compareBool(a.last, b.last))
	})
	type gap struct {
		a, b   int
		metres float64
	}
	var gaps []gap
	for a := range loose {
		for b := a + 1; b < len(loose); b++ {
			if loose[a].piece == loose[b].piece && len(j.pieces[loose[a].piece].Nodes) == 2 {
				continue
			}
			if d := j.distance(j.nodeAt(loose[a]), j.nodeAt(loose[b])); d <= maxGap {
				gaps = append(gaps, gap{a, b, d})
			}
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(a.metres, b.metres) })
	joined := make([]bool, len(loose))
	for _, g := range gaps {
		if joined[g.a] || joined[g.b] {
			continue
		}
		joined[g.a], joined[g.b] = true, true
		of := j.pieces[loose[g.a].piece]
		j.pieces = append(j.pieces, Piece{
			Way: of.Way, Nodes: []uint64{j.nodeAt(loose[g.a]), j.nodeAt(loose[g.b])}, Inner: of.Inner,
		})
		j.repaired++
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

func (j *joiner) nodeAt(e end) uint64 {
	if e.last {
		return j.pieces[e.piece].last()
	}
	return j.pieces[e.piece].first()
}

// distance returns metres, near enough for gaps.
func (j *joiner) distance(a, b uint64) float64 {
	const metresPerDegree = 111_195
	p, q := j.at(a), j.at(b)
	return metresPerDegree * math.Hypot((p[0]-q[0])*math.Cos(p[1]*math.Pi/180), p[1]-q[1])
}

// prune removes what leads nowhere.
func (j *joiner) prune() {
	ends := j.ends()
	gone := make([]bool, len(j.pieces))
	left := make(map[uint64]int, len(ends)) // how many ends at a node are not gone
	var loose []uint64
	for node, at := range ends {
		if left[node] = len(at); len(at) == 1 {
			loose = append(loose, node)
		}
	}
	for len(loose) > 0 {
		node := loose[len(loose)-1]
		loose = loose[:len(loose)-1]
		if left[node] != 1 {
			continue
		}
		e := ends[node][slices.IndexFunc(ends[node], func(e end) bool { return !gone[e.piece] })]
		gone[e.piece], j.broken = true, true
		e.last = !e.last
		other := j.nodeAt(e)
		left[node]--
		if left[other]--; left[other] == 1 {
			loose = append(loose, other)
		}
	}
	j.drop(gone)
}

// dropUneven removes connected pieces with a node where an odd number of them meet: they enclose no area that could be
// told from what surrounds it.
func (j *joiner) dropUneven() {
	ends := j.ends()
	gone := make([]bool, len(j.pieces))
	var uneven []uint64
	for node, at := range ends {
		if len(at)%2 == 1 {
			uneven = append(uneven, node)
		}
	}
	for len(uneven) > 0 {
		node := uneven[len(uneven)-1]
		uneven = uneven[:len(uneven)-1]
		for _, e := range ends[node] {
			if !gone[e.piece] {
				gone[e.piece], j.broken = true, true
				uneven = append(uneven, j.pieces[e.piece].first(), j.pieces[e.piece].last())
			}
		}
	}
	j.drop(gone)
}
