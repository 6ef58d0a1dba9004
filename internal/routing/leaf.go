package routing

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// leaf is a leaf cell in memory: the states with one end or both in the cell, with their costs. Searches in it are many
// times faster than on the region file.
type leaf struct {
	states  []uint32 // ascending
	costs   []Cost   // of each state's arc, noWay where it is closed
	lengths []uint32 // of each state's arc, in millimetres
	ends    []uint8  // tailInside, headInside
	// forward are the turns at the end of each state, and backward those at its beginning: to where it comes from. Both
	// are only of states that meet inside the cell.
	forward, backward turns
	// entries and exits are the states of the cell's border in the order of the overlay, as indexes into states.
	entries, exits []uint32
	trees          []atomic.Pointer[tree] // from each entry
}

const (
	tailInside = 1 << iota
	headInside
)

// turns are lists of turns: those of state i are the elements from first[i] to first[i+1].
type turns struct {
	first []uint32
	all   []leafTurn
}

type leafTurn struct {
	to   uint32 // index into leaf.states
	cost Cost
}

func (t *turns) of(i uint32) []leafTurn { return t.all[t.first[i]:t.first[i+1]] }

// find returns the index of a state.
func (c *leaf) find(state uint32) (uint32, bool) {
	i, ok := slices.BinarySearch(c.states, state)
	return uint32(i), ok
}

// bytes is about the memory of a leaf cell.
func (c *leaf) bytes() int64 {
	return int64(len(c.states)*(4+4+4+1+8) + len(c.forward.all)*16 + len(c.entries)*(4+8+8*len(c.states)) + 400)
}

// leafBuilder makes leaf cells. It keeps its memory for the next one.
type leafBuilder struct {
	members  []member
	controls []roadgraph.Control
	shape    []roadgraph.Point
	found    []roadgraph.Turn
	of       []uint32 // the member of each state
	pairs    []pair
}

// member is an edge with one end or both in a leaf cell.
type member struct {
	number uint32
	ends   uint8 // FirstInside, LastInside
	edge   roadgraph.Edge
	costs  [2]Cost // forward and backward
	// governed says whether signals or a sign govern the junctions at its last and at its first node.
	governed [2]bool
}

// pair is a turn from a state into another one.
type pair struct {
	from, to uint32
	cost     Cost
}

// build makes a leaf cell. The edges in closed are closed.
func (b *leafBuilder) build(o *Overlay, number uint32, m *Model, closed map[uint32]bool) *leaf {
	b.readMembers(o, number, m)
	for i := range b.members {
		if closed[b.members[i].number] {
			b.members[i].costs = [2]Cost{noWay, noWay}
		}
	}
	n := 2 * len(b.members) // about as many states
	c := &leaf{states: make([]uint32, 0, n), costs: make([]Cost, 0, n), lengths: make([]uint32, 0, n),
		ends: make([]uint8, 0, n)}
	b.of = b.of[:0]
	add := func(state uint32, of int, backward uint8) {
		e := &b.members[of]
		ends := e.ends // FirstInside is tailInside, LastInside headInside
		if backward == 1 {
			ends = ends>>1 | ends<<1&headInside
		}
		c.states, c.ends = append(c.states, state), append(c.ends, ends)
		c.costs = append(c.costs, e.costs[backward])
		c.lengths = append(c.lengths, e.edge.Length)
		b.of = append(b.of, uint32(of))
	}
	directions := [...]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward}
	for i := range b.members {
		for k, open := range directions {
			if b.members[i].edge.Flags.Has(open) {
				add(2*b.members[i].number+uint32(k), i, uint8(k))
			}
		}
	}
	for i := range b.members { // further states have the greatest numbers
		for k, open := range directions {
			if b.members[i].edge.Flags.Has(open | roadgraph.HasStates) {
				first, last := o.Graph.StatesOf(2*b.members[i].number + uint32(k))
				for state := first; state < last; state++ {
					add(state, i, uint8(k))
				}
			}
		}
	}
	b.addTurns(o.Graph, c, m, o.leaves.At(int(number)).LeftDriving != 0)
	border := o.borderOf(int(number))
	c.entries, c.exits = c.indexes(o, border.entries), c.indexes(o, border.exits)
	c.trees = make([]atomic.Pointer[tree], len(c.entries))
	return c
}

// readMembers reads the edges of a leaf cell.
func (b *leafBuilder) readMembers(o *Overlay, number uint32, m *Model) {
	g := o.Graph
	b.members = b.members[:0]
	text := o.members.Range(int(o.leaves.At(int(number)).Members), int(o.leaves.At(int(number)+1).Members))
	for base := uint32(0); len(text) > 0; {
		word, n := binary.Uvarint(text)
		if n <= 0 {
			panic(&region.DamageError{Path: "the region", Problem: "the members of a cell end early"})
		}
		text = text[n:]
		base += uint32(word >> 2)
		edge, ok := g.EdgeWith(base)
		if !ok {
			continue
		}
		ends := uint8(0)
		if edge == base {
			ends = uint8(word) & FirstInside
		}
		if word&LastInside != 0 && g.LastBaseEdge(edge) == base {
			ends |= LastInside
		}
		if ends == 0 {
			continue
		}
		i, found := len(b.members), false
		if i > 0 && b.members[i-1].number >= edge {
			i, found = slices.BinarySearchFunc(b.members, edge, func(e member, n uint32) int { return cmp.Compare(e.number, n) })
		}
		if !found {
			b.members = slices.Insert(b.members, i, b.member(o, edge, m))
		}
		b.members[i].ends |= ends
	}
}

func (b *leafBuilder) member(o *Overlay, edge uint32, m *Model) member {
	e := member{number: edge, edge: o.Graph.Edge(edge)}
	b.controls, b.shape = b.controls[:0], b.shape[:0]
	last := o.Graph.LastBaseEdge(edge)
	for _, info := range o.edges.Range(int(edge), int(last)+1) {
		if info.HasControls() {
			b.controls = o.Graph.Controls(edge, b.controls)
			b.shape = o.Graph.Shape(edge, b.shape)
			break
		}
	}
	e.costs, e.governed = m.Arcs(o.Graph, edge, &e.edge, b.controls, len(b.shape))
	return e
}

// addTurns fills forward and backward.
func (b *leafBuilder) addTurns(g *roadgraph.Graph, c *leaf, m *Model, left bool) {
	n := len(c.states)
	c.forward.first, c.backward.first = make([]uint32, n+1), make([]uint32, n+1)
	b.pairs = b.pairs[:0]
	for i, state := range c.states {
		c.forward.first[i] = uint32(len(b.pairs))
		if c.ends[i]&headInside == 0 {
			continue
		}
		b.found = g.Turns(state, b.found[:0])
		from := &b.members[b.of[i]]
		at := Junction{DeadEnd: true, Left: left, Largest: from.edge.Class, Governed: from.governed[g.ArcOf(state)&1]}
		first := len(b.pairs)
		for _, t := range b.found {
			if to, ok := c.find(t.To); ok { // else it is closed
				at.DeadEnd = at.DeadEnd && t.Angle == roadgraph.TurningBack
				at.Largest = min(at.Largest, b.members[b.of[to]].edge.Class)
				b.pairs = append(b.pairs, pair{uint32(i), to, 0})
				c.backward.first[to+1]++
				b.found[len(b.pairs)-1-first] = t
			}
		}
		for k := range b.pairs[first:] {
			p := &b.pairs[first+k]
			p.cost = m.Turn(b.found[k], &from.edge, &b.members[b.of[p.to]].edge, at)
		}
	}
	c.forward.first[n] = uint32(len(b.pairs))
	c.forward.all, c.backward.all = make([]leafTurn, len(b.pairs)), make([]leafTurn, len(b.pairs))
	for i := range n {
		c.backward.first[i+1] += c.backward.first[i]
	}
	for i := len(b.pairs) - 1; i >= 0; i-- {
		p := b.pairs[i]
		c.forward.all[i] = leafTurn{p.to, p.cost}
		c.backward.first[p.to+1]--
		c.backward.all[c.backward.first[p.to+1]] = leafTurn{p.from, p.cost}
	}
	// Each count has moved to where its list begins, one place too late.
	copy(c.backward.first, c.backward.first[1:])
	c.backward.first[n] = uint32(len(b.pairs))
}

// indexes returns the indexes of boundary arcs.
func (c *leaf) indexes(o *Overlay, arcs []uint32) []uint32 {
	at := make([]uint32, len(arcs))
	for i, arc := range arcs {
		k, ok := c.find(o.boundary.At(int(arc)).State)
		if !ok {
			panic(&region.DamageError{Path: "the region", Problem: "a cell lacks a boundary arc"})
		}
		at[i] = k
	}
	return at
}

// local is a search in a leaf cell. It visits states in the order in which they are reached. In a small cell that takes
// a fifth of the time of a search by costs, though some come twice.
type local struct {
	costs  []Cost // of each state, to its beginning; noWay if not reached. In reverse: from its beginning to the target
	before []uint32
	queued []bool
	queue  []uint32
}

const noState = ^uint32(0)

// reset prepares a search over n states.
func (l *local) reset(n int) {
	l.costs, l.before = slices.Grow(l.costs[:0], n)[:n], slices.Grow(l.before[:0], n)[:n]
	l.queued = slices.Grow(l.queued[:0], n)[:n]
	for i := range l.costs {
		l.costs[i], l.before[i], l.queued[i] = noWay, noState, false
	}
	l.queue = l.queue[:0]
}

func (l *local) relax(i, before uint32, cost Cost) {
	if cost < l.costs[i] {
		l.costs[i], l.before[i] = cost, before
		if !l.queued[i] {
			l.queued[i] = true
			l.queue = append(l.queue, i)
		}
	}
}

// run finds the fastest routes inside the cell from what has been relaxed.
func (l *local) run(c *leaf) {
	for at := 0; at < len(l.queue); at++ {
		i := l.queue[at]
		l.queued[i] = false
		if c.costs[i] == noWay {
			continue
		}
		cost := l.costs[i] + c.costs[i]
		for _, t := range c.forward.of(i) {
			l.relax(t.to, i, cost+t.cost)
		}
	}
}

// runBack finds the fastest routes inside the cell to what has been relaxed.
func (l *local) runBack(c *leaf) {
	for at := 0; at < len(l.queue); at++ {
		i := l.queue[at]
		l.queued[i] = false
		cost := l.costs[i]
		for _, t := range c.backward.of(i) {
			if c.costs[t.to] != noWay {
				l.relax(t.to, i, cost+c.costs[t.to]+t.cost)
			}
		}
	}
}

// tree is the fastest routes inside a leaf cell from the beginning of an entry.
type tree struct {
	costs  []Cost
	before []uint32
}

// treeFrom returns the routes from an entry.
func (c *leaf) treeFrom(entry int, l *local) *tree {
	if t := c.trees[entry].Load(); t != nil {
		return t
	}
	l.reset(len(c.states))
	l.relax(c.entries[entry], noState, 0)
	l.run(c)
	t := &tree{slices.Clone(l.costs), slices.Clone(l.before)}
	c.trees[entry].Store(t)
	return t
}
