package rings

import (
	"cmp"
	"math"
	"slices"
)

// step is a node of a ring, and the piece that leads from it to the next node.
type step struct {
	node  uint64
	piece int
}

// trace follows the pieces, of which an even number meets at each node, until all are in rings.
func (j *joiner) trace() (rings [][]step) {
	next := make([]end, 2*len(j.pieces)) // the partner of each end
	for node, at := range j.ends {
		slices.SortStableFunc(at, func(a, b end) int { return cmp.Compare(j.angle(node, a), j.angle(node, b)) })
		for k := 0; k+1 < len(at); k += 2 {
			next[at[k]], next[at[k+1]] = at[k+1], at[k]
		}
	}
	for i := range j.pieces {
		var chain []step
		for from := end(2 * i); !j.gone[from/2]; from = next[from^1] {
			j.gone[from/2] = true
			nodes := slices.Clone(j.piece(from).Nodes)
			if from%2 == 1 {
				slices.Reverse(nodes)
			}
			for _, n := range nodes[:len(nodes)-1] {
				chain = append(chain, step{n, int(from / 2)})
			}
		}
		rings = append(rings, split(chain)...)
	}
	return rings
}

// angle returns the direction in which a piece leaves the node of an end.
func (j *joiner) angle(node uint64, e end) float64 {
	nodes := j.piece(e).Nodes
	next := nodes[1]
	if e%2 == 1 {
		next = nodes[len(nodes)-2]
	}
	from, to := j.at(node).Point(), j.at(next).Point()
	return math.Atan2(to[1]-from[1], to[0]-from[0])
}

// split divides a chain that visits nodes repeatedly into rings that do not. Only nodes where pieces meet can be
// visited repeatedly.
func split(chain []step) (rings [][]step) {
	position := make(map[uint64]int) // the last position of a node in path
	var path []step
	for i, s := range chain {
		if i == 0 || s.piece != chain[i-1].piece {
			start, seen := position[s.node]
			if seen && start < len(path) && path[start].node == s.node {
				rings = append(rings, slices.Clone(path[start:]))
				path = path[:start]
			}
			position[s.node] = len(path)
		}
		path = append(path, s)
	}
	return append(rings, path)
}
