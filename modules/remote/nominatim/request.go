package nominatim

import (
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// question says where Nominatim is to look for its one object. Without layers it looks for addresses and points of
// interest (src/nominatim_api/types.py), without a level of detail for all that is in the layers.
type question struct {
	layers string // separated by commas
	zoom   string
}

// The questions that Nominatim can be asked. It takes the nearest address, street or point of interest of the layers
// first, and looks for what is larger only where there is none of these (src/nominatim_api/reverse.py). So a layer that
// is not wanted hides the others, and a category needs questions of its own. What is in which layer follows from its
// rank (lib-sql/functions/ranking.sql, settings/address-levels.json): nearly everything is a point of interest.
var (
	whatever = question{}
	// addresses are house numbers and named houses, and streets.
	addresses = question{layers: "address"}
	// streets are those alone: at 17 no house number takes their place (REVERSE_MAX_RANKS in v1/helpers.py).
	streets = question{layers: "address", zoom: "17"}
	// settlements are places and administrative areas, and nothing smaller.
	settlements = question{layers: "address", zoom: "15"}
	poi         = question{layers: "poi"}
	railway     = question{layers: "poi,railway"}
	natural     = question{layers: "natural"} // with waterways; what is as small as a tree is a point of interest
	manmade     = question{layers: "manmade"} // all that is in no other, such as parks and national parks
	features    = question{layers: "manmade,natural,railway"}
)

// maxQuestions is how many questions there are for the terms of one filter. It leaves a retry to the default of
// max_calls.
const maxQuestions = 3

// The questions for keys, and for the values that are settlements. Any other term is taken for the value of a key that
// is not known.
var (
	ofPOI        = []question{poi}
	ofSettlement = []question{settlements}

	questionsByTerm = map[string][]question{
		"amenity": ofPOI, "shop": ofPOI, "tourism": ofPOI, "office": ofPOI, "craft": ofPOI, "historic": ofPOI,
		"leisure": {poi, manmade}, "railway": {railway}, "natural": {natural, poi}, "waterway": {natural},
		"highway": {streets, poi}, "building": {addresses},
		"place": {settlements, addresses, manmade}, "boundary": {settlements, manmade},
		"landuse": {settlements, manmade},
		"city":    ofSettlement, "town": ofSettlement, "village": ofSettlement, "hamlet": ofSettlement,
		"suburb": ofSettlement, "neighbourhood": ofSettlement,
	}
	ofValue = []question{poi, features, streets}
)

// questionsOf returns the questions for the terms of a filter, the first terms first; none without a filter.
func questionsOf(terms []string) (questions []question) {
	for _, term := range terms {
		term = strings.ToLower(strings.TrimSpace(term))
		if term == "" {
			continue
		}
		of, known := questionsByTerm[term]
		if !known {
			of = ofValue
		}
		for _, q := range of {
			if len(questions) < maxQuestions && !slices.Contains(questions, q) {
				questions = append(questions, q)
			}
		}
	}
	return questions
}

// query returns the query of a request to Nominatim.
func (g *Geocoder) query(req *geocoding.Request, ask question) string {
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
	if ask.layers != "" {
		q = append(append(q, "&layer="...), ask.layers...)
	}
	if ask.zoom != "" {
		q = append(append(q, "&zoom="...), ask.zoom...)
	}
	return string(q)
}

// languages returns BCP 47 tags as Nominatim reads them. It passes over a language with a digit in it
// (from_accept_languages in src/nominatim_api/localization/base.py), so "es-419" is asked for as "es".
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
