package photon

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

const (
	// maxLimit is the largest number of objects that Photon gives unless it is started with another -max-reverse-results
	// (config/ApiServerConfig.java). It gives fewer where it may, without a word.
	maxLimit = 50
	// spare is how many objects are asked for in place of each one that is wanted: some have no name, or are areas that
	// count only where a category asks for them.
	spare = 10
	// minRadius is the smallest radius that is asked for, in metres. Photon refuses 0 (query/ReverseRequestFactory.java),
	// to which a smaller one would be rounded, and takes any up to 5,000 km.
	minRadius = 1
	// settlementRadius is how far the settlement may be that is the response where nothing is near, in metres.
	settlementRadius = 30_000
	// maxTags bounds the part of an address that filters, in bytes.
	maxTags = 4096
)

// tagsOf returns the part of a query that makes Photon look only for objects whose key or value is one of the terms,
// and whether there is a filter. It is written "key" or ":value" (searcher/TagFilter.java), and any of several will do
// (opensearch/OsmTagFilter.java). Terms that cannot be written so leave the filter to be applied to the response, as
// does a very long list.
func tagsOf(terms []string) (query string, asked bool) {
	var q strings.Builder
	exact := true
	for _, term := range terms {
		term = strings.ToLower(strings.TrimSpace(term))
		if term == "" {
			continue
		}
		asked = true
		if strings.ContainsAny(term, ":!,") {
			exact = false
		}
		term = url.QueryEscape(term)
		q.WriteString("&osm_tag=" + term + "&osm_tag=%3A" + term)
	}
	if !exact || q.Len() > maxTags {
		return "", asked
	}
	return q.String(), asked
}

// query returns the query for what is near.
func (g *Geocoder) query(req *geocoding.Request, tags string) string {
	radius := req.MaxDistance
	if !(radius > 0) {
		radius = geocoding.DefaultMaxDistance
	}
	return g.at(req, radius, min(max(req.Size, geocoding.MinSize)*spare, maxLimit)) + tags
}

// settlementQuery returns the query for the nearest settlements: what is between a quarter and a city in an address
// (nominatim/model/AddressType.java).
func (g *Geocoder) settlementQuery(req *geocoding.Request) string {
	return g.at(req, settlementRadius, spare) + "&layer=locality&layer=district&layer=city"
}

// at returns a query for so many objects within some metres, the nearest. Photon 0.7.0 gives any of them unless it is
// told to sort by distance; before and after, that is the default (CHANGELOG.md).
func (g *Geocoder) at(req *geocoding.Request, radius float64, limit int) string {
	const (
		coordinateDecimals = 7 // of OpenStreetMap
		metresPerKilometre = 1000
	)
	q := make([]byte, 0, 128)
	q = append(q, "lat="...)
	q = text.AppendRounded(q, req.Point[1], coordinateDecimals)
	q = append(q, "&lon="...)
	q = text.AppendRounded(q, req.Point[0], coordinateDecimals)
	q = append(q, "&radius="...)
	q = text.AppendRounded(q, max(radius, minRadius)/metresPerKilometre, coordinateDecimals)
	q = append(q, "&limit="...)
	q = strconv.AppendInt(q, int64(limit), 10)
	q = append(q, "&distance_sort=true"...)
	if g.Geometry != nil && *g.Geometry {
		q = append(q, "&geometry=true"...)
	}
	return string(q)
}
