package sections

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// nearby finds the settlements that can be the nearest one of some position in a tile, or a part of one.
type nearby struct {
	w       *Writer
	shape   func(feature uint32) geometry.Geometry
	o       geometry.Origin // the middle of the part
	radius  float64         // metres, from the middle to anywhere in the part, and some more
	states  []uint32        // those that its positions may be in
	country [3]byte         // that all of it is in, with one state; zero where a border comes through
	tree    placefile.Tree
	layout  boxtree.Tree
	anyCity bool    // settlements of any city matter
	limit   float64 // haversine
	groups  []group
	found   []neighbour
}

// group is the settlements of a state and a country, of which those beyond a haversine do not matter.
type group struct {
	place placefile.Place
	limit float64
}

// neighbour is a settlement and how far it is from the middle.
type neighbour struct {
	settlement uint32
	metres     float64
	place      placefile.Place
}

// Nearby divides the runs so that each knows the settlements that can be the nearest ones of its positions. It comes
// after the trees of settlements; area and shape tell of a feature.
func (w *Writer) Nearby(area func(feature uint32) (*placefile.Area, float32),
	shape func(feature uint32) geometry.Geometry) error {
	old, q := w.runs.Slice(), nearby{w: w, shape: shape}
	for i, r := range old {
		inside := q.inside(r.Context, area)
		for tile := r.First; tile == r.First || r.Context != 0 && tile < old[i+1].First; tile++ {
			var err error
			if r.Context != 0 {
				r.Near, err = q.list(tile, &inside)
			}
			if n := w.nearby.Len(); tile == r.First || w.nearby.Slice()[n-1].Near != r.Near {
				err = cmp.Or(err, w.nearby.Append(placefile.Run{First: tile, Context: r.Context, Near: r.Near}))
			}
			if err != nil {
				return err
			}
		}
	}
	w.runs, w.nearby = w.nearby, w.runs
	return w.nearby.Free()
}

// inside returns what the areas around all of some tiles say, and notes the states and the country.
func (q *nearby) inside(context uint32, area func(uint32) (*placefile.Area, float32)) (e placefile.Enclosing) {
	var crossing []uint32
	foreign := false
	c := placefile.ReadContext(q.w.contexts.text(uint64(context)))
	for n, contains, more := c.Next(); more; n, contains, more = c.Next() {
		a, extent := area(n)
		if contains {
			e.Add(n, a, extent)
			continue
		}
		if a.State != 0 {
			crossing = append(crossing, n+1)
		}
		foreign = foreign || a.State != 0 || a.Country != ([3]byte{}) && a.Country != e.Code()
	}
	if q.states, q.country = append(crossing, e.Feature[placefile.RoleState]), e.Code(); foreign {
		q.country = [3]byte{}
	}
	return e
}

// divisions is how many parts a tile has from west to east, and from south to north: the smaller the parts, the fewer
// settlements can be nearest.
const divisions = 4

// list writes the settlements for a tile: the cities, the suburbs and the hamlets.
func (q *nearby) list(tile uint32, inside *placefile.Enclosing) (uint32, error) {
	x, y := tile%(1<<placefile.ContextZoom), tile>>placefile.ContextZoom
	if y == 0 || y == 1<<placefile.ContextZoom-1 { // the last rows end at the poles
		return 0, nil
	}
	b := maptile.New(x, y, placefile.ContextZoom).Bound()
	var data []byte
	sure := float64(placefile.MaxCityDistanceUnproven) // that near, no more is asked
	if inside.Feature[placefile.RoleState] != 0 {
		sure = placefile.MaxCityDistance
	}
	for _, c := range [...]struct {
		tree, role int
		reach      float64
	}{{placefile.TreeCities, placefile.RoleCity, placefile.MaxCityDistance},
		{placefile.TreeSuburbs, placefile.RoleSuburb, placefile.MaxSuburbDistance},
		{placefile.TreeHamlets, placefile.RoleHamlet, placefile.MaxSuburbDistance}} {
		var all []neighbour
		certain := false
		if q.tree = q.w.trees[c.tree]; inside.Feature[c.role] == 0 && q.tree.Count > 0 {
			q.layout, q.anyCity = boxtree.New(q.tree.LeafCount()), c.tree == placefile.TreeCities
			q.search(b, c.reach)
			if all = slices.Clone(q.found); len(all) == 1 {
				certain = q.country != [3]byte{} && all[0].metres+q.radius < sure
			} else if len(all) > 1 {
				all, certain = q.parts(b, c.reach, sure)
			}
		}
		slices.SortFunc(all, func(a, b neighbour) int {
			return cmp.Or(cmp.Compare(a.metres, b.metres), cmp.Compare(a.settlement, b.settlement))
		})
		var list []uint32
		for _, n := range all {
			if !slices.Contains(list, n.settlement) {
				list = append(list, n.settlement)
			}
		}
		data = placefile.AppendNearby(data, list, certain && q.anyCity && len(list) == 1)
	}
	at, err := q.w.contexts.string(string(data))
	if at > math.MaxUint32 {
		at = 0
	}
	return uint32(at), err
}

// parts finds the settlements for the parts of a tile, and tells whether each has one that is certain.
func (q *nearby) parts(b orb.Bound, reach, sure float64) (all []neighbour, certain bool) {
	certain = q.country != [3]byte{}
	wide, high := (b.Max[0]-b.Min[0])/divisions, (b.Max[1]-b.Min[1])/divisions
	for i := range divisions * divisions {
		from := orb.Point{b.Min[0] + float64(i%divisions)*wide, b.Min[1] + float64(i/divisions)*high}
		q.search(orb.Bound{Min: from, Max: orb.Point{from[0] + wide, from[1] + high}}, reach)
		all = append(all, q.found...)
		certain = certain && len(q.found) == 1 && q.found[0].metres+q.radius < sure
	}
	return all, certain
}

// search finds the settlements for a part of a tile.
func (q *nearby) search(b orb.Bound, reach float64) {
	middle := geometry.NewCoord(b.Center())
	q.o, q.radius, q.found = geometry.NewOrigin(middle.Point()), 0, q.found[:0]
	for _, corner := range [...]orb.Point{b.Min, b.Max, b.LeftTop(), b.RightBottom()} {
		q.radius = max(q.radius, geometry.Distance(middle, geometry.NewCoord(corner))*1.001+1)
	}
	q.o.LimitTo(reach + q.radius + 1)
	q.limit, q.groups = geometry.HaversineWithin(reach+q.radius), q.groups[:0]
	q.descend(q.layout.Height+1, 0, q.layout.Count[q.layout.Height])
	all := slices.Clone(q.found)
	q.found = slices.DeleteFunc(q.found, func(n neighbour) bool {
		return slices.ContainsFunc(all, func(m neighbour) bool {
			return m.metres+2*q.radius < n.metres && m.place == n.place
		})
	})
}

// descend looks below the nodes from, … of a level, the nearest first.
func (q *nearby) descend(level int, from, to uint32) {
	var boxes [boxtree.Fanout]boxtree.Box
	var near [boxtree.Fanout]geometry.Near
	for i := from; i < to; i++ {
		switch level {
		case 0:
			boxes[i-from] = q.w.settled.Slice()[uint32(q.tree.Items)+i].Box
		case 1:
			boxes[i-from] = q.w.leaves.Slice()[q.tree.Leaves+i].Box
		default:
			boxes[i-from] = q.w.levels.Slice()[q.tree.Levels+q.layout.First[level-1]+i]
		}
	}
	for _, b := range near[:q.o.Nearest(&near, boxes[:to-from], q.limit)] {
		if b.Haversine > q.limit {
			return
		}
		switch i := from + b.Index; level {
		case 0:
			q.look(uint32(q.tree.Items)+i, b.Haversine)
		case 1:
			q.descend(0, i*placefile.Fanout, min((i+1)*placefile.Fanout, q.tree.Count))
		default:
			first, last := q.layout.Children(level-1, i)
			q.descend(level-1, first, last)
		}
	}
}

// look looks at a settlement that is no nearer than a bound.
func (q *nearby) look(n uint32, bound float64) {
	s := &q.w.settled.Slice()[n]
	if s.Place == 0 {
		return
	}
	p := q.w.places[s.Place-1]
	if !slices.Contains(q.states, p.State) || q.country != [3]byte{} && q.country != p.Country {
		return
	}
	if q.anyCity {
		p.City = 0
	}
	i := slices.IndexFunc(q.groups, func(g group) bool { return g.place == p })
	if i < 0 {
		i = len(q.groups)
		q.groups = append(q.groups, group{p, q.limit})
	}
	limit := &q.groups[i].limit
	if bound > *limit {
		return
	}
	g, h := q.shape(s.Feature), 0.
	if !g.Contains(&q.o) {
		if h, _ = g.Closest(&q.o, *limit); h > *limit {
			return
		}
	}
	m := geometry.Metres(h)
	q.found = append(q.found, neighbour{n, m, p})
	*limit = min(*limit, geometry.HaversineWithin(m+2*q.radius))
	if q.anyCity && q.country != [3]byte{} { // there is no other group
		q.limit = *limit
	}
}
