package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// meeting appends the ends of base edges at the node of one of them, in order.
func (b *builder) meeting(to []uint32, end uint32) []uint32 {
	ends := b.ends
	last := end
	for ends[last].Next > last {
		last = ends[last].Next
	}
	for at := ends[last].Next; ; at = ends[at].Next {
		if to = append(to, at); at == last {
			return to
		}
	}
}

// modesOf returns a set of modes for an arc. For an arc against its base edge, OpenForwardSet becomes OpenBackwardSet,
// and so on.
func (b *builder) modesOf(set int, arc uint32) region.Modes {
	return b.edgeFlags[arc>>1].Modes(set + int(arc&1)*(roadgraph.OpenBackwardSet-roadgraph.OpenForwardSet))
}

// bounds returns the modes whose edges begin or end at an end of a base edge.
func (b *builder) bounds(end uint32) region.Modes {
	flags := b.edgeFlags[end>>1+end&1]
	if end&1 == 0 {
		return flags.Modes(roadgraph.BeginsEdgeSet)
	}
	return ^flags.Open() | flags.Modes(roadgraph.BeginsEdgeSet)
}

// leaving returns the modes with an arc that leaves a node by an end of a base edge.
func (b *builder) leaving(end uint32) region.Modes {
	return b.bounds(end) & b.modesOf(roadgraph.OpenForwardSet, end)
}

// arriving returns the modes with an arc that arrives at the node there.
func (b *builder) arriving(end uint32) region.Modes {
	return b.bounds(end) & b.modesOf(roadgraph.OpenForwardSet, end^1)
}

// arc returns the arc by which a mode leaves a node. The one by which it arrives differs in the lowest bit.
func (b *builder) arc(end uint32, mode region.Modes) uint32 {
	if end&1 != 0 {
		for b.edgeFlags[end>>1].Modes(roadgraph.BeginsEdgeSet)&mode == 0 {
			end -= 2
		}
	}
	return end
}

// makeTurns writes the turns of all base edges, and the states of via-way restrictions.
func (b *builder) makeTurns(ctx context.Context, m *automaton) error {
	edges := b.edges
	count := len(edges) - 1 // the last one marks the end
	for _, at := range m.stored {
		s := &m.states[at]
		b.edgeFlags[s.arc>>1] |= roadgraph.FlagsOf(roadgraph.HasStatesSet, s.mode)
	}
	out := b.w.Direct(roadgraph.TurnsSection, sizeOf[uint32]())
	words := func() uint32 { return uint32(out.Len() / 4) }
	b.bar.Start("turns", int64(count))
	err := pipeline.Ranges(ctx, count, someEdges, func(from, to int) (*turnWriter, error) {
		w := &turnWriter{builder: b, automaton: m, edges: edges[from:to], words: make([]uint32, 0, 8*someEdges)}
		for i := range w.edges {
			if err := w.edge(uint32(from+i), &w.edges[i]); err != nil {
				return nil, err
			}
		}
		return w, nil
	}, func(w *turnWriter) error {
		b.bar.Add(int64(len(w.edges)))
		if int64(words())+int64(len(w.words)) > math.MaxUint32 {
			return errors.New("the extract has too many turns")
		}
		for i := range w.edges {
			w.edges[i].FirstTurn += words()
		}
		return region.Append(out, w.words...)
	})
	if err != nil {
		return err
	}
	edges[count].FirstTurn = words()
	var states []roadgraph.State
	for _, at := range m.stored {
		s := &m.states[at]
		states = append(states, roadgraph.State{Mode: uint32(s.mode), Arc: s.arc, FirstTurn: words()})
		w := &turnWriter{builder: b, automaton: m}
		w.turnsOf(at)
		if err := region.Append(out, w.words...); err != nil {
			return err
		}
	}
	if len(states) > 0 {
		states = append(states, roadgraph.State{FirstTurn: words()})
	}
	b.bar.Finish()
	return cmp.Or(out.Close(), direct(b.w, roadgraph.StatesSection, states))
}

// turnWriter makes the turns of consecutive base edges.
type turnWriter struct {
	*builder
	*automaton
	edges []roadgraph.BaseEdge
	words []uint32
	group []uint32 // ends of base edges at a node
}

// edge makes the turns of a base edge. It sets FirstTurn, counted from the first turn of the writer.
func (w *turnWriter) edge(number uint32, edge *roadgraph.BaseEdge) error {
	edge.FirstTurn = uint32(len(w.words))
	var back [2]bool
	back[0] = w.turns(2*number+1, allModes, nothing)
	atEnd := uint32(len(w.words)) - edge.FirstTurn
	back[1] = w.turns(2*number, allModes, nothing)
	edge.Flags = w.edgeFlags[number].WithTurns(int(atEnd), back)
	if uint32(len(w.words))-edge.FirstTurn > roadgraph.MaxTurns {
		return fmt.Errorf("too many roads meet near %v, %v", float64(edge.Lat)/1e7, float64(edge.Lon)/1e7)
	}
	return nil
}

// turnsOf writes the turns of a state of the automaton.
func (w *turnWriter) turnsOf(of int32) {
	s := &w.states[of]
	end := s.arc ^ 1 // of the edge's first base edge, for the arc that ends there
	if s.arc&1 == 0 {
		for end = s.arc + 1; w.bounds(end)&s.mode == 0; {
			end += 2
		}
	}
	w.turns(end, s.mode, of)
}

// nothing is the state of a route that remembers only its arc.
const nothing = -1

// turns writes the turns at an end of a base edge for some modes: those of a state, if one is given. It reports whether
// the last one is the usual U-turn, which takes no word. The U-turn of a state always takes one.
func (w *turnWriter) turns(end uint32, m region.Modes, of int32) (back bool) {
	from := arrival{end: end, edgeEnd: w.ends[end], modes: w.arriving(end) & m, stored: of != nothing}
	if from.modes == 0 {
		return false
	}
	if from.Restricted {
		for i, mode := range modes {
			if from.states[i] = of; of == nothing && from.modes&mode != 0 {
				from.states[i] = w.follow(int32(i), w.arc(end, mode)^1)
			}
		}
	}
	from.through = from.modes &^ w.modesOf(roadgraph.DestinationOnlyForwardSet, end^1)
	w.group = w.meeting(w.group[:0], end)
	for _, to := range w.group {
		if to != end {
			w.turn(&from, to)
		}
	}
	return w.turn(&from, end) // last, when readers know whether the road goes on
}

// arrival is the arrival of some modes at an end of a base edge.
type arrival struct {
	end uint32
	edgeEnd
	modes, through region.Modes      // through are the modes without destination-only access
	states         [len(modes)]int32 // of the automaton, if the end is restricted
	stored         bool
}

// otherArc means the opposite arc of the same edge as the target of a turn.
const otherArc = math.MaxUint32

// turn writes the turns from one end of a base edge to another one at the same node, or back by the same. Modes with
// the same turn share one. It reports whether it is the usual U-turn, which takes no word.
func (w *turnWriter) turn(from *arrival, to uint32) (usual bool) {
	back := to == from.end
	able := from.modes & w.leaving(to)
	angle := int8(roadgraph.TurningBack)
	if !back {
		able &^= from.Blocked
		angle = change(from.Bearing, w.ends[to].Bearing)
	}
	enters := from.through & w.modesOf(roadgraph.DestinationOnlyForwardSet, to)
	var turns [len(modes)]roadgraph.Turn
	var of [len(modes)]region.Modes
	n := 0
	for i, mode := range modes {
		if able&mode == 0 {
			continue
		}
		arc := w.arc(to, mode)
		turn := roadgraph.Turn{To: arc, Angle: angle, DestinationOnly: enters&mode != 0}
		if from.Restricted {
			var allowed bool
			if turn.To, allowed = w.step(from.states[i], arc); !allowed {
				continue
			}
		}
		if back && turn.To == arc {
			turn.To = otherArc
		} else if !back && from.Two&mode != 0 {
			turn.Angle = 0
		}
		k := slices.Index(turns[:n], turn)
		if k < 0 {
			k, n = n, n+1
			turns[k] = turn
		}
		of[k] |= mode
	}
	if back && !from.stored && of[0] == able && turns[0] == (roadgraph.Turn{To: otherArc, Angle: angle}) {
		return true
	}
	for k := range n {
		w.words = roadgraph.AppendTurn(w.words, from.end^1, turns[k], of[k], back && turns[k].To == otherArc)
	}
	return false
}

// change returns the change of direction to the right, in 180/128 degrees, of a turn from the first to the second of
// two base edges, given the bearings at which they leave the node.
func change(in, out uint32) int8 {
	const turn = 1 << bearingBits
	by := int32((out-in-turn/2)<<(32-bearingBits)) >> (32 - bearingBits) // in (-turn/2, turn/2]
	return int8(min(max((by+1<<15)>>16, -127), 127))
}
