package geocoding

import (
	"context"

	"github.com/paulmach/orb"
)

// Searcher finds places by text: a local engine or a remote service.
type Searcher interface {
	// Search returns the places that a text may mean, best first. An empty result is not an error.
	Search(ctx context.Context, q *Query) (*Result, error)
}

// Query is one search.
type Query struct {
	// Text is what to find: a name, an address, a category and a place, in any order. At most MaxQuery bytes count.
	Text string
	// Limit is the largest number of results, 1 to MaxLimit.
	Limit int
	// Autocomplete says that the last word may be unfinished.
	Autocomplete bool
	// Near, if set, is where results are most likely wanted (lon, lat in degrees). Nearer ones rank higher.
	Near *orb.Point
	// Zoom is the zoom of the map around Near, 0 to 22. Distances count more the higher it is. 0 means DefaultZoom.
	Zoom float64
	// Bound, if set, restricts the results to locations inside, in degrees. It crosses the antimeridian if its west edge
	// is east of its east edge.
	Bound *orb.Bound
	// Countries restricts the results to these countries: ISO 3166-1 alpha-3 codes.
	Countries []string
	// Categories is as in Request.
	Categories []string
	// Languages is as in Request. Names in all languages are found.
	Languages []string
	// Keep, if set, reports whether a result with a category, type and layer is wanted.
	Keep func(category, kind string, layer Layer) bool
	// Into is as in Request.
	Into *Result
}

// Within reports whether a location is in Bound, if that is set.
func (q *Query) Within(p orb.Point) bool {
	b := q.Bound
	if b != nil && b.Min[0] > b.Max[0] && p[1] >= b.Min[1] && p[1] <= b.Max[1] { // across the antimeridian
		return p[0] >= b.Min[0] || p[0] <= b.Max[0]
	}
	return b == nil || b.Contains(p)
}

// Limits of a query.
const (
	MaxLimit    = 50
	MaxQuery    = 256 // bytes
	DefaultZoom = 14
)

// Layer is the rank of a place in addresses, from large to small.
type Layer uint8

// The layers, as in Photon and Pelias.
const (
	LayerOther Layer = iota // a feature that is not part of an address, such as a shop or a river
	LayerCountry
	LayerState
	LayerCounty
	LayerCity
	LayerDistrict // a suburb, borough or hamlet
	LayerLocality // a neighbourhood
	LayerStreet
	LayerHouse
)

// Score is the parts of a place's rank in a search. Higher is better.
type Score struct {
	Total      float64 // the sum of the others
	Text       float64 // how well the words match: 0 to 1
	Importance float64 // of the place
	Proximity  float64 // to Query.Near, or to a place that the text names
}
