package nominatimgeocoder

import (
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/jsontext"
)

// Layers of Nominatim, and the level of detail at which it finds settlements and nothing smaller.
const (
	layerAddress   = "address"
	layerPOI       = "poi"
	layerRailway   = "railway"
	layerNatural   = "natural"
	layerManmade   = "manmade" // all that is in no other
	allLayers      = "address,manmade,natural,poi,railway"
	zoomSettlement = "15"
)

// The layers that objects of a key may be in.
var (
	poiLayers     = []string{layerManmade, layerPOI}
	addressLayers = []string{layerAddress, layerManmade}
	streetLayers  = []string{layerAddress, layerManmade, layerPOI}

	layersByKey = map[string][]string{
		"amenity": poiLayers, "shop": poiLayers, "tourism": poiLayers, "leisure": poiLayers, "historic": poiLayers,
		"office": poiLayers, "craft": poiLayers, "railway": {layerPOI, layerRailway},
		"natural": {layerNatural, layerPOI}, "waterway": {layerNatural, layerPOI},
		"place": addressLayers, "building": addressLayers,
		"highway": streetLayers, "boundary": streetLayers, "landuse": streetLayers,
	}
)

// layersOf returns the layers to look in for the terms of a filter, and whether there is a filter. Without one Nominatim chooses:
// addresses and points of interest. A term that is no key of the table may be a value, of a key that is not known.
func layersOf(terms []string) (layers string, asked bool) {
	var all []string
	for _, term := range terms {
		term = strings.ToLower(strings.TrimSpace(term))
		if term == "" {
			continue
		}
		asked = true
		in, known := layersByKey[term]
		if !known {
			return allLayers, true
		}
		all = append(all, in...)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ","), asked
}

// query returns the query of a request to Nominatim.
func (g *Geocoder) query(req *geocoding.Request, layers, zoom string) string {
	const coordinateDecimals = 7 // of OpenStreetMap
	q := make([]byte, 0, 160)
	q = append(q, "format=jsonv2&lat="...)
	q = jsontext.AppendRounded(q, req.Point[1], coordinateDecimals)
	q = append(q, "&lon="...)
	q = jsontext.AppendRounded(q, req.Point[0], coordinateDecimals)
	q = append(q, "&addressdetails=1&extratags=1"...)
	if g.Geometry == geometryOn {
		q = append(q, "&polygon_geojson=1"...)
	}
	if layers != "" {
		q = append(append(q, "&layer="...), layers...)
	}
	if zoom != "" {
		q = append(append(q, "&zoom="...), zoom...)
	}
	return string(q)
}
