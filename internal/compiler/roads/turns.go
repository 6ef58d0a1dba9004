package roads

import (
	"fmt"
	"math"

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

// costTurn is what a turn costs while it is made, in bytes.
const costTurn = 16

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
func (b *builder) makeTurns() error {
	of := [len(modes)]*turnBuilder{}
	var copies []roadgraph.Copy
	arcs := uint32(2 * (b.edges.Len() - 1))
	for i, mode := range modes {
		t := &turnBuilder{builder: b, mode: mode}
		var err error
		if t.states, err = t.restrictions(arcs + uint32(len(copies))); err != nil {
			return err
		}
		for _, arc := range t.states.copies() {
			copies = append(copies, roadgraph.Copy{Mode: uint32(mode), Arc: arc})
			b.edges.Slice()[arc>>1].Flags |= roadgraph.FlagsOf(roadgraph.Copied, mode)
		}
		of[i] = t
	}
	out := b.w.Direct(roadgraph.TurnsSection, sizeOf[uint32]())
	w := &turnWriter{builder: b, of: of, out: out}
	b.bar.Start("turns", int64(b.edges.Len()))
	for edge := range b.edges.Len() - 1 {
		if edge%progressEdges == 0 {
			b.bar.Add(progressEdges)
		}
		b.edges.Slice()[edge].FirstTurn = w.count()
		first := w.count()
		if err := w.turns(2*uint32(edge)+1, allModes, nil); err != nil {
			return err
		}
		e := &b.edges.Slice()[edge]
		e.Flags = e.Flags.WithWords(int(w.count() - first))
		if err := w.turns(2*uint32(edge), allModes, nil); err != nil {
			return err
		}
	}
	b.edges.Slice()[b.edges.Len()-1].FirstTurn = w.count()
	for i := range copies {
		c := &copies[i]
		c.FirstTurn = w.count()
		if err := w.copy(c, arcs+uint32(i)); err != nil {
			return err
		}
	}
	if len(copies) > 0 {
		copies = append(copies, roadgraph.Copy{FirstTurn: w.count()})
	}
	if err := region.Append(out, w.words...); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	b.bar.Finish()
	return direct(b.w, roadgraph.CopiesSection, copies)
}

// progressEdges is after how many edges progress is told.
const progressEdges = 1024

// turnWriter writes turns.
type turnWriter struct {
	*builder
	of    [len(modes)]*turnBuilder
	out   *region.SectionWriter
	words []uint32
}

func (w *turnWriter) count() uint32 { return uint32(w.out.Len()/4) + uint32(len(w.words)) }

// copy writes the turns of a copy of an arc, which is a state of the automaton.
func (w *turnWriter) copy(c *roadgraph.Copy, number uint32) error {
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
			return w.turns(end, mode, &state)
		}
	}
	return nil
}

// arrival is how a mode comes to the end of an edge: by an arc, in a state of the automaton.
type arrival struct {
	mode  mapdata.Modes
	arc   uint32
	state int32
	t     *turnBuilder
}

// turns writes the turns at an end of an edge for some modes. A state is that of a copy of their arc.
func (w *turnWriter) turns(end uint32, m mapdata.Modes, state *int32) error {
	at := w.firstEnd.Slice()[end]
	if at == 0 {
		return nil
	}
	var buffer [len(modes)]arrival
	arrivals := buffer[:0]
	for i, mode := range modes {
		if arc, ok := w.arriving(end, mode&m); ok {
			a := arrival{mode, arc, 0, w.of[i]}
			if a.state = w.of[i].states.root(arc); state != nil {
				a.state = *state
			}
			arrivals = append(arrivals, a)
		}
	}
	if len(arrivals) == 0 {
		return nil
	}
	group := w.meeting(at - 1)
	var own edgeEnd
	for _, e := range group {
		if e.End == end {
			own = e
		}
	}
	first := len(w.words)
	for _, to := range group {
		if to.End != end {
			w.turn(own, to, arrivals)
		}
	}
	w.turn(own, own, arrivals) // last: by then readers know whether the road goes on
	if err := w.cost.TakeMemory(costTurn * int64(len(w.words)-first)); err != nil {
		return err
	}
	if w.out.Len()/4+int64(len(w.words)) > math.MaxUint32-roadgraph.MaxTurns {
		return fmt.Errorf("the extract has too many turns")
	}
	if len(w.words) > 1<<12 {
		err := region.Append(w.out, w.words...)
		w.words = w.words[:0]
		return err
	}
	return nil
}

// otherArc stands for a segment's own other arc as the target of a turn.
const otherArc = math.MaxUint32

// turn writes the turn from one end of an edge to another one at the same node, or back by the same. It is one for all
// modes that it is the same for.
func (w *turnWriter) turn(own, to edgeEnd, arrivals []arrival) {
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
		next, allowed := a.t.states.step(a.state, arc)
		if !allowed {
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
}
