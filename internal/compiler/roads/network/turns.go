package network

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// turnBuilder makes the lists of turns of one mode.
type turnBuilder struct {
	*builder
	mode   mapdata.Modes
	states *automaton
}

// meeting are the ends of edges at the node of one that is the first of them in the list.
func (b *builder) meeting(first uint32) []edgeEnd {
	ends := b.ends.Slice()[first:]
	n := 0
	for ends[n].About&lastEnd == 0 {
		n++
	}
	return ends[:n+1]
}

// begins reports whether a segment of a mode begins with an edge, ends whether one ends with it.
func (b *builder) begins(edge uint32, m mapdata.Modes) bool {
	return b.edges.Slice()[edge].Flags.Modes(roadgraph.Begins)&m != 0
}

func (b *builder) endsWith(edge uint32, m mapdata.Modes) bool {
	next := b.edges.Slice()[edge+1].Flags
	return next.Open()&m == 0 || next.Modes(roadgraph.Begins)&m != 0
}

// leaving is the arc of a mode that leaves a node at the end of an edge. ok is false where there is none: where no
// segment ends, or it is closed in that direction.
func (b *builder) leaving(end uint32, m mapdata.Modes) (arc uint32, ok bool) {
	return b.arc(end, m, [2]int{roadgraph.OpenForward, roadgraph.OpenBackward})
}

// arriving is the same for the arc that comes to the node.
func (b *builder) arriving(end uint32, m mapdata.Modes) (arc uint32, ok bool) {
	arc, ok = b.arc(end, m, [2]int{roadgraph.OpenBackward, roadgraph.OpenForward})
	return arc ^ 1, ok
}

// arc is the arc that leaves a node, where it is open in the set of modes for the first or the last end of an edge.
func (b *builder) arc(end uint32, m mapdata.Modes, open [2]int) (arc uint32, ok bool) {
	edge := end >> 1
	if b.edges.Slice()[edge].Flags.Modes(open[end&1])&m == 0 {
		return 0, false
	}
	if end&1 == 0 {
		return 2 * edge, b.begins(edge, m)
	}
	if !b.endsWith(edge, m) {
		return 0, false
	}
	for !b.begins(edge, m) {
		edge--
	}
	return 2*edge + 1, true
}

// local reports whether an edge, travelled forward or backward, is only for those of a mode who have a destination
// there.
func (b *builder) local(edge uint32, backward bool, m mapdata.Modes) bool {
	set := roadgraph.LocalForward
	if backward {
		set = roadgraph.LocalBackward
	}
	return b.edges.Slice()[edge].Flags.Modes(set)&m != 0
}

// makeTurns writes the turns of all edges, and the copies of arcs that restrictions over ways need.
func (b *builder) makeTurns(ctx context.Context) error {
	of := [len(modes)]*turnBuilder{}
	var copies []roadgraph.Copy
	edges := b.edges.Len() - 1
	arcs := uint32(2 * edges)
	for i, mode := range modes {
		t := &turnBuilder{builder: b, mode: mode}
		t.states = t.restrictions(arcs + uint32(len(copies)))
		for _, arc := range t.states.copies() {
			copies = append(copies, roadgraph.Copy{Mode: uint32(mode), Arc: arc})
			b.edges.Slice()[arc>>1].Flags |= roadgraph.FlagsOf(roadgraph.Copied, mode)
		}
		of[i] = t
	}
	flags, err := b.turns.Extend(edges)
	if err != nil {
		return err
	}
	out := b.w.Direct(roadgraph.TurnsSection, sizeOf[uint32]())
	add := func(w *turnWriter) (first uint32, err error) {
		first = uint32(out.Len() / 4)
		if int64(first)+int64(len(w.words)) > math.MaxUint32 {
			return 0, fmt.Errorf("the extract has too many turns")
		}
		return first, region.Append(out, w.words...)
	}
	b.bar.Start("turns", int64(edges))
	err = inorder.Ranges(ctx, edges, someEdges, func(from, to int) (*turnWriter, error) {
		w := &turnWriter{builder: b, of: of, from: from, words: make([]uint32, 0, 8*someEdges)}
		for edge := from; edge < to; edge++ {
			first := len(w.words)
			var back [2]bool
			back[0] = w.turns(2*uint32(edge)+1, allModes, nil)
			atEnd := len(w.words) - first
			back[1] = w.turns(2*uint32(edge), allModes, nil)
			flags[edge] = flags[edge].WithTurns(atEnd, back)
			w.counts = append(w.counts, uint32(len(w.words)-first))
		}
		return w, nil
	}, func(w *turnWriter) error {
		b.bar.Add(int64(len(w.counts)))
		first, err := add(w)
		for i, n := range w.counts {
			b.edges.Slice()[w.from+i].FirstTurn = first
			first += n
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, f := range flags {
		b.edges.Slice()[i].Flags |= f
	}
	for i := range copies {
		w := &turnWriter{builder: b, of: of}
		w.copy(&copies[i], arcs+uint32(i))
		if copies[i].FirstTurn, err = add(w); err != nil {
			return err
		}
	}
	end := uint32(out.Len() / 4)
	b.edges.Slice()[edges].FirstTurn = end
	if len(copies) > 0 {
		b.edges.Slice()[edges].FirstTurn = copies[0].FirstTurn
		copies = append(copies, roadgraph.Copy{FirstTurn: end})
	}
	if err := out.Close(); err != nil {
		return err
	}
	b.bar.Finish()
	return direct(b.w, roadgraph.CopiesSection, copies)
}

// turnWriter makes the turns of some edges in a row.
type turnWriter struct {
	*builder
	of     [len(modes)]*turnBuilder
	from   int // the first edge
	words  []uint32
	counts []uint32 // of words, for each edge
}

// copy writes the turns of a copy of an arc, which is a state of the automaton.
func (w *turnWriter) copy(c *roadgraph.Copy, number uint32) {
	mode := mapdata.Modes(c.Mode)
	end := c.Arc ^ 1 // of the segment's first edge, for the arc that ends there
	if c.Arc&1 == 0 {
		edge := c.Arc >> 1
		for !w.endsWith(edge, mode) {
			edge++
		}
		end = 2*edge + 1
	}
	for i := range modes {
		if modes[i] == mode {
			states := w.of[i].states
			state := states.ofCopy[number-states.first]
			w.turns(end, mode, &state)
		}
	}
}

// arrival is how a mode comes to the end of an edge: by an arc, in a state of the automaton.
type arrival struct {
	mode  mapdata.Modes
	arc   uint32
	state int32
	// never are the pairs of the arc and those that may not follow.
	never []uint64
	t     *turnBuilder
}

// turns writes the turns at an end of an edge for some modes. A state is that of a copy of their arc. It reports
// whether the last one is the usual turn back, which has no word; that of a copy always has one.
func (w *turnWriter) turns(end uint32, m mapdata.Modes, state *int32) (back bool) {
	at := w.firstEnd.Slice()[end]
	if at == 0 {
		return false
	}
	var buffer [len(modes)]arrival
	arrivals := buffer[:0]
	for i, mode := range modes {
		if arc, ok := w.arriving(end, mode&m); ok {
			states := w.of[i].states
			a := arrival{mode, arc, states.root(arc), states.after(arc), w.of[i]}
			if state != nil {
				a.state = *state
			}
			arrivals = append(arrivals, a)
		}
	}
	if len(arrivals) == 0 {
		return false
	}
	group := w.meeting(at - 1)
	var own edgeEnd
	for _, e := range group {
		if e.End == end {
			own = e
		}
	}
	for _, to := range group {
		if to.End != end {
			w.turn(own, to, arrivals)
		}
	}
	before := len(w.words)
	able := w.turn(own, own, arrivals) // last: by then readers know whether the road goes on
	usual := roadgraph.AppendTurn(make([]uint32, 0, 1), end^1, roadgraph.Turn{Angle: roadgraph.TurningBack}, able, true)
	if back = state == nil && slices.Equal(w.words[before:], usual); back {
		w.words = w.words[:before]
	}
	return back
}

// otherArc stands for a segment's own other arc as the target of a turn.
const otherArc = math.MaxUint32

// turn writes the turn from one end of an edge to another one at the same node, or back by the same. It is one for all
// modes that it is the same for. It returns those whose arcs meet so, whatever they may do.
func (w *turnWriter) turn(own, to edgeEnd, arrivals []arrival) (able mapdata.Modes) {
	var turns [len(modes)]roadgraph.Turn
	var of [len(modes)]mapdata.Modes
	n := 0
	back := to.End == own.End
	for i := range arrivals {
		a := &arrivals[i]
		arc, ok := w.leaving(to.End, a.mode)
		if !ok || !back && own.blocked()&a.mode != 0 {
			continue
		}
		able |= a.mode
		next, allowed := a.t.states.step(a.state, arc)
		if !allowed || slices.Contains(a.never, pair(a.arc, arc)) {
			continue
		}
		turn := roadgraph.Turn{To: next, Enters: w.local(to.End>>1, to.End&1 == 1, a.mode) &&
			!w.local(own.End>>1, own.End&1 == 0, a.mode)}
		switch {
		case back:
			turn.Angle = roadgraph.TurningBack
			if next == arc {
				turn.To = otherArc
			}
		case own.two()&a.mode == 0:
			turn.Angle = angle(own.About&bearingMask, to.About&bearingMask)
		}
		known := false
		for k := range n {
			if turns[k] == turn {
				of[k] |= a.mode
				known = true
			}
		}
		if !known {
			turns[n], of[n] = turn, a.mode
			n++
		}
	}
	for k := range n {
		w.words = roadgraph.AppendTurn(w.words, own.End^1, turns[k], of[k], back && turns[k].To == otherArc)
	}
	return able
}
