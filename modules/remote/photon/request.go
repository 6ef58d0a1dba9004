package photon

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

const (
	// maxLimit is the largest number of objects in a response, unless Photon is started with another -max-reverse-results
	// (config/ApiServerConfig.java). A larger limit is silently reduced.
	maxLimit = 50
	// spare is the number of objects to request per result: some have no name, or are areas that only count with a
	// category.
	spare = 10
	// minRadius is the smallest radius to request, in metres. Photon refuses 0 (query/ReverseRequestFactory.java), to
	// which smaller ones would be rounded, and accepts up to 5,000 km.
	minRadius = 1
	// settlementRadius is the search radius for a settlement if nothing is near, in metres.
	settlementRadius = 30_000
	// maxTags is the longest filter in a query, in bytes.
	maxTags = 4096
)

// tagsOf returns the filter of a query for objects whose key or value is one of the terms, and whether there are terms.
// It consists of "key" and ":value" (searcher/TagFilter.java), of which one must match (opensearch/OsmTagFilter.java).
// If the terms cannot be written so, or are too long, only the response is filtered.
func tagsOf(terms []string) (query string, filtered bool) {
	var q strings.Builder
	exact := true
	for _, term := range terms {
		term = strings.ToLower(strings.TrimSpace(term))
		if term == "" {
			continue
		}
		filtered = true
		if strings.ContainsAny(term, ":!,") {
			exact = false
		}
		term = url.QueryEscape(term)
		q.WriteString("&osm_tag=" + term + "&osm_tag=%3A" + term)
	}
	if !exact || q.Len() > maxTags {
		return "", filtered
	}
	return q.String(), filtered
}

// query returns the query for objects near the position.
func (g *Geocoder) query(req *geocoding.Request, tags string) string {
	radius := req.MaxDistance
	if !(radius > 0) {
		radius = geocoding.DefaultMaxDistance
	}
	return g.at(req, radius, min(max(req.Size, geocoding.MinSize)*spare, maxLimit)) + tags
}

// settlementQuery returns the query for the nearest settlements: the ranks from quarter to city
// (nominatim/model/AddressType.java).
func (g *Geocoder) settlementQuery(req *geocoding.Request) string {
	return g.at(req, settlementRadius, spare) + "&layer=locality&layer=district&layer=city"
}

// at returns a query for the nearest objects within a radius in metres. Photon 0.7.0 only sorts by distance if the
// query says so; in other versions that is the default (CHANGELOG.md).
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

// searchQuery returns the query of a search. Photon drops duplicates and results without a name after it has counted,
// so more are requested. Older versions refuse a filter of countries, which is applied to the response only.
func searchQuery(q *geocoding.Query) string {
	tags, filtered := tagsOf(q.Categories)
	limit := min(q.Limit+spare, maxLimit)
	if len(q.Countries) > 0 || q.Keep != nil || filtered && tags == "" {
		limit = maxLimit
	}
	query := fmt.Sprint("q=", url.QueryEscape(q.Text), "&limit=", limit)
	if p := q.Near; p != nil {
		query += fmt.Sprintf("&lat=%g&lon=%g&zoom=%.0f", p[1], p[0], cmp.Or(q.Zoom, geocoding.DefaultZoom))
	}
	if b := q.Bound; b != nil && b.Min[0] < b.Max[0] && b.Min[1] < b.Max[1] { // it knows no box across the antimeridian
		query += fmt.Sprintf("&bbox=%g,%g,%g,%g", b.Min[0], b.Min[1], b.Max[0], b.Max[1])
	}
	return query + tags
}
