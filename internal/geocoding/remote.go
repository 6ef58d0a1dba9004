package geocoding

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Found is an object that a remote service found. It becomes a Place by the same rules as places of a region.
type Found struct {
	Kind region.Kind
	ID   int64  // of OpenStreetMap
	Name string // if empty, house number and street are used

	// Category and Type are the OSM key and value that the service gives. Tags, if known, are further ones.
	Category, Type string
	Tags           map[string]string

	// Geometry is at least a point.
	Geometry orb.Geometry

	// Bound, if known, is that of the whole object, and Importance is from 0 to 1. Only searches have them.
	Bound      orb.Bound
	Importance float64

	// Address has an alpha-2 country code in any case, or none.
	Address Address
}

// Answer makes a result of what a remote service found: objects with a name or house number that match the request and
// are near enough, nearest first.
func (req *Request) Answer(found []Found) *Result {
	farthest := farthestOf(req.MaxDistance)
	asked := asksFor(req.Categories)
	return req.remoteResult(found, min(max(req.Size, MinSize), MaxSize), func(f *remote) bool {
		return f.centimetres <= farthest && (asked && f.matches(req.Categories) || !asked && f.general())
	})
}

// Answer makes a result of what a remote service found: objects with a name or house number that match the query, in
// the order of the service. A location is the middle of the geometry. There are no scores.
func (q *Query) Answer(found []Found) *Result {
	result := new(Result)
	asked := asksFor(q.Categories)
	seen := make(map[uint64]bool, q.Limit)
	for i := range found {
		f := remote{Found: &found[i]}
		if f.Geometry == nil || !f.present(q.Keep) || asked && !f.matches(q.Categories) || seen[f.ref()] {
			continue
		}
		at := f.Geometry.Bound().Center()
		p := f.place(at)
		if !q.Within(at) || len(q.Countries) > 0 && !slices.Contains(q.Countries, p.Address.CountryCode) {
			continue
		}
		if q.Near != nil {
			p.Distance = math.Round(geo.Distance(q.Near[1], q.Near[0], at[1], at[0])*100) / 100
		}
		seen[f.ref()] = true
		if result.Places = append(result.Places, p); len(result.Places) == q.Limit {
			break
		}
	}
	return result
}

// asksFor reports whether a filter has a term. Blank ones are ignored.
func asksFor(categories []string) bool {
	return slices.ContainsFunc(categories, func(c string) bool { return placefile.Normalize(c) != "" })
}

// Fallback makes the result of a request without categories if no feature is near: the smallest settlement or
// administrative area around the position, else, on land, the nearest settlement.
func (req *Request) Fallback(found []Found) *Result {
	_, land := country.Lookup(req.Point)
	return req.remoteResult(found, 1, func(f *remote) bool {
		return f.Name != "" && (f.centimetres == 0 && f.kind.Key == "place" || f.unit() != unitNone && (land ||
			f.centimetres == 0))
	})
}

// Nameless reports whether no object has a name or a house number, so that none can be an answer.
func Nameless(found []Found) bool {
	return !slices.ContainsFunc(found, func(f Found) bool { return f.title() != "" })
}

// Implausible reports whether the bounds of an object are so much farther away than the metres asked for that the
// remote service must have answered another question.
func (req *Request) Implausible(bound orb.Bound, asked float64) bool {
	const beyond = 1000e3 // metres; places are found far out at sea
	if bound.IsEmpty() {
		return false
	}
	p, lon := req.Point, bound.Left()
	switch {
	case p[0] >= bound.Left() && p[0] <= bound.Right():
		lon = p[0]
	case math.Abs(geo.LongitudeDegrees(p[0]-bound.Right())) < math.Abs(geo.LongitudeDegrees(p[0]-bound.Left())):
		lon = bound.Right()
	}
	for _, lat := range [...]float64{min(max(p[1], bound.Bottom()), bound.Top()), bound.Bottom(), bound.Top()} {
		if geo.Distance(p[1], p[0], lat, lon) <= asked+beyond {
			return false
		}
	}
	return true
}

// title returns the name of an object, or its house number and street.
func (f *Found) title() string {
	if f.Name == "" && f.Address.HouseNumber != "" {
		return strings.TrimSpace(f.Address.HouseNumber + " " + f.Address.Street)
	}
	return f.Name
}

// remote is an object of a remote service with its distance.
type remote struct {
	*Found
	measure
	kinds []placefile.Kind
	kind  placefile.Kind // that it is presented as
}

// remoteResult makes a result of at most size objects that keep accepts.
func (req *Request) remoteResult(found []Found, size int, keep func(*remote) bool) *Result {
	result := new(Result)
	if !geometry.Finite(req.Point) {
		return result
	}
	o := geometry.NewOrigin(req.Point)
	var hits []remote
	for i := range found {
		f := remote{Found: &found[i]}
		var known bool
		if f.measure, known = measureFrom(&o, f.Geometry); known && f.present(req.Keep) && keep(&f) {
			hits = append(hits, f)
		}
	}
	slices.SortStableFunc(hits, func(a, b remote) int {
		return cmp.Or(cmp.Compare(a.centimetres, b.centimetres), cmp.Compare(a.extent, b.extent), cmp.Compare(a.ref(),
			b.ref()))
	})
	seen := make(map[uint64]bool, size)
	for i := range hits {
		if f := &hits[i]; len(result.Places) < size && !seen[f.ref()] {
			seen[f.ref()] = true
			at := req.Point
			if f.at != (geometry.Offset{}) {
				at = o.Location(f.at)
			}
			p := f.place(at)
			p.Distance = f.centimetres / 100
			result.Places = append(result.Places, p)
		}
	}
	return result
}

// present finds the categories of an object, and reports whether it has a title and one of them that is to be kept.
func (f *remote) present(keep func(category, kind string, layer Layer) bool) bool {
	if f.title() == "" || f.Category == "" {
		return false
	}
	f.kinds = placefile.AppendKinds(nil, func(string) string { return f.Type }, []string{f.Category})
	f.kinds = placefile.AppendKinds(f.kinds, func(key string) string { return f.Tags[key] }, placefile.MainKeys)
	for _, f.kind = range f.kinds {
		if keep == nil || keep(f.kind.Key, f.kind.Value, f.layerAs(f.kind)) {
			return true
		}
	}
	return false
}

func (f *Found) ref() uint64 { return placefile.NewRef(f.Kind, f.ID) }

// matches reports whether an object matches a filter, and makes the first matching kind its category.
func (f *remote) matches(categories []string) bool {
	for _, k := range f.kinds {
		for _, c := range categories {
			if c = placefile.Normalize(c); c != "" && (placefile.Normalize(k.Key) == c || placefile.Normalize(k.Value) == c) {
				f.kind = k
				return true
			}
		}
	}
	return false
}

// general reports whether an object is found without a category filter. Areas tagged boundary or place are not, unless
// they have only a house number.
func (f *remote) general() bool {
	if f.Name == "" || !f.isArea() {
		return true
	}
	return !slices.ContainsFunc(f.kinds, func(k placefile.Kind) bool {
		return k.Key == "boundary" || k.Key == "place" && k.Value != "house"
	})
}

// isArea reports whether an object is an area, or a way or relation of which only a point is known.
func (f *remote) isArea() bool {
	switch f.Geometry.(type) {
	case orb.LineString, orb.MultiLineString:
		return false
	case orb.Point:
		return f.Kind != region.KindNode
	}
	return true
}

// unit returns the unit of an object.
func (f *remote) unit() unit {
	switch f.kind.Key {
	case "place":
		return unitOfPlace(f.kind.Value)
	case "boundary":
		if f.kind.Value != "administrative" && f.kind.Value != "census" {
			return unitNone
		}
		// The address of a unit has its own name and those of larger units.
		a := &f.Address
		for _, of := range [...]struct {
			name string
			unit unit
		}{{a.Country, unitCountry}, {a.State, unitState}, {a.City, unitCity}, {a.Suburb, unitSuburb}} {
			if strings.EqualFold(of.name, f.Name) {
				return of.unit
			}
		}
		if a.City == "" {
			return unitCounty
		}
		return unitSuburb
	}
	return unitNone
}

// layerAs returns the layer of an object under one of its kinds.
func (f *remote) layerAs(k placefile.Kind) Layer {
	isStreet := f.Kind != region.KindNode && k.Key == "highway" && placefile.RoadKindOf(k.Value) != placefile.NoStreet
	if l, ok := layerOf(k.Key, k.Value, f.Name == "", isStreet); ok {
		return l
	}
	return [...]Layer{unitNone: LayerOther, unitSuburb: LayerDistrict, unitCity: LayerCity, unitCounty: LayerCounty,
		unitState: LayerState, unitCountry: LayerCountry}[f.unit()]
}

// place makes the Place of an object, without its distance.
func (f *remote) place(at orb.Point) Place {
	p := Place{Name: f.title(), Category: f.kind.Key, Type: f.kind.Value, Location: at, Address: f.Address,
		Bound: f.Bound, Layer: f.layerAs(f.kind), Importance: f.Importance}
	if p.Bound == (orb.Bound{}) {
		p.Bound = f.Geometry.Bound()
	}
	p.Address.Country, p.Address.CountryCode = countryOf(&f.Address, at)
	if p.Layer == LayerStreet {
		p.Address.Street = cmp.Or(f.Address.Street, f.Name)
	}
	var t textBuffer
	id := t.id(f.ref())
	within := f.unit()
	name := t.addString(p.Name)
	display := t.join(name, within.outside(t.addString(f.Address.Suburb), unitSuburb),
		within.outside(t.addString(f.Address.City), unitCity),
		within.outside(t.addString(f.Address.State), unitState), t.addString(p.Address.Country))
	text := string(t.bytes)
	p.ID, p.DisplayName = id.of(text), display.of(text)
	return p
}

// countryOf returns the name and the alpha-3 code of the country of an address: by its alpha-2 code, unless there is a
// territory with a code of its own by the world's borders; else by these borders.
func countryOf(a *Address, p orb.Point) (name, code string) {
	upper := strings.ToUpper(strings.TrimSpace(a.CountryCode))
	c, ok := country.ByAlpha2(upper)
	at, found := country.Lookup(p)
	switch {
	case ok && !(found && at.IsTerritoryOf(upper)):
	case ok:
		return at.Name, at.Code
	default:
		if c, ok = country.LookupOffshore(p); !ok {
			return a.Country, ""
		}
	}
	if a.Country != "" {
		return a.Country, c.Code
	}
	return c.Name, c.Code
}

// measure is the distance and the extent of an object.
type measure struct {
	centimetres float64 // rounded
	extent      float64
	at          geometry.Offset // its point nearest to the origin
}

// measureFrom measures a geometry, of several parts the nearest; false if it is empty.
func measureFrom(o *geometry.Origin, g orb.Geometry) (m measure, ok bool) {
	var parts []orb.Geometry
	switch g := g.(type) {
	case nil:
		return m, false
	case orb.MultiPoint:
		for _, p := range g {
			parts = append(parts, p)
		}
	case orb.MultiLineString:
		for _, l := range g {
			parts = append(parts, l)
		}
	case orb.Collection:
		parts = g
	default:
		shape, ok := geometry.New(g)
		if !ok {
			return m, false
		}
		m.extent = shape.Extent()
		if !shape.Contains(o) {
			var h float64
			h, m.at = shape.Closest(o, math.Inf(1))
			m.centimetres = math.Round(geometry.Metres(h) * 100)
		}
		return m, true
	}
	extent := 0.0
	for _, part := range parts {
		p, known := measureFrom(o, part)
		if !known {
			continue
		}
		extent += p.extent
		if !ok || p.centimetres < m.centimetres {
			m, ok = p, true
		}
	}
	m.extent = extent
	return m, ok
}
