package routing

import (
	"context"
	"math"
	"slices"
)

// Table implements Router. A backward search from each destination leaves its costs in buckets at the arcs that it
// settles, and a forward search from each source collects them (Knopp, Sanders, Schultes, Schulz, Wagner 2007,
// "Computing Many-to-Many Shortest Paths Using Highway Hierarchies"). Each of these searches takes the largest cells
// without its own end. Both settle an arc of the fastest route: where it leaves the largest cell that has only the
// source.
func (e *Engine) Table(ctx context.Context, req *TableRequest) (t *Table, err error) {
	err = e.work(ctx, &req.Costs, req.Distances, req.Meter, func(_ *network, m *metric, w *worker) error {
		t, err = w.table(m, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// buckets are the costs from arcs to destinations.
type buckets struct {
	numbers labels // of arcs: the cost of a label is the number of the bucket
	first   []uint32
	found   []bucketEntry
	entries []bucketEntry // by bucket
}

type bucketEntry struct {
	bucket, target uint32
	cost           Cost
	length         uint32
}

func (w *worker) table(m *metric, req *TableRequest) (*Table, error) {
	places, _, err := w.places(m, slices.Concat(req.Sources, req.Destinations), true)
	if err != nil {
		return nil, err
	}
	sources, targets := places[:len(req.Sources)], places[len(req.Sources):]
	t := &Table{Sources: snappedAll(m, sources), Destinations: snappedAll(m, targets)}
	s, b := &w.search, &w.buckets
	s.bound = noWay
	if err := s.fill(b, targets); err != nil {
		return nil, err
	}
	costs, lengths := make([]Cost, len(targets)), make([]uint32, len(targets))
	for i := range sources {
		for k := range costs {
			costs[k], lengths[k] = noWay, 0
		}
		if err := s.collect(b, &sources[i], targets, costs, lengths); err != nil {
			return nil, err
		}
		if req.Durations {
			t.Durations = append(t.Durations, values(costs, func(k int) float64 { return seconds(costs[k]) }))
		}
		if req.Distances {
			t.Distances = append(t.Distances, values(costs, func(k int) float64 { return float64(lengths[k]) / 100 }))
		}
	}
	return t, nil
}

func snappedAll(m *metric, places []place) []Snapped {
	all := make([]Snapped, len(places))
	for i := range places {
		all[i] = places[i].snapped(m.Graph)
	}
	return all
}

func values(costs []Cost, value func(k int) float64) []float64 {
	row := make([]float64, len(costs))
	for k := range costs {
		if row[k] = math.NaN(); costs[k] != noWay {
			row[k] = value(k)
		}
	}
	return row
}

// fill searches backward from all destinations.
func (s *Search) fill(b *buckets, targets []place) error {
	b.numbers.reset(s.m.boundary.Len())
	b.found, b.first = b.found[:0], append(b.first[:0], 0)
	h := &s.target
	h.keep = true
	defer func() { h.keep = false }()
	for k := range targets {
		if err := s.exhaust(h, true, targets[k].to); err != nil {
			return err
		}
		for _, arc := range h.arcs {
			n := b.numbers.at(arc)
			if n.cost == noWay {
				n.cost = Cost(len(b.first) - 1)
				b.first = append(b.first, 0)
			}
			b.first[n.cost+1]++
			l := h.labels.at(arc)
			b.found = append(b.found, bucketEntry{n.cost, uint32(k), l.cost, l.length})
		}
	}
	for i := 1; i < len(b.first); i++ {
		b.first[i] += b.first[i-1]
	}
	b.entries = slices.Grow(b.entries[:0], len(b.found))[:len(b.found)]
	next := slices.Clone(b.first)
	for _, e := range b.found {
		b.entries[next[e.bucket]] = e
		next[e.bucket]++
	}
	return nil
}

// exhaust searches from ends as far as the network goes.
func (s *Search) exhaust(h *half, reverse bool, ends []end) error {
	if err := s.begin(h, reverse, ends); err != nil {
		return err
	}
	for len(h.heap) > 0 {
		if s.settle(h, h) != noState {
			if err := s.spend(1); err != nil {
				return err
			}
		}
	}
	return nil
}

// collect searches forward from a source, and finds the costs to all destinations.
func (s *Search) collect(b *buckets, source *place, targets []place, costs []Cost, lengths []uint32) error {
	h := &s.origin
	h.keep = true
	defer func() { h.keep = false }()
	if err := s.exhaust(h, false, source.from); err != nil {
		return err
	}
	for _, arc := range h.arcs {
		n := b.numbers.at(arc).cost
		if n == noWay {
			continue
		}
		l := h.labels.at(arc)
		entries := b.entries[b.first[n]:b.first[n+1]]
		for i := range entries {
			e := &entries[i]
			if cost := l.cost + e.cost; cost < costs[e.target] {
				costs[e.target], lengths[e.target] = cost, l.length+e.length
			}
		}
	}
	for k := range targets {
		for i := range source.from {
			for j := range targets[k].to {
				to := &targets[k].to[j]
				if cost, direct := s.inside(i, to); cost < costs[k] {
					costs[k], lengths[k] = cost, s.lengthInside(i, to, direct)
				}
			}
		}
	}
	return nil
}

// lengthInside returns the length in centimetres of the route that inside finds.
func (s *Search) lengthInside(origin int, t *end, direct bool) uint32 {
	c, l, o := s.origin.leaves[origin], &s.origin.local[origin], &s.origin.ends[origin]
	at, _ := c.find(t.state)
	if direct {
		return centimetres(uint64(o.length + t.length - min(c.lengths[at], o.length+t.length)))
	}
	return c.lengthTo(l.before, at, o.length+t.length)
}
