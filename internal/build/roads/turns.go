package roads

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// turnBuilder makes the lists of turns from the segments and the restrictions.
type turnBuilder struct {
	b       *builder
	t       *tables
	leaving [][]uint32 // for each node, the open arcs that begin there
	ending  [][]uint32 // for each node, the open arcs that end there
}

// writeTurns fills the turns, adds the copies of arcs that restrictions over ways need, and closes the list of arcs.
func (b *builder) writeTurns(t *tables) error {
	w := &turnBuilder{b: b, t: t}
	if err := w.collect(); err != nil {
		return err
	}
	base := len(t.arcs)
	states, err := w.restrictions(uint32(base))
	if err != nil {
		return err
	}
	t.copies = states.copies()
	for _, arc := range t.copies {
		t.arcs = append(t.arcs, t.arcs[arc])
		t.segments[arc>>1].Flags |= roadgraph.HasCopies
	}
	for i := range t.arcs {
		t.arcs[i].FirstTurn = uint32(len(t.turns))
		state := states.root(t.arcs[i].Base)
		if i >= base {
			state = states.ofCopy[i-base]
		}
		w.addTurns(t.arcs[i].Base, state, states)
		if len(t.turns) > math.MaxUint32 {
			return fmt.Errorf("the extract has too many turns")
		}
	}
	t.arcs = append(t.arcs, roadgraph.Arc{FirstTurn: uint32(len(t.turns))})
	return nil
}

// open reports whether the mode may travel an arc.
func (w *turnBuilder) open(arc uint32) bool {
	if arc&1 == 0 {
		return w.b.segments[arc>>1].properties.flags.Has(roadgraph.Forward)
	}
	return w.b.segments[arc>>1].properties.flags.Has(roadgraph.Backward)
}

// tail and head are the nodes at which an arc begins and ends.
func (w *turnBuilder) tail(arc uint32) int32 {
	nodes := w.b.segments[arc>>1].nodes
	if arc&1 == 0 {
		return nodes[0]
	}
	return nodes[len(nodes)-1]
}

func (w *turnBuilder) head(arc uint32) int32 { return w.tail(arc ^ 1) }

// roadIn is the road on which an arc reaches its head, roadOut the one on which it leaves its tail.
func (w *turnBuilder) roadIn(arc uint32) int32 { return w.roadOut(arc ^ 1) }

func (w *turnBuilder) roadOut(arc uint32) int32 {
	if arc&1 == 0 {
		return w.b.segments[arc>>1].first
	}
	return w.b.segments[arc>>1].last
}

// collect lists the open arcs at each node. Each of those that end there may go on to all that begin there, so a node
// of very many roads would cost more than all others.
func (w *turnBuilder) collect() error {
	n := uint32(2 * len(w.b.segments))
	group := func(place func(arc uint32) int32) [][]uint32 {
		counts := make([]int32, len(w.b.data.Nodes))
		total := 0
		for arc := range n {
			if w.open(arc) {
				counts[place(arc)]++
				total++
			}
		}
		all := make([]uint32, total)
		groups := make([][]uint32, len(counts))
		for node, count := range counts {
			groups[node], all = all[:0:count], all[count:]
		}
		for arc := range n {
			if w.open(arc) {
				groups[place(arc)] = append(groups[place(arc)], arc)
			}
		}
		return groups
	}
	w.leaving, w.ending = group(w.tail), group(w.head)
	turns := int64(0)
	for node := range w.leaving {
		if n := len(w.leaving[node]); n > roadgraph.MaxTurns {
			return fmt.Errorf("%d roads meet at node %d", n, w.b.data.Nodes[node].ID)
		}
		turns += int64(len(w.ending[node])) * int64(len(w.leaving[node]))
	}
	return w.b.data.Cost.TakeMemory(costTurn * turns)
}

// What parts of the network cost while they are made, in bytes.
const (
	costTurn  = 16
	costState = 512 // of the automaton, with the copy of an arc that it becomes
)

// onward yields the arcs that may follow an arc as far as restrictions do not matter: none over a barrier, and never back
// along the same segment.
func (w *turnBuilder) onward(arc uint32, yield func(to uint32)) {
	head := w.head(arc)
	if w.b.data.Nodes[head].Barrier&w.b.mode != 0 {
		return
	}
	for _, to := range w.leaving[head] {
		if to != arc^1 {
			yield(to)
		}
	}
}

// addTurns appends the turns of an arc in a state of the automaton of restrictions. Turning back is one of them wherever the
// road is open both ways: at a dead end it is the only one.
func (w *turnBuilder) addTurns(arc uint32, state int32, states *automaton) {
	if !w.open(arc) {
		return
	}
	first := len(w.t.turns)
	w.onward(arc, func(to uint32) {
		if next, allowed := states.step(state, to); allowed {
			w.t.turns = append(w.t.turns, roadgraph.Turn{To: next, Angle: w.angle(arc, to), Enters: w.enters(arc, to)})
		}
	})
	if back := arc ^ 1; w.open(back) {
		if next, allowed := states.step(state, back); allowed {
			w.t.turns = append(w.t.turns, roadgraph.Turn{To: next, Angle: roadgraph.TurningBack, Enters: w.enters(arc, back)})
		}
	}
	slices.SortFunc(w.t.turns[first:], func(x, y roadgraph.Turn) int { return cmp.Compare(x.To, y.To) })
}

// enters is 1 where a turn leads into a road that is only for those who have a destination there, from one that is for
// all; see Turn.
func (w *turnBuilder) enters(from, to uint32) uint8 {
	if w.destination(to) && !w.destination(from) {
		return 1
	}
	return 0
}

// destination reports whether an arc is only for those who have a destination there.
func (w *turnBuilder) destination(arc uint32) bool {
	flags := w.b.segments[arc>>1].properties.flags
	return arc&1 == 0 && flags.Has(roadgraph.DestinationForward) || arc&1 == 1 && flags.Has(roadgraph.DestinationBackward)
}

// angle is the change of direction from one arc to the next; see Turn.
func (w *turnBuilder) angle(from, to uint32) int8 {
	if len(w.b.at(w.head(from))) == 2 {
		return 0 // no junction: the road goes on with another name or speed
	}
	in, out := w.shape(from), w.shape(to)
	a, b := len(in)-2, 1
	for a > 0 && samePlace(&in[a], &in[len(in)-1]) {
		a--
	}
	for b < len(out)-1 && samePlace(&out[b], &out[0]) {
		b++
	}
	change := math.Remainder(bearing(&out[0], &out[b])-bearing(&in[a], &in[len(in)-1]), 2*math.Pi)
	return int8(min(max(math.Round(change/math.Pi*128), -127), 127))
}

func samePlace(a, b *roadgraph.Point) bool { return a.Lat == b.Lat && a.Lon == b.Lon }

// shape is the line of an arc in its direction.
func (w *turnBuilder) shape(arc uint32) []roadgraph.Point {
	line := w.t.points[w.t.segments[arc>>1].FirstPoint:w.t.segments[arc>>1+1].FirstPoint]
	if arc&1 == 0 {
		return line
	}
	line = slices.Clone(line)
	slices.Reverse(line)
	return line
}
