package guidance_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// place is a place on an arc, in metres from its beginning.
type place struct {
	arc uint32
	at  float64
}

// placesAt finds the places where the roads have a node at a position.
func placesAt(g *roadgraph.Graph, p orb.Point) (places []place) {
	for edge := range g.Edges() {
		shape := g.Shape(edge, nil)
		length := float64(shape[len(shape)-1].Offset) / 1000
		for _, q := range shape {
			if l := q.Location(); geo.Distance(l[1], l[0], p[1], p[0]) < 0.1 {
				at := float64(q.Offset) / 1000
				e := g.Edge(edge)
				if e.Flags.Has(roadgraph.Forward) {
					places = append(places, place{2 * edge, at})
				}
				if e.Flags.Has(roadgraph.Backward) {
					places = append(places, place{2*edge + 1, length - at})
				}
			}
		}
	}
	return places
}

// shortest is the states of the shortest way between two places, and where it begins and ends on the first and the
// last one. It fails the test if there is none.
func shortest(tb testing.TB, g *roadgraph.Graph, from, to []place) (states []uint32, first, last float64) {
	tb.Helper()
	var s roadgraph.Search
	s.Reset(g, roadgraph.Costs{PerMetre: 1, TurnBack: 1e6, DeadEnd: 1e6})
	best := math.Inf(1)
	for _, a := range from {
		for _, b := range to {
			if a.arc == b.arc && a.at < b.at && b.at-a.at < best {
				best, states, first, last = b.at-a.at, []uint32{a.arc}, a.at, b.at
			}
		}
		if left := float64(g.Length(a.arc))/1000 - a.at; left > 0 {
			s.AddSource(int32(a.arc), a.arc, left, 0)
		}
	}
	for i, b := range to {
		if b.at > 0 {
			s.AddTarget(int32(i), b.arc)
			for state, end := g.StatesOf(b.arc); state < end; state++ {
				s.AddTarget(int32(i), state)
			}
		}
	}
	for {
		at, ok := s.Next(context.Background())
		if !ok {
			break
		}
		l := *s.Label(at)
		b := to[l.Target]
		if l.Parent < 0 || l.Cost+b.at >= best {
			continue
		}
		best, last = l.Cost+b.at, b.at
		states = states[:0]
		for i := at; i >= 0; i = s.Label(i).Parent {
			states = append(states, s.Label(i).State)
		}
		slices.Reverse(states)
		first = from[slices.IndexFunc(from, func(p place) bool { return int32(p.arc) == l.Source })].at
	}
	if states == nil {
		tb.Fatal("no way between the places")
	}
	return states, first, last
}

// pathOf makes a path of states.
func pathOf(g *roadgraph.Graph, states []uint32, first, last float64) *guidance.Path {
	p := &guidance.Path{States: states}
	for i, state := range states {
		edge, forward := g.EdgeOf(state)
		length := float64(g.Length(state)) / 1000
		from, to := 0.0, length
		if i == 0 {
			from = first
		}
		if i == len(states)-1 {
			to = last
		}
		shape := g.Shape(edge, nil)
		if !forward {
			slices.Reverse(shape)
		}
		add := func(metres float64) {
			if !forward {
				metres = length - metres
			}
			if at := g.At(edge, metres); len(p.Line) == 0 || p.Line[len(p.Line)-1] != at {
				p.Line = append(p.Line, at)
			}
		}
		if i == 0 {
			add(from)
		}
		p.First = append(p.First, len(p.Line)-1)
		for _, q := range shape {
			at := float64(q.Offset) / 1000
			if !forward {
				at = length - at
			}
			if at > from && at < to {
				add(at)
			}
		}
		add(to)
		p.Durations = append(p.Durations, (to-from)/10)
	}
	p.First = append(p.First, len(p.Line)-1)
	return p
}
