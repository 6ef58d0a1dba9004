package rings

import (
	"cmp"
	"math"
	"slices"
)

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
			nodes := j.pieces[from.piece].Nodes
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
func (j *joiner) sortByAngle(node uint64, ends []end) {
	center := j.at(node)
	angle := func(e end) float64 {
		nodes := j.pieces[e.piece].Nodes
		to := nodes[1]
		if e.last {
			to = nodes[len(nodes)-2]
		}
		p := j.at(to)
		return math.Atan2(p[1]-center[1], p[0]-center[0])
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(angle(a), angle(b)) })
}

// split takes a chain that comes back to nodes where it has been apart into rings that do not. It can come back only to
// where pieces meet: through all other nodes there are but two lines.
func (j *joiner) split(c chain) {
	type visit struct {
		node uint64
		at   int // in path
	}
	var visits []visit // of path, in its order
	position := make(map[uint64]int)
	var path chain
	for i, node := range c.nodes {
		meeting := i == 0 || i == len(c.pieces) || c.pieces[i] != c.pieces[i-1]
		if start, seen := position[node]; meeting && seen {
			ring := chain{nodes: append(slices.Clone(path.nodes[start:]), node), pieces: slices.Clone(path.pieces[start:])}
			if len(ring.nodes) > 3 {
				j.rings = append(j.rings, ring)
			}
			for n := len(visits); n > 0 && visits[n-1].at >= start; n-- {
				delete(position, visits[n-1].node)
				visits = visits[:n-1]
			}
			path.nodes, path.pieces = path.nodes[:start], path.pieces[:start]
		}
		if i == len(c.pieces) {
			break
		}
		if meeting {
			position[node] = len(path.nodes)
			visits = append(visits, visit{node, len(path.nodes)})
		}
		path.nodes = append(path.nodes, node)
		path.pieces = append(path.pieces, c.pieces[i])
	}
}
