package geocoding

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// layerOf returns the layer of a feature under one of its categories.
func (x *Index) layerOf(f *feature, d *placefile.Details, key, value []byte) Layer {
	if l, ok := layerOf(string(key), string(value), len(d.Name) == 0, f.IsStreet()); ok {
		return l
	}
	r := x.details(f, placefile.DetailBytes)
	a, _ := f.ReadArea(&r)
	if a.Flags&placefile.AreaIsCountry != 0 {
		return LayerCountry
	}
	layer, best := LayerOther, uint8(0)
	for _, role := range [...]struct {
		rank uint8
		Layer
	}{{a.State, LayerState}, {a.County, LayerCounty}, {a.City, LayerCity}, {a.Suburb, LayerDistrict}} {
		if role.rank != 0 && (best == 0 || role.rank < best) { // lower is better; the larger one of the same rank
			layer, best = role.Layer, role.rank
		}
	}
	return layer
}

// layerOf returns the layer of an object with a category; false for an administrative area, whose layer its country
// tells.
func layerOf(key, value string, nameless, isStreet bool) (l Layer, ok bool) {
	switch {
	case nameless || key == "place" && value == "house":
		return LayerHouse, true
	case isStreet:
		return LayerStreet, true
	case key == "place":
		return layerOfPlace(value), true
	}
	return LayerOther, key != "boundary" || value != "administrative"
}

// layerOfPlace returns the layer of a value of place, as Nominatim and Photon have it.
func layerOfPlace(place string) Layer {
	switch place {
	case "country":
		return LayerCountry
	case "state", "province":
		return LayerState
	case "county", "district":
		return LayerCounty
	case "city", "town", "village", "municipality":
		return LayerCity
	case "borough", "suburb", "hamlet", "croft", "isolated_dwelling", "farm":
		return LayerDistrict
	case "quarter", "neighbourhood", "subdivision", "allotments", "city_block", "locality":
		return LayerLocality
	}
	return LayerOther
}

// bound returns the box of a feature in degrees.
func (f *feature) bound() orb.Bound {
	b := f.box
	if f.Shape() == geometry.Point { // other corners are rounded
		b.MaxX, b.MaxY = b.MinX, b.MinY
	}
	return orb.Bound{Min: geometry.Coord{X: b.MinX, Y: b.MinY}.Point(), Max: geometry.Coord{X: b.MaxX, Y: b.MaxY}.Point()}
}

// parts returns the wanted ones of the places of an address, from small to large.
func (s *search) parts(a *location) []hit {
	// As far as it is, a polygon or the nearest settlement gave the name.
	s.seek(math.Ceil(math.Pi*geometry.EarthRadius), &a.jurisdiction, false)
	s.hits = s.hits[:0]
	parts := [...]uint32{s.around.Feature[placefile.RoleAnswer], a.suburb.feature, a.hamlet.feature, a.city.feature,
		a.county.feature, a.state.feature, a.countryLabel.feature}
	for i, n := range parts {
		if n == 0 || i == 0 && slices.Contains(parts[1:], n) || len(s.hits) == s.size ||
			slices.ContainsFunc(s.hits, func(h hit) bool { return h.feature == n-1 }) {
			continue
		}
		f := s.x.feature(n - 1)
		if h := (hit{match{feature: n - 1, extent: f.Extent}, f}); s.wants(&f) && s.measure(&h) {
			s.hits = append(s.hits, h)
		}
	}
	return s.hits
}

// IsPOI reports whether a feature of LayerOther is a point of interest, such as a shop, rather than a part of nature or
// of a network.
func IsPOI(category, kind string) bool {
	switch category {
	case "amenity", "shop", "tourism", "historic", "office", "craft", "building", "highway", "healthcare", "emergency",
		"club", "aeroway":
		return true
	case "leisure":
		return kind != "park" && kind != "nature_reserve"
	case "railway":
		return kind == "station" || kind == "halt" || kind == "tram_stop" || kind == "subway_entrance"
	}
	return false
}
