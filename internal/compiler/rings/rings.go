// Package rings makes polygons of the ways of a multipolygon. It knows no tags, and roles only as hints. Begin at
// Assemble: it repairs the lines, joins them to rings (trace.go), and finds which rings lie within others (nest.go).
package rings

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/paulmach/orb/geo"
)

// Piece is a way, or a part of one, that bounds an area.
type Piece struct {
	Way   int64
	Nodes []uint64 // their numbers, at least two
	Inner bool     // has the role inner
}

func (p *Piece) first() uint64 { return p.Nodes[0] }
func (p *Piece) last() uint64  { return p.Nodes[len(p.Nodes)-1] }
func (p *Piece) closed() bool  { return p.first() == p.last() }

// Area is the result of Assemble.
type Area struct {
	Polygons []Polygon
	// Outer has for each polygon the sorted ways of its outer ring, without those with the role inner. There may be none.
	Outer [][]int64
	// Repaired counts repairs: lines that were given twice, and ends that do not quite meet.
	Repaired int
	Broken   bool // some lines are in no ring, or are missing
}

// joiner joins the pieces of one area to rings that enclose it by the even-odd rule.
//
// The pieces are cut at nodes where more than two lines meet, so that rings may touch themselves and each other. Pieces
// that are there twice enclose nothing and are removed. At each meeting point the lines are paired with their
// neighbours by angle, so that no two rings cross. Going from pair to pair gives the rings.
type joiner struct {
	*Area
	at     func(node uint64) Coord
	pieces []Piece
	gone   []bool           // for each piece: removed, or in a ring
	ends   map[uint64][]end // of pieces that are not gone, by node
}

// end is an end of a piece: twice its index, plus one for the last node.
type end int32

func (j *joiner) piece(e end) *Piece { return &j.pieces[e/2] }

func (j *joiner) node(e end) uint64 {
	if e%2 == 0 {
		return j.piece(e).first()
	}
	return j.piece(e).last()
}

// Assemble makes an area of lines. If it is partial, some lines are missing, and others may form a wrong ring by
// chance: then only closed lines become rings.
func Assemble(pieces []Piece, at func(node uint64) Coord, partial bool) *Area {
	j := joiner{Area: &Area{Broken: partial}, at: at, ends: make(map[uint64][]end, len(pieces))}
	if partial {
		pieces = slices.DeleteFunc(pieces, func(p Piece) bool { return !p.closed() })
	}
	j.cut(j.unique(pieces))
	j.cancel()
	j.closeGaps()
	j.dropLoose()
	j.nest(j.trace())
	return j.Area
}

// unique removes lines with the same nodes as another.
func (j *joiner) unique(pieces []Piece) []Piece {
	seen := make(map[string]bool, len(pieces))
	return slices.DeleteFunc(pieces, func(p Piece) bool {
		key := p.key()
		if seen[key] {
			j.Repaired++
			return true
		}
		seen[key] = true
		return false
	})
}

// key is the same for pieces with the same nodes in either direction, and for rings also with any start.
func (p *Piece) key() string {
	nodes := slices.Clone(p.Nodes)
	switch {
	case p.closed():
		nodes[0] = math.MaxUint64 // which is no node
		slices.Sort(nodes)
	case p.first() > p.last():
		slices.Reverse(nodes)
	}
	key, _ := binary.Append(nil, binary.LittleEndian, nodes) // which cannot fail for numbers
	return string(key)
}

// cut splits lines at the nodes where more than two meet.
func (j *joiner) cut(lines []Piece) {
	junctions := junctions(lines)
	is := func(node uint64) bool { return junctions[node] }
	for _, p := range lines {
		nodes := p.Nodes
		if i := slices.IndexFunc(nodes, is); i > 0 && p.closed() {
			nodes = slices.Concat(nodes[i:], nodes[1:i+1])
		}
		start := 0
		for k := 1; k < len(nodes); k++ {
			if k == len(nodes)-1 || is(nodes[k]) {
				j.pieces = append(j.pieces, Piece{Way: p.Way, Nodes: nodes[start : k+1], Inner: p.Inner})
				start = k
			}
		}
	}
}

// junctions returns the nodes where more than two lines meet. They are found by sorting: a map of the million nodes of
// a border would be large, and few of these are junctions.
func junctions(lines []Piece) map[uint64]bool {
	var nodes []uint64 // each once for every segment end at it
	for _, p := range lines {
		nodes = append(nodes, p.Nodes...)
		nodes = append(nodes, p.Nodes[1:len(p.Nodes)-1]...)
	}
	slices.Sort(nodes)
	junctions := make(map[uint64]bool)
	for i := 2; i < len(nodes); i++ {
		if nodes[i] == nodes[i-2] {
			junctions[nodes[i]] = true
		}
	}
	return junctions
}

// cancel removes pairs of pieces with the same nodes, which are borders between two parts of the area. All nodes of
// such a border are junctions, so its pieces have two nodes.
func (j *joiner) cancel() {
	open := make(map[[2]uint64]int)
	j.gone = make([]bool, len(j.pieces))
	for i, p := range j.pieces {
		if len(p.Nodes) > 2 {
			continue
		}
		key := [2]uint64{min(p.first(), p.last()), max(p.first(), p.last())}
		if other, ok := open[key]; ok {
			j.gone[i], j.gone[other] = true, true
			delete(open, key)
		} else {
			open[key] = i
		}
	}
	for i := range j.pieces {
		if !j.gone[i] {
			j.addEnds(end(2 * i))
		}
	}
}

func (j *joiner) addEnds(first end) {
	for e := first; e < first+2; e++ {
		j.ends[j.node(e)] = append(j.ends[j.node(e)], e)
	}
}

// maxGap is the greatest distance, in metres, of two ends that are taken for one node.
const maxGap = 10

// closeGaps joins loose ends that are near each other, the nearest first.
func (j *joiner) closeGaps() {
	var loose []end
	for _, at := range j.ends {
		if len(at) == 1 {
			loose = append(loose, at[0])
		}
	}
	slices.Sort(loose)
	type gap struct {
		a, b   end
		metres float64
	}
	var gaps []gap
	for i, a := range loose {
		for _, b := range loose[i+1:] {
			if a/2 == b/2 && len(j.piece(a).Nodes) == 2 {
				continue
			}
			if d := geo.Distance(j.at(j.node(a)).Point(), j.at(j.node(b)).Point()); d <= maxGap {
				gaps = append(gaps, gap{a, b, d})
			}
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(a.metres, b.metres) })
	for _, g := range gaps {
		a, b := j.node(g.a), j.node(g.b)
		if len(j.ends[a]) > 1 || len(j.ends[b]) > 1 {
			continue // joined already
		}
		of := j.piece(g.a)
		j.pieces = append(j.pieces, Piece{Way: of.Way, Nodes: []uint64{a, b}, Inner: of.Inner})
		j.gone = append(j.gone, false)
		j.addEnds(end(2 * (len(j.pieces) - 1)))
		j.Repaired++
	}
}

// dropLoose removes pieces with a loose end, and then connected pieces with a node where an odd number of them meet:
// the even-odd rule cannot tell their inside.
func (j *joiner) dropLoose() {
	drop := func(e end) { j.gone[e/2], j.Broken = true, true }
	for node := range j.ends {
		for len(j.ends[node]) == 1 {
			e := j.ends[node][0]
			drop(e)
			delete(j.ends, node)
			node = j.node(e ^ 1)
			j.ends[node] = slices.DeleteFunc(j.ends[node], func(o end) bool { return o == e^1 })
		}
	}
	var uneven []uint64
	for node, at := range j.ends {
		if len(at)%2 == 1 {
			uneven = append(uneven, node)
		}
	}
	for len(uneven) > 0 {
		node := uneven[len(uneven)-1]
		uneven = uneven[:len(uneven)-1]
		for _, e := range j.ends[node] {
			if !j.gone[e/2] {
				drop(e)
				uneven = append(uneven, j.node(e^1))
			}
		}
	}
}
