package guidance

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
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

// step adds the step from state i until state next.
func (d *describer) step(o *output, i, next int) {
	p, j := d.path, &d.at[i]
	s := Step{First: p.First[i], Last: p.First[next], LeftDriving: d.LeftDriving, Mode: d.modeOf(i, next)}
	for k := i; k < next; k++ {
		s.Distance += d.lengths[k]
		s.Duration += p.Durations[k]
	}
	first := len(o.intersections)
	if i == 0 {
		out := rounded(bearing(p.Line[p.First[0]:], false))
		s.Maneuver = Maneuver{Type: depart, BearingAfter: out}
		o.add(Intersection{Index: s.First, Out: 0, In: -1, Classes: classesOf(d.traits(0))}, out)
	} else {
		s.Maneuver = Maneuver{Type: j.kind, Modifier: directions[j.modifier], Exit: j.exit,
			BearingBefore: (j.from().degrees + 180) % 360, BearingAfter: j.to().degrees}
	}
	for k := max(i, 1); k < next; k++ {
		if k == i || len(d.at[k].roads) > 2 {
			o.addJunction(p.First[k], &d.at[k], d.lanesAt(k))
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
	back := rounded(bearing(line, true))
	heading := (back + 180) % 360
	s := Step{First: last, Last: last, Mode: d.modeOf(n-1, n), LeftDriving: d.LeftDriving,
		Maneuver: Maneuver{Type: arrive, BearingBefore: heading}}
	d.nameStep(&s, n-1, n)
	if to := d.Destination; to != (orb.Point{}) {
		at := line[len(line)-1]
		if geo.Distance(at[1], at[0], to[1], to[0]) >= beside {
			s.Maneuver.Modifier = directions[left]
			if turned(float64(heading), bearing(orb.LineString{at, to}, false)) > 0 {
				s.Maneuver.Modifier = directions[right]
			}
		}
	}
	first := len(o.intersections)
	o.add(Intersection{Index: last, In: 0, Out: -1}, back)
	s.Intersections = o.intersections[first:]
	s.Instruction = d.instruct(&s, &junction{}, "")
	o.steps = append(o.steps, s)
}

// add adds an intersection with a single road.
func (o *output) add(x Intersection, bearing int) {
	first := len(o.bearings)
	o.bearings, o.entry = append(o.bearings, bearing), append(o.entry, true)
	x.Bearings, x.Entry = o.bearings[first:len(o.bearings):len(o.bearings)], o.entry[first:len(o.entry):len(o.entry)]
	o.intersections = append(o.intersections, x)
}

func (o *output) addJunction(index int, j *junction, lanes []Lane) {
	first := len(o.bearings)
	for i := range j.roads {
		o.bearings = append(o.bearings, j.roads[i].degrees)
		o.entry = append(o.entry, j.roads[i].allowed)
	}
	o.intersections = append(o.intersections, Intersection{Index: index, In: j.in, Out: j.out, Lanes: lanes,
		Bearings: o.bearings[first:len(o.bearings):len(o.bearings)], Entry: o.entry[first:len(o.entry):len(o.entry)],
		Classes: classesOf(j.to().Traits)})
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
