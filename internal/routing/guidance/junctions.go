package guidance

import (
	"cmp"
	"math"
	"slices"

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
	roadgraph.Traits
	degrees int     // the bearing, 0 to 359
	angle   float64 // of the turn into it, degrees to the right, more than -180 to 180
}

func (j *junction) from() *road { return &j.roads[j.in] }
func (j *junction) to() *road   { return &j.roads[j.out] }

// survey finds the roads at all junctions.
func (d *describer) survey() {
	p := d.path
	d.at, d.roads, d.lengths = d.at[:0], d.roads[:0], d.lengths[:0]
	d.at = append(d.at, junction{})
	for i := 1; i < len(p.States); i++ {
		d.meet(p.States[i-1], p.States[i])
	}
	for i, state := range p.States {
		metres := float64(d.Length(state)) / 1000
		if i == 0 || i == len(p.States)-1 {
			metres = length(p.Line[p.First[i] : p.First[i+1]+1])
		}
		d.lengths = append(d.lengths, metres)
	}
	// The junctions get their roads only now: while these grew, they moved.
	end := len(d.roads)
	for i := len(d.at) - 1; i > 0; i-- {
		first := end - d.at[i].count
		d.at[i].roads = d.roads[first:end:end]
		end = first
	}
}

// meet adds the junction of two states.
func (d *describer) meet(from, to uint32) {
	in, out := d.ArcOf(from)^1, d.ArcOf(to)
	first := len(d.roads)
	if d.onlyTwo(from, to) {
		d.leaving = append(d.leaving[:0], roadgraph.Leaving{Arc: in, Bearing: d.junctions.Bearing(d.Graph, in, ahead)},
			roadgraph.Leaving{Arc: out, Bearing: d.junctions.Bearing(d.Graph, out, ahead), Allowed: true})
	} else {
		d.leaving = d.junctions.Meeting(d.Graph, from, ahead, d.leaving[:0])
	}
	heading := 0.0
	for i := range d.leaving {
		l := &d.leaving[i]
		if l.Arc == in {
			heading = l.Bearing + 180
		}
		d.roads = append(d.roads, road{Leaving: *l, Traits: d.Traits(l.Arc >> 1),
			degrees: int(math.Round(l.Bearing)) % 360})
	}
	roads := d.roads[first:]
	slices.SortFunc(roads, func(a, b road) int { return cmp.Or(cmp.Compare(a.degrees, b.degrees), cmp.Compare(a.Arc, b.Arc)) })
	j := junction{maneuver: maneuver{count: len(roads)}}
	for i := range roads {
		r := &roads[i]
		r.angle = turned(heading, r.Bearing)
		if r.Arc == in {
			j.in = i
		}
		if r.Arc == out {
			j.out = i
		}
	}
	d.at = append(d.at, j)
}

// onlyTwo reports whether an edge ends only because a property of the road changes. Such a turn has angle 0, which it
// shares only with a few turns where other roads arrive. They are in the list only to be shown.
func (d *describer) onlyTwo(from, to uint32) bool {
	d.turns = d.Turns(from, d.turns[:0])
	if n := len(d.turns); n == 2 && d.turns[1].Angle == roadgraph.TurningBack {
		d.turns = d.turns[:1]
	}
	if len(d.turns) != 1 || d.turns[0].Angle != 0 || d.turns[0].To != to {
		return false
	}
	before, _ := d.RoadAt(d.ArcOf(from), true)
	after, _ := d.RoadAt(d.ArcOf(to), false)
	return before != after
}

// turned returns the turn from one bearing to another in degrees to the right, more than -180 to 180.
func turned(from, to float64) float64 {
	by := math.Mod(to-from, 360)
	switch {
	case by > 180:
		by -= 360
	case by <= -180:
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

// bearing returns the direction of a line at its beginning, in degrees clockwise from north; backward at its end, back
// along the line. It is 0 for a line without length.
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
		if metres += length(orb.LineString{at(i - 1), to}); metres < ahead && i < len(line)-1 {
			continue
		}
		east := geo.LongitudeDegrees(to[0]-from[0]) * math.Cos(from[1]*math.Pi/180)
		return math.Mod(math.Atan2(east, to[1]-from[1])*180/math.Pi+360, 360)
	}
	return 0
}
