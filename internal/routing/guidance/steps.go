package guidance

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// steps makes the steps of the maneuvers.
func (d *describer) steps() []Step {
	n := len(d.path.States)
	count, roads := 2, 2
	for i := range d.at {
		if d.at[i].kind != "" {
			count++
		}
		roads += len(d.at[i].roads)
	}
	d.at[0] = d.end(bearing(d.path.Line[d.path.First[0]:d.path.First[n]+1], false), 0)
	d.at[0].in = -1
	o := output{make([]Step, 0, count), make([]Intersection, 0, n+1), make([]int, 0, roads), make([]bool, 0, roads)}
	for i := 0; i < n; {
		next := i + 1
		for next < n && d.at[next].kind == "" {
			next++
		}
		d.step(&o, i, next)
		i = next
	}
	d.arrival(&o)
	return o.steps
}

// output has the memory of all steps: their parts are parts of few slices.
type output struct {
	steps         []Step
	intersections []Intersection
	bearings      []int
	entry         []bool
}

// end returns an end of the path as a junction with a single road.
func (d *describer) end(bearing float64, state int) junction {
	return junction{roads: []road{{degrees: rounded(bearing), allowed: true,
		Leaving: roadgraph.Leaving{Traits: d.traits(state)}}}}
}

// step adds the step from state i until state next.
func (d *describer) step(o *output, i, next int) {
	p, j := d.path, &d.at[i]
	s := Step{First: p.First[i], Last: p.First[next], LeftDriving: d.LeftDriving, Mode: d.modeOf(i, next),
		Maneuver: Maneuver{Type: j.kind, Modifier: directions[j.modifier], Exit: j.exit, BearingAfter: j.to().degrees}}
	if i == 0 {
		s.Maneuver.Type = depart
	} else {
		s.Maneuver.BearingBefore = (j.from().degrees + 180) % 360
	}
	for k := i; k < next; k++ {
		s.Distance += d.lengths[k]
		s.Duration += p.Durations[k]
	}
	first := len(o.intersections)
	for k := i; k < next; k++ {
		if k == i || len(d.at[k].roads) > 2 {
			o.add(p.First[k], &d.at[k], classesOf(d.at[k].to().Traits), d.lanesAt(k))
		}
	}
	s.Intersections = o.intersections[first:len(o.intersections):len(o.intersections)]
	way := d.nameStep(&s, i, next)
	s.Instruction = d.instruct(&s, j, way)
	o.steps = append(o.steps, s)
}

// arrival adds the last step.
func (d *describer) arrival(o *output) {
	p, n := d.path, len(d.path.States)
	last := p.First[n]
	line := p.Line[p.First[0] : last+1]
	j := d.end(bearing(line, true), n-1)
	j.out = -1
	heading := (j.from().degrees + 180) % 360
	s := Step{First: last, Last: last, Mode: d.modeOf(n-1, n), LeftDriving: d.LeftDriving,
		Maneuver: Maneuver{Type: arrive, BearingBefore: heading}}
	d.nameStep(&s, n-1, n)
	at := line[len(line)-1]
	if to := d.Destination; to != (orb.Point{}) && length(orb.LineString{at, to}) >= beside {
		j.modifier = left
		if turned(float64(heading), bearing(orb.LineString{at, to}, false)) > 0 {
			j.modifier = right
		}
		s.Maneuver.Modifier = directions[j.modifier]
	}
	o.add(last, &j, nil, nil)
	s.Intersections = o.intersections[len(o.intersections)-1:]
	s.Instruction = d.instruct(&s, &j, "")
	o.steps = append(o.steps, s)
}

// add adds an intersection.
func (o *output) add(index int, j *junction, classes []string, lanes []Lane) {
	first := len(o.bearings)
	for i := range j.roads {
		o.bearings = append(o.bearings, j.roads[i].degrees)
		o.entry = append(o.entry, j.roads[i].allowed)
	}
	end := len(o.bearings)
	o.intersections = append(o.intersections, Intersection{Index: index, In: j.in, Out: j.out, Lanes: lanes,
		Bearings: o.bearings[first:end:end], Entry: o.entry[first:end:end], Classes: classes})
}

// modeOf returns how the states from i until next are travelled.
func (d *describer) modeOf(i, next int) Mode {
	if !d.traits(i).Flags.Has(roadgraph.Ferry) {
		return d.Mode
	}
	// Shuttle trains have the class of ferries, but only they go through tunnels.
	for _, state := range d.path.States[i:next] {
		if d.Traits(d.ArcOf(state) >> 1).Flags.Has(roadgraph.Tunnel) {
			return OnTrain
		}
	}
	return OnFerry
}

// classes are all lists of classes. The bits of an index say which ones a list has.
var classes = func() (all [16][]string) {
	for i := range all {
		for k, name := range [...]string{"toll", "ferry", "motorway", "tunnel"} {
			if i>>k&1 == 1 {
				all[i] = append(all[i], name)
			}
		}
	}
	return all
}()

// classesOf returns the classes of a road. Callers do not change them.
func classesOf(t roadgraph.Traits) []string {
	i := 0
	for k, is := range [...]bool{t.Flags.Has(roadgraph.Toll), t.Flags.Has(roadgraph.Ferry), t.Class == region.Motorway,
		t.Flags.Has(roadgraph.Tunnel)} {
		if is {
			i |= 1 << k
		}
	}
	return classes[i]
}
