package geocoding

import (
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
