package guidance

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// junction is the place between two states of the path.
type junction struct {
	roads   []road
	in, out int // the roads by which the path comes, and goes. A path that turns back goes by the road of its arrival
	maneuver
}

// road is a road at a junction, as the arc that leaves it.
type road struct {
	roadgraph.Leaving
	allowed bool    // whether there is a turn into it
	degrees int     // the bearing, 0 to 359
	angle   float64 // of the turn into it, degrees to the right, more than -180 to 180
}

func (j *junction) from() *road { return &j.roads[j.in] }
func (j *junction) to() *road   { return &j.roads[j.out] }

// survey finds the roads at all junctions.
func (d *describer) survey() {
	p, n := d.path, len(d.path.States)
	d.at, d.roads, d.lengths = append(d.at[:0], junction{}), d.roads[:0], d.lengths[:0]
	for i, state := range p.States {
		a := d.Arc(state)
		metres := float64(a.Length) / 1000
		if i == 0 || i == n-1 {
			metres = length(p.Line[p.First[i] : p.First[i+1]+1])
		}
		d.lengths = append(d.lengths, metres)
		if i < n-1 {
			d.meet(state, p.States[i+1], &a)
		}
	}
	// The junctions get their roads only now: while these grew, they moved.
	end := len(d.roads)
	for i := n - 1; i > 0; i-- {
		first := end - d.at[i].count
		d.at[i].roads = d.roads[first:end:end]
		end = first
	}
}

// meet adds the junction of two states, given the arc of the first one.
func (d *describer) meet(from, to uint32, arc *roadgraph.Arc) {
	in, out := arc.Number^1, d.ArcOf(to)
	first := len(d.roads)
	d.turns = d.Turns(from, d.turns[:0])
	two := d.onlyTwo(arc.Number, out)
	for _, l := range d.junctions.Meeting(d.Graph, arc.Head) {
		if !two || l.Arc == in || l.Arc == out {
			d.roads = append(d.roads, road{Leaving: l})
		}
	}
	roads := d.roads[first:]
	heading := 0.0
	for i := range roads {
		r := &roads[i]
		r.degrees = rounded(float64(r.Bearing))
		if r.Arc == in {
			heading = float64(r.Bearing) + 180
		}
		for _, t := range d.turns {
			r.allowed = r.allowed || t.To == r.Arc || d.ArcOf(t.To) == r.Arc
		}
		for k := first + i; k > first && d.roads[k].degrees < d.roads[k-1].degrees; k-- {
			d.roads[k], d.roads[k-1] = d.roads[k-1], d.roads[k]
		}
	}
	j := junction{maneuver: maneuver{count: len(roads)}}
	for i := range roads {
		r := &roads[i]
		r.angle = turned(heading, float64(r.Bearing))
		if r.Arc == in {
			j.in = i
		}
		if r.Arc == out {
			j.out = i
		}
	}
	d.at = append(d.at, j)
}

// onlyTwo reports whether an edge ends only because a property of the road changes, so that the only turn there leads
// on. Such a turn has angle 0, which it shares with few turns where other roads arrive. These would only be shown.
func (d *describer) onlyTwo(from, to uint32) bool {
	n := len(d.turns)
	if n == 2 && d.turns[1].Angle == roadgraph.TurningBack {
		n = 1
	}
	if n != 1 || d.turns[0].Angle != 0 || d.ArcOf(d.turns[0].To) != to {
		return false
	}
	before, _ := d.RoadAt(from, true)
	after, _ := d.RoadAt(to, false)
	return before != after && (d.Traits(from>>1).Flags^d.Traits(to>>1).Flags)&roadgraph.Link == 0 // ramps merge
}

// rounded returns a bearing in whole degrees, 0 to 359.
func rounded(bearing float64) int { return int(math.Round(bearing)) % 360 }

// turnTo returns the turn from the road by which a path comes to another one, as turned does.
func (r *road) turnTo(o *road) float64 { return turned(float64(r.Bearing)+180, float64(o.Bearing)) }

// turned returns the turn from one bearing to another in degrees to the right, more than -180 to 180. They are less
// than 720 apart.
func turned(from, to float64) float64 {
	by := to - from
	for by > 180 {
		by -= 360
	}
	for by <= -180 {
		by += 360
	}
	return by
}

// is reports whether a road has a flag.
func (r *road) is(f roadgraph.Flags) bool { return r.Flags.Has(f) }

// arrives reports whether the road may be travelled towards the junction.
func (r *road) arrives() bool {
	if r.Arc&1 == 0 {
		return r.is(roadgraph.Backward)
	}
	return r.is(roadgraph.Forward)
}

// leaves reports whether the road may be travelled away from the junction.
func (r *road) leaves() bool {
	if r.Arc&1 == 0 {
		return r.is(roadgraph.Forward)
	}
	return r.is(roadgraph.Backward)
}

// sameName reports whether two roads have the same name or, without names, the same number.
func (r *road) sameName(o *road) bool {
	return r.Name == o.Name && (r.Name != 0 || r.Ref != 0 && r.Ref == o.Ref)
}

// isHighway reports whether a road is one that ramps lead to.
func (r *road) isHighway() bool { return r.Class <= region.Trunk && !r.is(roadgraph.Link) }

// length returns metres.
func length(line orb.LineString) (metres float64) {
	for i := 1; i < len(line); i++ {
		metres += geo.Distance(line[i-1][1], line[i-1][0], line[i][1], line[i][0])
	}
	return metres
}

// bearing returns the direction of a line at its beginning, in degrees clockwise from north; backward at its end,
// back along the line. It is 0 for a line without length.
func bearing(line orb.LineString, backward bool) float64 {
	at := func(i int) orb.Point {
		if backward {
			return line[len(line)-1-i]
		}
		return line[i]
	}
	from := at(0)
	metres := 0.0
	for i := 1; i < len(line); i++ {
		to := at(i)
		if metres += length(orb.LineString{at(i - 1), to}); metres < roadgraph.Ahead && i < len(line)-1 {
			continue
		}
		east := geo.LongitudeDegrees(to[0]-from[0]) * math.Cos(from[1]*math.Pi/180)
		return math.Mod(math.Atan2(east, to[1]-from[1])*180/math.Pi+360, 360)
	}
	return 0
}
