package routes

import (
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// enough is how many arcs make a part of the network useful though there is a greater one: a town on an island has as
// many. Fewer are car parks, yards behind closed gates, and what an extract cuts off at its border.
const enough = 1000

// findIsolated sets a mode of the base edges of isolated edges. An edge is not isolated if one of its arcs is in a
// large strongly connected component: the greatest one, or one of enough arcs.
func (b *builder) findIsolated(ctx context.Context, draft *region.File, mode region.Modes) (err error) {
	g, err := roadgraph.OpenMode(draft, mode)
	if err != nil {
		return err
	}
	numbers := scratch.NewArray[uint32](b.dir, "route-components")
	s := &components{g: g, path: scratch.NewArray[visit](b.dir, "route-path"),
		turns: scratch.NewArray[uint32](b.dir, "route-turns"), open: scratch.NewArray[uint32](b.dir, "route-open"),
		large: map[uint32]bool{}}
	defer func() { err = errors.Join(err, numbers.Free(), s.path.Free(), s.turns.Free(), s.open.Free()) }()
	if s.numbers, err = numbers.Extend(g.NumStates()); err != nil {
		return err
	}
	if err := s.find(ctx); err != nil {
		return err
	}
	for base := range b.baseEdges() {
		last, flags, ok := b.runOf(mode, base)
		if !ok || s.isLarge(base, flags.Modes(roadgraph.HasStatesSet)&mode != 0) {
			continue
		}
		for ; base <= last; base++ {
			b.isolated[base] |= uint8(mode)
		}
	}
	return nil
}

// components finds the strongly connected components of the states of a mode (Pearce 2016, "A Space-Efficient Algorithm
// for Finding Strongly Connected Components").
type components struct {
	g *roadgraph.Graph
	// numbers are by state: 0 before it is visited, then the lowest index of a state that can be reached, counted from 1,
	// then the number of its component, counted down from the greatest number.
	numbers []uint32
	path    *scratch.Array[visit]
	turns   *scratch.Array[uint32] // the rest of the turns of the states on the path
	open    *scratch.Array[uint32] // visited states without a component
	large   map[uint32]bool        // components of enough arcs, or of the most
	most    int
	found   []roadgraph.Turn
	targets []uint32
}

// visit is a state on the path, whose turns begin somewhere.
type visit struct{ State, Turns, Index uint32 }

// find numbers all components.
func (c *components) find(ctx context.Context) error {
	index, component := uint32(1), ^uint32(0)
	enter := func(state uint32) error {
		err := c.path.Append(visit{state, uint32(c.turns.Len()), index})
		c.numbers[state] = index
		index++
		c.found = c.g.Turns(state, c.found[:0])
		c.targets = c.targets[:0]
		for _, t := range c.found {
			c.targets = append(c.targets, t.To)
		}
		return errors.Join(err, c.turns.Append(c.targets...))
	}
	// leave ends the visit of a state. If no state before it can be reached, it makes a component of all after it.
	leave := func(v visit) error {
		number := c.numbers[v.State]
		if number != v.Index {
			return c.open.Append(v.State)
		}
		index--
		c.numbers[v.State] = component
		open, arcs := c.open.Slice(), c.arcs(v.State)
		for len(open) > 0 && c.numbers[open[len(open)-1]] >= number {
			state := open[len(open)-1]
			open = open[:len(open)-1]
			c.numbers[state] = component
			arcs += c.arcs(state)
			index--
		}
		c.open.Truncate(len(open))
		if arcs > c.most && c.most < enough {
			clear(c.large)
		}
		c.most = max(c.most, arcs)
		if arcs >= min(c.most, enough) {
			c.large[component] = true
		}
		component--
		return nil
	}
	for edge := range c.g.Edges() {
		if err := ctx.Err(); err != nil {
			return err
		}
		flags := c.g.Edge(edge).Flags
		for way, open := range [...]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward} {
			start := 2*edge + uint32(way)
			if !flags.Has(open) || c.numbers[start] != 0 {
				continue
			}
			if err := enter(start); err != nil {
				return err
			}
			for c.path.Len() > 0 {
				path, turns := c.path.Slice(), c.turns.Slice()
				v := path[len(path)-1]
				var err error
				if len(turns) > int(v.Turns) {
					to := turns[len(turns)-1]
					if c.numbers[to] == 0 {
						err = enter(to) // comes back to this turn
					} else {
						c.numbers[v.State] = min(c.numbers[v.State], c.numbers[to])
						c.turns.Truncate(len(turns) - 1)
					}
				} else {
					c.path.Truncate(len(path) - 1)
					err = leave(v)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// arcs returns 1 for an arc, and 0 for another state.
func (c *components) arcs(state uint32) int {
	if state < uint32(2*c.g.NumBaseEdges()) {
		return 1
	}
	return 0
}

// isLarge reports whether an arc of an edge, or another state of it, is in a large component.
func (c *components) isLarge(edge uint32, states bool) bool {
	for arc := 2 * edge; arc <= 2*edge+1; arc++ {
		if c.large[c.numbers[arc]] {
			return true
		}
		if !states {
			continue
		}
		first, last := c.g.StatesOf(arc)
		for state := first; state < last; state++ {
			if c.large[c.numbers[state]] {
				return true
			}
		}
	}
	return false
}
