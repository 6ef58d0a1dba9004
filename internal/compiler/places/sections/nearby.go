package sections

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// nearby finds the settlements that can be the nearest one of some position in a tile.
type nearby struct {
	w     *Writer
	area  func(feature uint32) (*placefile.Area, float32)
	shape func(feature uint32) geometry.Geometry
	kinds []kind
	// The areas around all of a tile, the states of its positions, and its country, which is zero if a border crosses it.
	inside  placefile.Enclosing
	states  []uint32
	country [3]byte
}

// kind is settlements of one kind.
type kind struct {
	role  int     // of the areas that replace them
	reach float64 // metres
	index *streets.Index[uint32]
}

// neighbour is a settlement and its distance from the middle of a tile, or of a part of one.
type neighbour struct {
	settlement uint32
	metres     float64
	place      placefile.Place // only settlements with the same are alternatives
	shape      *geometry.Geometry
}

// Nearby adds to each run the settlements that can be the nearest to one of its positions, and divides runs for that.
// It comes after the trees of settlements. area and shape return those of a feature.
func (w *Writer) Nearby(area func(feature uint32) (*placefile.Area, float32),
	shape func(feature uint32) geometry.Geometry) (err error) {
	q := nearby{w: w, area: area, shape: shape}
	for _, k := range [...]struct {
		tree, role int
		reach      float64
	}{{placefile.TreeCities, placefile.RoleCity, placefile.MaxCityDistance},
		{placefile.TreeSuburbs, placefile.RoleSuburb, placefile.MaxSuburbDistance},
		{placefile.TreeHamlets, placefile.RoleHamlet, placefile.MaxSuburbDistance}} {
		x := streets.NewIndex[uint32](w.dir, "nearby-settlements")
		t := w.trees[k.tree]
		for i := uint32(t.Items); i < uint32(t.Items)+t.Count; i++ {
			err = cmp.Or(err, x.Add(i, w.settled.Slice()[i].Box))
		}
		err = cmp.Or(err, x.Seal())
		q.kinds = append(q.kinds, kind{k.role, k.reach, x})
	}
	old := w.runs.Slice()
	for i, r := range old {
		q.enter(r.Context)
		for tile := r.First; tile == r.First || r.Context != 0 && tile < old[i+1].First; tile++ {
			if r.Context != 0 && err == nil {
				r.Near, err = q.list(tile)
			}
			if n := w.nearby.Len(); tile == r.First || w.nearby.Slice()[n-1].Near != r.Near {
				err = cmp.Or(err, w.nearby.Append(placefile.Run{First: tile, Context: r.Context, Near: r.Near}))
			}
			if err != nil {
				return err
			}
		}
	}
	for _, k := range q.kinds {
		err = cmp.Or(err, k.index.Free())
	}
	w.runs, w.nearby = w.nearby, w.runs
	return cmp.Or(err, w.nearby.Free())
}

// enter reads the areas around some tiles.
func (q *nearby) enter(context uint32) {
	q.inside = placefile.Enclosing{}
	q.states = q.states[:0]
	foreign := false
	c := placefile.ReadContext(q.w.contexts.Text(uint64(context)))
	for n, contains, more := c.Next(); more; n, contains, more = c.Next() {
		a, extent := q.area(n)
		if contains {
			q.inside.Add(n, a, extent)
			continue
		}
		if a.State != 0 {
			q.states = append(q.states, n+1)
		}
		foreign = foreign || a.State != 0 || a.Country != ([3]byte{}) && a.Country != q.inside.Code()
	}
	q.states = append(q.states, q.inside.Feature[placefile.RoleState])
	if q.country = q.inside.Code(); foreign {
		q.country = [3]byte{}
	}
}

// divisions is the number of parts of a tile in each direction. In smaller parts, fewer settlements can be nearest.
const divisions = 4

// list writes the settlements for a tile: the cities, the suburbs and the hamlets.
func (q *nearby) list(tile uint32) (uint32, error) {
	x, y := tile%(1<<placefile.ContextZoom), tile>>placefile.ContextZoom
	b := maptile.New(x, y, placefile.ContextZoom).Bound()
	wide := streets.Around(geometry.NewCoord(b.Center()).Box(), 2*placefile.MaxCityDistance)
	if y == 0 || y == 1<<placefile.ContextZoom-1 || // the last rows end at the poles
		wide.MinX == -geometry.HalfTurn || wide.MaxX == geometry.HalfTurn { // the index ends at the antimeridian
		return 0, nil
	}
	var data []byte
	sure := float64(placefile.MaxCityDistanceUnproven) // within which a city is certain
	if q.inside.Feature[placefile.RoleState] != 0 {
		sure = placefile.MaxCityDistance
	}
	for _, k := range q.kinds {
		var list []neighbour
		certain := false
		if q.inside.Feature[k.role] == 0 {
			list, certain = q.search(b, &k, sure)
		}
		slices.SortStableFunc(list, compareNeighbours)
		var numbers []uint32
		for _, n := range list {
			if !slices.Contains(numbers, n.settlement) {
				numbers = append(numbers, n.settlement)
			}
		}
		data = placefile.AppendNearby(data, numbers, certain && k.role == placefile.RoleCity && len(numbers) == 1)
	}
	at, err := q.w.contexts.AddText(string(data))
	if at > math.MaxUint32 {
		at = 0
	}
	return uint32(at), err
}

func compareNeighbours(a, b neighbour) int {
	return cmp.Or(cmp.Compare(a.metres, b.metres), cmp.Compare(a.settlement, b.settlement))
}

// search finds the settlements of a kind for the parts of a tile, and reports whether each part has one that is
// certain.
func (q *nearby) search(b orb.Bound, k *kind, sure float64) (found []neighbour, certain bool) {
	middle, radius := circle(b)
	around := streets.Around(middle.Box(), 1.01*(k.reach+radius))
	var all []neighbour
	k.index.Each(&around, func(n *uint32) {
		s := &q.w.settled.Slice()[*n]
		p := q.w.places[s.Place-1]
		if s.Box.Overlaps(&around) && slices.Contains(q.states, p.State) &&
			(q.country == [3]byte{} || q.country == p.Country) {
			if k.role == placefile.RoleCity { // cities are alternatives to each other
				p.City = 0
			}
			g := q.shape(s.Feature)
			all = append(all, neighbour{settlement: *n, place: p, shape: &g})
		}
	})
	all, radius = nearest(all, b, k.reach)
	if len(all) < 2 {
		return all, len(all) == 1 && q.country != [3]byte{} && all[0].metres+radius < sure
	}
	certain = q.country != [3]byte{}
	wide, high := (b.Max[0]-b.Min[0])/divisions, (b.Max[1]-b.Min[1])/divisions
	for i := range divisions * divisions {
		from := orb.Point{b.Min[0] + float64(i%divisions)*wide, b.Min[1] + float64(i/divisions)*high}
		part, radius := nearest(all, orb.Bound{Min: from, Max: orb.Point{from[0] + wide, from[1] + high}}, k.reach)
		found = append(found, part...)
		certain = certain && len(part) == 1 && part[0].metres+radius < sure
	}
	return found, certain
}

// circle returns the middle of a bound, and slightly more than the greatest distance from there within it, in metres.
func circle(b orb.Bound) (geometry.Coord, float64) {
	middle := geometry.NewCoord(b.Center())
	south, north := geometry.NewCoord(b.Min), geometry.NewCoord(b.LeftTop())
	return middle, max(geometry.Distance(middle, south), geometry.Distance(middle, north))*1.001 + 1
}

// nearest returns the settlements that can be the nearest of their place somewhere in a bound.
func nearest(all []neighbour, b orb.Bound, reach float64) (found []neighbour, radius float64) {
	middle, radius := circle(b)
	o := geometry.NewOrigin(middle.Point())
	o.LimitTo(reach + radius + 1)
	limits := map[placefile.Place]float64{} // haversines beyond which settlements of a place are not needed
	for _, n := range all {
		limit, h := cmp.Or(limits[n.place], geometry.HaversineWithin(reach+radius)), 0.
		if !n.shape.Contains(&o) {
			h, _ = n.shape.Closest(&o, limit)
		}
		if h <= limit {
			n.metres = geometry.Metres(h)
			limits[n.place] = min(limit, geometry.HaversineWithin(n.metres+2*radius))
			found = append(found, n)
		}
	}
	slices.SortFunc(found, compareNeighbours)
	last := 0
	for _, n := range found {
		first := slices.IndexFunc(found, func(m neighbour) bool { return m.place == n.place })
		if n.metres <= found[first].metres+2*radius {
			found[last] = n
			last++
		}
	}
	return found[:last], radius
}
