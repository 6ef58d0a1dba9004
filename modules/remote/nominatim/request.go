package nominatim

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// lookup is what Nominatim searches for. Without layers it searches for addresses and points of interest
// (src/nominatim_api/types.py), without a zoom for everything in the layers.
type lookup struct {
	layers string // separated by commas
	zoom   string
}

// The lookups. Nominatim finds the nearest address, street or point of interest of the layers, and larger objects only
// if there is none of these (src/nominatim_api/reverse.py). Unwanted layers hide others, so categories need their own
// lookups. The layer of an object follows from its rank (lib-sql/functions/ranking.sql, settings/address-levels.json):
// nearly everything is a point of interest.
var (
	anyLayer = lookup{}
	// addresses are house numbers and named houses, and streets.
	addresses = lookup{layers: "address"}
	// streets only: zoom 17 excludes house numbers (REVERSE_MAX_RANKS in v1/helpers.py).
	streets = lookup{layers: "address", zoom: "17"}
	// settlements are places and administrative areas, and nothing smaller.
	settlements = lookup{layers: "address", zoom: "15"}
	poi         = lookup{layers: "poi"}
	railway     = lookup{layers: "poi,railway"}
	natural     = lookup{layers: "natural"} // with waterways; trees and the like are points of interest
	manmade     = lookup{layers: "manmade"} // all other objects, such as parks
	features    = lookup{layers: "manmade,natural,railway"}
)

// maxLookups is the largest number of lookups for one filter. It leaves one retry to the default of max_calls.
const maxLookups = 3

// The lookups for keys, and for values of settlements. Any other term is the value of an unknown key.
var (
	ofPOI        = []lookup{poi}
	ofSettlement = []lookup{settlements}

	lookupsByTerm = map[string][]lookup{
		"amenity": ofPOI, "shop": ofPOI, "tourism": ofPOI, "office": ofPOI, "craft": ofPOI, "historic": ofPOI,
		"leisure": {poi, manmade}, "railway": {railway}, "natural": {natural, poi}, "waterway": {natural},
		"highway": {streets, poi}, "building": {addresses},
		"place": {settlements, addresses, manmade}, "boundary": {settlements, manmade},
		"landuse": {settlements, manmade},
		"city":    ofSettlement, "town": ofSettlement, "village": ofSettlement, "hamlet": ofSettlement,
		"suburb": ofSettlement, "neighbourhood": ofSettlement,
	}
	ofValue = []lookup{poi, features, streets}
)

// lookupsOf returns the lookups for the terms of a filter, in the order of the terms; none without a filter.
func lookupsOf(terms []string) (lookups []lookup) {
	for _, term := range terms {
		term = strings.ToLower(strings.TrimSpace(term))
		if term == "" {
			continue
		}
		of, known := lookupsByTerm[term]
		if !known {
			of = ofValue
		}
		for _, q := range of {
			if len(lookups) < maxLookups && !slices.Contains(lookups, q) {
				lookups = append(lookups, q)
			}
		}
	}
	return lookups
}

// query returns the query of a request to Nominatim.
func (g *Geocoder) query(req *geocoding.Request, l lookup) string {
	const coordinateDecimals = 7 // of OpenStreetMap
	q := make([]byte, 0, 160)
	q = append(q, "format=jsonv2&lat="...)
	q = text.AppendRounded(q, req.Point[1], coordinateDecimals)
	q = append(q, "&lon="...)
	q = text.AppendRounded(q, req.Point[0], coordinateDecimals)
	q = append(q, "&addressdetails=1&extratags=1"...)
	if g.Geometry == nil || *g.Geometry {
		q = append(q, "&polygon_geojson=1"...)
	}
	if l.layers != "" {
		q = append(append(q, "&layer="...), l.layers...)
	}
	if l.zoom != "" {
		q = append(append(q, "&zoom="...), l.zoom...)
	}
	return string(q)
}

// searchQuery returns the query of a search. Nominatim filters no categories, so more results are requested with some.
// Without a box, it prefers results in a view around the position.
func searchQuery(q *geocoding.Query) string {
	limit, box, bounded := q.Limit, "", ""
	if len(q.Categories) > 0 || q.Keep != nil {
		limit = maxLimit
	}
	if b := q.Bound; b != nil && b.Min[0] < b.Max[0] && b.Min[1] < b.Max[1] { // it knows no box across the antimeridian
		box, bounded = fmt.Sprintf("&viewbox=%g,%g,%g,%g", b.Min[0], b.Min[1], b.Max[0], b.Max[1]), "&bounded=1"
	} else if p := q.Near; p != nil {
		half := 360 / math.Exp2(cmp.Or(q.Zoom, geocoding.DefaultZoom)) // a view is some tiles wide
		box = fmt.Sprintf("&viewbox=%.6f,%.6f,%.6f,%.6f", max(p[0]-half, -180), max(p[1]-half, -90),
			min(p[0]+half, 180), min(p[1]+half, 90))
	}
	query := fmt.Sprint("format=jsonv2&addressdetails=1&extratags=1&limit=", limit, "&q=", url.QueryEscape(q.Text), box,
		bounded)
	before := "&countrycodes="
	for _, code := range q.Countries {
		c, _ := country.ByAlpha3(code)
		query += before + strings.ToLower(c.Alpha2)
		before = ","
	}
	return query
}

// languages returns BCP 47 tags that Nominatim can read. It ignores a language with a digit
// (from_accept_languages in src/nominatim_api/localization/base.py), so "es-419" becomes "es".
func languages(tags []string) []string {
	read := make([]string, len(tags))
	for i, tag := range tags {
		if digit := strings.IndexAny(tag, "0123456789"); digit >= 0 {
			tag = tag[:max(strings.LastIndexByte(tag[:digit], '-'), 0)]
		}
		read[i] = tag
	}
	return slices.DeleteFunc(read, func(tag string) bool { return tag == "" })
}
