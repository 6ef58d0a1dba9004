package guidance

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// nameStep sets the texts of the step from state i until state next. It returns the name by which drivers know its
// road: the number of a motorway, or else its name.
func (d *describer) nameStep(s *Step, i, next int) (way string) {
	named, signs := i, i
	if i > 0 && d.at[i].kind != "" {
		named, signs = d.at[i].named, d.at[i].signs
		if ring := d.at[i].ring; ring > 0 {
			s.RotaryName = d.Text(d.traits(ring).Name)
		}
	}
	t := d.traits(named)
	for reach := nameReach; t.Name == 0 && t.Ref == 0 && named+1 < next; named++ {
		if reach -= d.lengths[named]; reach < 0 {
			break
		}
		t = d.traits(named + 1)
	}
	s.Name, s.Ref = d.Text(t.Name), spaced(d.Text(t.Ref), "; ")
	number, _, _ := strings.Cut(s.Ref, ";")
	if way = cmp.Or(s.Name, number); t.Class == region.Motorway {
		way = cmp.Or(number, s.Name)
	}
	if s.Mode == Driving && s.Maneuver.Type != arrive {
		d.readSigns(s, d.ArcOf(d.path.States[signs]))
	}
	return way
}

// traits returns the traits of a state's road.
func (d *describer) traits(i int) roadgraph.Traits { return d.Traits(d.ArcOf(d.path.States[i]) >> 1) }

// readSigns reads the signposts at the beginning of an arc.
func (d *describer) readSigns(s *Step, arc uint32) {
	road, along := d.RoadAt(arc, false)
	other := ":forward"
	if along {
		other = ":backward"
	}
	var places, refs string
	for key, value := range d.RawDetails(road) {
		name := strings.TrimSuffix(strings.TrimSuffix(string(key), ":forward"), ":backward")
		if strings.HasSuffix(string(key), other) {
			continue
		}
		switch name {
		case "destination":
			places = spaced(string(value), ", ")
		case "destination:ref":
			refs = spaced(string(value), ", ")
		case "exit_to":
			places = cmp.Or(places, spaced(string(value), ", "))
		case "junction:ref":
			s.Exits = spaced(string(value), "; ")
		}
	}
	if s.Destinations = places; refs != "" {
		s.Destinations = refs
		if places != "" {
			s.Destinations = refs + ": " + places
		}
	}
}

// spaced separates the values of a list as readers expect it.
func spaced(list, separator string) string {
	if !strings.Contains(list, ";") {
		return list
	}
	values := strings.Split(list, ";")
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return strings.Join(values, separator)
}

// Summary names the one to three most important roads of a path, in the order of travel: "Main Street, US 13". It
// reads the region file.
func Summary(g *roadgraph.Graph, p *Path) string {
	type share struct {
		text   uint32
		weight float64
		order  int
	}
	var few [16]share // mostly enough, and not on the heap
	shares, sum := few[:0], 0.0
	for i, state := range p.States {
		t := g.Traits(g.ArcOf(state) >> 1)
		text := cmp.Or(t.Name, t.Ref)
		if t.Class == region.Motorway {
			text = cmp.Or(t.Ref, t.Name)
		}
		sum += p.Durations[i]
		if text == 0 {
			continue
		}
		k := slices.IndexFunc(shares, func(s share) bool { return s.text == text })
		if k < 0 {
			k = len(shares)
			shares = append(shares, share{text: text, order: i})
		}
		shares[k].weight += p.Durations[i]
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Or(cmp.Compare(b.weight, a.weight), a.order-b.order) })
	n := min(len(shares), summaryRoads)
	for n > 1 && shares[n-1].weight < summaryShare*sum {
		n--
	}
	shares = shares[:n]
	slices.SortFunc(shares, func(a, b share) int { return a.order - b.order })
	var names []string
	for _, s := range shares {
		names = append(names, spaced(g.Text(s.text), "; "))
	}
	return strings.Join(names, ", ")
}
