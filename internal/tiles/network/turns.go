package network

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// end is the beginning or the end of an arc.
type end struct {
	lat, lon int32 // 1e-7 degrees
	arc      uint32
	arrives  bool // the arc ends here
	way      int64
	at       orb.Point // on the grid of the tile
}

// addEnds notes the ends of the edge whose shape is at hand, as far as they are in the tile.
func (b *builder) addEnds(number uint32, s *roadgraph.Edge) {
	last := len(b.shape) - 1
	for _, side := range []struct {
		point, way        *roadgraph.Point
		leaving, arriving uint32
		leave, arrive     roadgraph.Flags
	}{
		{&b.shape[0], &b.shape[0], 2 * number, 2*number + 1, roadgraph.Forward, roadgraph.Backward},
		{&b.shape[last], &b.shape[last-1], 2*number + 1, 2 * number, roadgraph.Backward, roadgraph.Forward},
	} {
		at, _ := b.tile.at(side.point, b.tile.middle())
		if at = round(at); !b.tile.bound().Contains(at) {
			continue
		}
		e := end{lat: side.point.Lat, lon: side.point.Lon, way: b.graph.Way(side.way.Road), at: at}
		if s.Flags.Has(side.leave) {
			e.arc, e.arrives = side.leaving, false
			b.ends = append(b.ends, e)
		}
		if s.Flags.Has(side.arrive) {
			e.arc, e.arrives = side.arriving, true
			b.ends = append(b.ends, e)
		}
	}
}

// forbiddenTurns adds the turns that the graph does not have, from the arcs that end at a junction to those that begin
// there. The graph does not say why: a sign, or a barrier. It has no junction ids; arc ends are grouped by position.
// Two junctions at one position are merged, and turns between them are reported as forbidden.
func (b *builder) forbiddenTurns(meter roadgraph.Meter) error {
	slices.SortFunc(b.ends, func(p, q end) int {
		return cmp.Or(cmp.Compare(p.lat, q.lat), cmp.Compare(p.lon, q.lon), cmp.Compare(p.arc, q.arc))
	})
	for ends := b.ends; len(ends) > 0; {
		n := 1
		for n < len(ends) && ends[n].lat == ends[0].lat && ends[n].lon == ends[0].lon {
			n++
		}
		for i := range ends[:n] {
			if err := meter.Spend(int64(n)); err != nil {
				return err
			}
			if ends[i].arrives {
				b.forbidden(&ends[i], ends[:n])
			}
		}
		ends = ends[n:]
	}
	return nil
}

// forbidden adds the forbidden turns at the end of an arc, to the ends at the same position.
func (b *builder) forbidden(from *end, there []end) {
	allowed := b.targets(from.arc)
	first, last := b.graph.StatesOf(from.arc)
	for i := range there {
		to := &there[i]
		switch {
		case to.arrives:
		case !slices.Contains(allowed, to.arc):
			b.addTurn(from, to, false)
		default:
			for state := first; state < last; state++ {
				if !slices.Contains(b.targets(state), to.arc) {
					b.addTurn(from, to, true)
					break
				}
			}
		}
	}
}

// targets returns the arcs that the turns of a state lead to.
func (b *builder) targets(state uint32) (targets []uint32) {
	for _, turn := range b.graph.Turns(state, nil) {
		targets = append(targets, b.graph.ArcOf(turn.To))
	}
	return targets
}

func (b *builder) addTurn(from, to *end, via bool) {
	f := &geojson.Feature{Geometry: from.at, Properties: geojson.Properties{"from": from.way, "to": to.way}}
	if via {
		f.Properties["via"] = true
	}
	b.turns = append(b.turns, f)
}
