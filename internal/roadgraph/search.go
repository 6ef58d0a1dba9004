package roadgraph

import (
	"context"
	"errors"
	"math"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
)

// ErrWork is the error of a search that has used up its work, or reached maxLabels states.
var ErrWork = errors.New("the search exceeds its work limit")

// Costs define the cost of a route. All are at least 0; the unit is the caller's.
type Costs struct {
	PerMetre, PerSecond float64
	// Turn is the cost of a turn by its Angle: Turn[uint8(angle)]. nil costs nothing.
	Turn *[256]float64
	// TurnBack is added for a U-turn where the road goes on. 0 forbids it.
	TurnBack float64
	// DeadEnd is added for a U-turn where the road ends.
	DeadEnd float64
	// DestinationOnly is the cost of a turn from a road open to all into one with destination-only access. Leaving it
	// costs nothing: a route that begins there does not pay, one that ends there or passes through pays once.
	DestinationOnly float64
}

// Arc returns the cost of travelling a whole arc.
func (c *Costs) Arc(a *Arc) float64 {
	return c.PerMetre*float64(a.Length)/millimetres + c.PerSecond*float64(a.Duration)/1000
}

// Meter counts the work of a request, in settled states. An error of Spend ends the search.
type Meter interface {
	Spend(work int64) error
}

// Search finds cheapest routes from many sources to many targets at once, with Dijkstra's algorithm over states, or
// with A* (Hart, Nilsson and Raphael 1968) after SetPotential. Its memory and work grow with the part of the network
// that it visits, not with the network. It may be used again after Reset, by one goroutine at a time.
type Search struct {
	// Limit is the highest cost of a route, heuristic included. It may be lowered while the search runs.
	Limit float64
	// Work counts the states settled since Begin, and what Spend added. Beyond MaxWork a search ends with ErrWork.
	Work, MaxWork int64
	// Meter is told of the work about every meterStep, and may end the search. nil does not.
	Meter Meter

	graph     *Graph
	costs     Costs
	potential potential
	labels    []Label
	table     []int32 // open addressing: labels by their states; places of this round are in use
	marks     []uint32
	round     uint32
	used      int
	heap      heap.Heap[float64, int32] // of labels, by cost plus heuristic
	cache     [cachedArcs]cachedArc
	sources   []Arc // of the sources, whose labels have an index into it as alternativeParent
	targets   int   // not settled yet
	metered   int64 // Work that Meter knows of
	err       error
}

// Label is a state that the search has reached.
type Label struct {
	State  uint32
	Parent int32   // the label before, -1 for a source
	Source int32   // the id of the source that the route comes from
	Cost   float64 // to the beginning of the state's arc; for a source to its end
	Time   float64 // seconds from the source to the same place, at the roads' free speed

	Target int32 // the id that AddTarget gave the state, noTarget for none

	alternative       float32 // cost of the second cheapest way here
	alternativeParent int32   // the label before on that way
	settled           bool
}

const noTarget = -1

// usualTurns is how many turns are included in the unit of work of a state.
const usualTurns = 16

// Reset prepares a new search on a graph.
func (s *Search) Reset(g *Graph, costs Costs) {
	if g != s.graph {
		s.cache = [cachedArcs]cachedArc{}
	}
	s.graph, s.costs, s.Limit = g, costs, math.Inf(1)
	s.labels, s.heap, s.sources = s.labels[:0], s.heap[:0], s.sources[:0]
	s.targets, s.used, s.err, s.potential = 0, 0, nil, potential{}
	if s.round++; s.round == 0 || s.table == nil {
		s.resize(max(len(s.table), 256))
	}
}

// AddSource adds a place to start from: cost and seconds lead from the place to the end of the state's arc.
func (s *Search) AddSource(id int32, state uint32, cost, seconds float64) {
	a := s.graph.Arc(state)
	s.AddSourceAt(id, state, a.Number, a.Head, cost, seconds)
}

// AddSourceAt is AddSource for a caller that has the number of the state's arc and its end.
func (s *Search) AddSourceAt(id int32, state, arc uint32, head Head, cost, seconds float64) {
	s.labels = append(s.labels, Label{State: state, Parent: -1, Source: id, Cost: cost, Time: seconds, Target: noTarget,
		alternativeParent: int32(len(s.sources))})
	s.sources = append(s.sources, Arc{Number: arc, Head: head})
	s.heap.Push(cost+s.potential.heuristic(&head), int32(len(s.labels)-1))
}

// AddTarget adds a state to find, with an id of at least 0. Next returns it when the cheapest route to the beginning of
// its arc is known. A second call for the same state does nothing.
func (s *Search) AddTarget(id int32, state uint32) {
	place, found := s.find(state)
	if !found {
		s.insert(place, Label{State: state, Parent: -1, Cost: math.Inf(1), Target: id, alternative: noAlternative})
		s.targets++
	}
}

// Memory returns how many bytes the search keeps for the next one.
func (s *Search) Memory() int {
	return cap(s.labels)*int(unsafe.Sizeof(Label{})) + cap(s.heap)*int(unsafe.Sizeof(heap.Item[float64, int32]{})) +
		8*len(s.table)
}

// Label returns a label. It is valid until the next call of any other method.
func (s *Search) Label(i int32) *Label { return &s.labels[i] }

// Alternative returns the second cheapest way from the same source to a label that the search has seen, if it costs at
// most maxExcess more: its excess cost, and the length in metres of the best way since the two part.
func (s *Search) Alternative(i int32, maxExcess float64) (excess, metres float64, ok bool) {
	l := &s.labels[i]
	excess = float64(l.alternative) - l.Cost
	if excess > maxExcess || l.alternativeParent < 0 || s.labels[l.alternativeParent].Source != l.Source {
		return 0, 0, false
	}
	best, other := l.Parent, l.alternativeParent
	for best != other && best >= 0 && other >= 0 {
		if s.labels[best].Cost < s.labels[other].Cost {
			other = s.labels[other].Parent
			continue
		}
		metres += float64(s.graph.Length(s.labels[best].State)) / millimetres
		best = s.labels[best].Parent
	}
	return excess, metres, true
}

const noAlternative = math.MaxFloat32

// Err returns why Next ended early: ErrWork, or the error of the context or the meter.
func (s *Search) Err() error { return s.err }

// Next runs the search until the next target is settled and returns its label. It returns false when all are settled,
// when no other one can be reached within Limit, or when Err is set.
func (s *Search) Next(ctx context.Context) (int32, bool) {
	for s.targets > 0 && len(s.heap) > 0 && s.err == nil {
		e := s.heap.Pop()
		l := &s.labels[e.Value]
		if l.settled {
			continue
		}
		if e.Key > s.Limit {
			s.heap = s.heap[:0]
			break
		}
		l.settled = true
		s.err = s.Spend(ctx, 1)
		if len(s.labels) > maxLabels {
			s.err = ErrWork
		}
		target := l.Target != noTarget
		s.relax(e.Value)
		if target {
			s.targets--
			return e.Value, true
		}
	}
	return 0, false
}

// maxLabels bounds the memory of a search, to about 100 MB.
const maxLabels = 1 << 20

// meterStep is the work between two calls of the meter.
const meterStep = 1024

// Spend counts work beside the search's own. The error is ErrWork, or that of the context or the meter.
func (s *Search) Spend(ctx context.Context, work int64) error {
	if s.Work += work; s.MaxWork > 0 && s.Work > s.MaxWork {
		return ErrWork
	}
	if s.Work-s.metered < meterStep {
		return nil
	}
	return s.meter(ctx)
}

func (s *Search) meter(ctx context.Context) error {
	if s.Meter != nil {
		if err := s.Meter.Spend(s.Work - s.metered); err != nil {
			return err
		}
	}
	s.metered = s.Work
	return ctx.Err()
}

// Begin resets the work for the next request. A maxWork of 0 has no limit; meter may be nil.
func (s *Search) Begin(maxWork int64, meter Meter) {
	s.Work, s.metered, s.MaxWork, s.Meter = 0, 0, maxWork, meter
}

// relax follows the turns at the end of a label's arc.
func (s *Search) relax(at int32) {
	from := s.labels[at]
	cost, seconds := from.Cost, from.Time
	var arc *Arc
	if from.Parent < 0 {
		arc = &s.sources[from.alternativeParent]
	} else {
		arc = s.arc(from.State)
		cost += s.costs.Arc(arc)
		seconds += float64(arc.Duration) / 1000
	}
	heuristic := s.potential.heuristic(&arc.Head)
	words, back, n := s.graph.turnWords(from.State, arc)
	own := arc.own()
	s.Work += int64(max(0, n-usualTurns))
	continues, mine := false, uint32(s.graph.mode)<<turnModes
	for i := 0; i < n; i++ {
		word := back
		if i < len(words) {
			word = words[i]
		}
		far := int32(word)>>turnTarget == farTurn
		if far {
			i++
		}
		if word&mine == 0 {
			continue
		}
		turn := turnOf(word, own, arc)
		if far {
			turn.To = words[i]
		}
		to := cost
		if s.costs.Turn != nil {
			to += s.costs.Turn[uint8(turn.Angle)]
		}
		switch {
		case turn.Angle != TurningBack:
			continues = true
		case !continues: // the U-turn comes last
			to += s.costs.DeadEnd
		case s.costs.TurnBack == 0:
			continue
		default:
			to += s.costs.TurnBack
		}
		if turn.DestinationOnly {
			to += s.costs.DestinationOnly
		}
		if to+heuristic > s.Limit {
			continue
		}
		place, found := s.find(turn.To)
		if !found {
			s.insert(place, Label{State: turn.To, Parent: at, Source: from.Source, Cost: to, Time: seconds,
				Target: noTarget, alternative: noAlternative})
			s.heap.Push(to+heuristic, int32(len(s.labels)-1))
			continue
		}
		l := &s.labels[s.table[place]]
		if to >= l.Cost {
			if float32(to) < l.alternative {
				l.alternative, l.alternativeParent = float32(to), at
			}
		} else {
			l.alternative, l.alternativeParent = float32(l.Cost), l.Parent
			l.Cost, l.Time, l.Parent, l.Source = to, seconds, at, from.Source
			s.heap.Push(to+heuristic, s.table[place])
		}
	}
}
