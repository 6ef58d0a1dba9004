package roadgraph

import (
	"context"
	"errors"
	"math"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
)

// ErrWork is the end of a search whose allowance of work is used up, or that has reached maxLabels arcs.
var ErrWork = errors.New("the search exceeds its work limit")

// Costs say what a route costs. All are at least 0; the unit is the caller's.
type Costs struct {
	PerMetre, PerSecond float64
	// Turn is the cost of a turn by its angle, as Turn.Angle: Turn[uint8(angle)]. nil costs nothing.
	Turn *[256]float64
	// TurnBack is what turning round costs more where the road goes on. 0: nobody does.
	TurnBack float64
	// DeadEnd is what it costs more where the road ends.
	DeadEnd float64
	// Enter is the cost of going from a road that is for all into one that is only for those who have a destination
	// there. Leaving it costs nothing: a route that begins there does not pay, one that ends there or passes through
	// pays once.
	Enter float64
}

// Arc is the cost of travelling an arc from end to end.
func (c *Costs) Arc(a *Arc) float64 {
	return c.PerMetre*float64(a.Length)/millimetres + c.PerSecond*float64(a.Duration)/1000
}

// Meter counts the work of a request, in arcs settled. An error of Spend ends the search.
type Meter interface {
	Spend(work int64) error
}

// Search finds cheapest routes from many sources to many targets at once, with Dijkstra's algorithm over arcs, or,
// where the targets lie together, with A* (Hart, Nilsson and Raphael 1968). Its memory and its work grow with the
// part of the network that it looks at, not with the network. It may be used again after Reset, by one goroutine at a
// time.
type Search struct {
	// Limit is the cost beyond which nothing is looked for: of a route up to where it is going, see Aim. It may be lowered
	// while the search runs.
	Limit float64
	// Work counts the arcs that were settled since the Search was made, and what else was spent; a search ends with
	// ErrWork where it passes MaxWork.
	Work, MaxWork int64
	// Meter is told of the work about every meterStep, and may end the search. nil does not.
	Meter Meter

	graph   *Graph
	costs   Costs
	aim     aim
	labels  []Label
	table   []int32 // open addressing: a label by its arc; the place holds something when marks say so
	marks   []uint32
	round   uint32
	taken   int
	heap    heap.Heap[int32] // of labels, by their cost with what is at least to come
	known   [knownArcs]knownArc
	sources []Arc // of the labels of sources, which have their numbers as rivalParent
	targets int   // that have not been settled
	told    int64 // of Work, to Meter
	err     error
}

// Label is an arc that the search has reached.
type Label struct {
	Arc    uint32
	Parent int32   // the label before, -1 for a source
	Source int32   // the id of the source that the route comes from
	Cost   float64 // to the beginning of the arc; for a source to its end
	Time   float64 // seconds from the source to the same place, at the roads' free speed

	Target int32 // the id that AddTarget gave the arc, noTarget for none

	rival       float32 // what the next cheapest way to the same place costs
	rivalParent int32   // its label before
	settled     bool
}

const noTarget = -1

// usualTurns is how many turns of an arc are part of settling it.
const usualTurns = 16

// Reset prepares a search on a graph and forgets the one before.
func (s *Search) Reset(g *Graph, costs Costs) {
	if g != s.graph {
		s.known = [knownArcs]knownArc{}
	}
	s.graph, s.costs, s.Limit = g, costs, math.Inf(1)
	s.labels, s.heap, s.sources = s.labels[:0], s.heap[:0], s.sources[:0]
	s.targets, s.taken, s.err, s.aim = 0, 0, nil, aim{}
	if s.round++; s.round == 0 || s.table == nil {
		s.resize(max(len(s.table), 256))
	}
}

// AddSource adds a place to start from: cost and seconds are from the place to the end of its arc.
func (s *Search) AddSource(id int32, arc uint32, cost, seconds float64) {
	a := s.graph.Arc(arc)
	s.AddKnownSource(id, arc, a.Base, a.Head, cost, seconds)
}

// AddKnownSource is AddSource for an arc of which the base and the end are known.
func (s *Search) AddKnownSource(id int32, arc, base uint32, head Head, cost, seconds float64) {
	s.labels = append(s.labels, Label{Arc: arc, Parent: -1, Source: id, Cost: cost, Time: seconds, Target: noTarget,
		rivalParent: int32(len(s.sources))})
	s.sources = append(s.sources, Arc{Base: base, Head: head})
	s.heap.Push(cost+s.aim.rest(&head), int32(len(s.labels)-1))
}

// AddTarget adds an arc to find, once, with an id of at least 0. Next yields it when the cheapest route to its
// beginning is known.
func (s *Search) AddTarget(id int32, arc uint32) {
	place, found := s.find(arc)
	if !found {
		s.insert(place, Label{Arc: arc, Parent: -1, Cost: math.Inf(1), Target: id, rival: noRival})
		s.targets++
	}
}

// Memory is how many bytes the search keeps for the next one.
func (s *Search) Memory() int {
	return cap(s.labels)*int(unsafe.Sizeof(Label{})) + cap(s.heap)*int(unsafe.Sizeof(heap.Item[int32]{})) +
		8*len(s.table)
}

// Label returns a label. It is valid until the next call of any other method.
func (s *Search) Label(i int32) *Label { return &s.labels[i] }

// Rival looks at the next cheapest way from the same source to a label, where the search has come across one that costs
// at most so much more: how much that is, and how many metres before the label's place the two ways part.
func (s *Search) Rival(i int32, most float64) (excess, metres float64, ok bool) {
	l := &s.labels[i]
	excess = float64(l.rival) - l.Cost
	if excess > most || l.rivalParent < 0 || s.labels[l.rivalParent].Source != l.Source {
		return 0, 0, false
	}
	best, rival := l.Parent, l.rivalParent
	for best != rival && best >= 0 && rival >= 0 {
		if s.labels[best].Cost < s.labels[rival].Cost {
			rival = s.labels[rival].Parent
			continue
		}
		metres += float64(s.graph.Length(s.labels[best].Arc)) / millimetres
		best = s.labels[best].Parent
	}
	return excess, metres, true
}

const noRival = math.MaxFloat32

// Err is why Next came to an end early: ErrWork, or the error of the context or the meter.
func (s *Search) Err() error { return s.err }

// Next runs the search until the next target is settled and returns its label. It returns false when all are, when no
// others can be reached within Limit, or with Err.
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

// meterStep is how much work is done between two looks at what else goes on.
const meterStep = 1024

// Spend counts work that is not a search's. The error is ErrWork, or that of the context or the meter.
func (s *Search) Spend(ctx context.Context, work int64) error {
	if s.Work += work; s.MaxWork > 0 && s.Work > s.MaxWork {
		return ErrWork
	}
	if s.Work-s.told < meterStep {
		return nil
	}
	return s.look(ctx)
}

func (s *Search) look(ctx context.Context) error {
	if s.Meter != nil {
		if err := s.Meter.Spend(s.Work - s.told); err != nil {
			return err
		}
	}
	s.told = s.Work
	return ctx.Err()
}

// Begin forgets what was spent, for the next one who uses the Search. maxWork of 0 has no limit, meter may be nil.
func (s *Search) Begin(maxWork int64, meter Meter) {
	s.Work, s.told, s.MaxWork, s.Meter = 0, 0, maxWork, meter
}

// relax goes on from the end of a label's arc.
func (s *Search) relax(at int32) {
	from := s.labels[at]
	cost, seconds := from.Cost, from.Time
	var arc *Arc
	if from.Parent < 0 {
		arc = &s.sources[from.rivalParent]
	} else {
		arc = s.arc(from.Arc)
		cost += s.costs.Arc(arc)
		seconds += float64(arc.Duration) / 1000
	}
	rest := s.aim.rest(&arc.Head)
	words, back, n := s.graph.turnWords(from.Arc, arc)
	own := arc.own()
	s.Work += int64(max(0, n-usualTurns))
	goesOn, mine := false, uint32(s.graph.mode)<<turnModes
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
			goesOn = true
		case !goesOn: // it is the last turn
			to += s.costs.DeadEnd
		case s.costs.TurnBack == 0:
			continue
		default:
			to += s.costs.TurnBack
		}
		if turn.Enters {
			to += s.costs.Enter
		}
		if to+rest > s.Limit {
			continue
		}
		place, found := s.find(turn.To)
		if !found {
			s.insert(place, Label{Arc: turn.To, Parent: at, Source: from.Source, Cost: to, Time: seconds,
				Target: noTarget, rival: noRival})
			s.heap.Push(to+rest, int32(len(s.labels)-1))
			continue
		}
		l := &s.labels[s.table[place]]
		if to >= l.Cost {
			if float32(to) < l.rival {
				l.rival, l.rivalParent = float32(to), at
			}
		} else {
			l.rival, l.rivalParent = float32(l.Cost), l.Parent
			l.Cost, l.Time, l.Parent, l.Source = to, seconds, at, from.Source
			s.heap.Push(to+rest, s.table[place])
		}
	}
}
