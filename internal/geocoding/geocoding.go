package geocoding

import (
	"context"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"unsafe"

	"github.com/paulmach/orb"
)

// Geocoder is a local engine or a remote service.
type Geocoder interface {
	// Reverse returns the places at or near a position, nearest first. An empty result is not an error.
	Reverse(ctx context.Context, req *Request) (*Result, error)
}

// Request is one reverse geocoding.
type Request struct {
	Point orb.Point // lon, lat in degrees
	// Size is the largest number of results, 1 to MaxLimit.
	Size int
	// Categories restricts the results to features whose key or value is one of these terms, ignoring case. Empty means no
	// restriction.
	Categories []string
	// Keep, if set, reports whether a feature with a category, type and layer is wanted. If none is near, the places of
	// the point's address are asked for.
	Keep func(category, kind string, layer Layer) bool
	// Areas asks for the places of the point's address, from a neighbourhood to the country, instead of features.
	Areas bool
	// Languages are BCP 47 tags in order of preference. Names are in the first available one, else as on the ground. See
	// ParseLanguages.
	Languages []string
	// MaxDistance is the greatest distance of a feature in metres.
	MaxDistance float64
	// Shapes asks for the shapes of places, which a geocoder may not know.
	Shapes bool
	// Into, if set, is memory that a geocoder may use for its result. It overwrites the earlier result, strings included.
	Into *Result
}

// Result is the answer to a request.
type Result struct {
	Places []Place

	text []byte // of the strings of a reused result
}

// fill prepares a result of n places whose strings are parts of a text, and returns the text.
func (r *Result) fill(n int, text []byte) string {
	r.text = append(r.text[:0], text...)
	if cap(r.Places) < n {
		r.Places = make([]Place, max(n, MaxSize))
	}
	r.Places = r.Places[:n]
	return unsafe.String(unsafe.SliceData(r.text), len(r.text))
}

// newResult returns a result for a request.
func (req *Request) newResult(n int, text []byte) (r *Result, all string) {
	if req.Into != nil {
		return req.Into, req.Into.fill(n, text)
	}
	return &Result{Places: make([]Place, n)}, string(text)
}

// nothing returns a result without places.
func (req *Request) nothing() *Result {
	r, _ := req.newResult(0, nil)
	return r
}

// Place is one result.
type Place struct {
	ID          string // node:1, way:2, relation:3
	Name        string
	DisplayName string
	Category    string    // the OSM key
	Type        string    // the OSM value
	Location    orb.Point // the point of the feature nearest to the query; the query itself inside an area
	Distance    float64   // metres, two decimals; in a search the distance from Query.Near, or 0
	Address     Address

	Bound      orb.Bound // of the whole feature
	Layer      Layer
	Importance float64 // 0 to 1; in searches only
	Score      Score   // in searches only

	// Shape is the line of the feature or the outline of its area, in pieces in no particular order. It is nil for a
	// position, without Request.Shapes, and if it has more than MaxShape segments.
	Shape orb.MultiLineString
}

// MaxShape limits the segments of a shape in an answer. The border of a state has too many.
const MaxShape = 12_000

// Address is the address of a place. Empty fields are unknown.
type Address struct {
	HouseNumber string
	Street      string
	Suburb      string
	Hamlet      string
	City        string // or a village or hamlet
	County      string
	State       string
	Postcode    string
	Country     string
	CountryCode string // assigned ISO 3166-1 alpha-3; XKX for Kosovo
}

// Limits of a request.
const (
	MinSize            = 1
	MaxSize            = 5      // of maps_reverse_geocode; MaxLimit for a Geocoder
	DefaultMaxDistance = 1000.0 // metres
)

// ErrWork: the request exceeds its work limit, because too much lies at one place.
var ErrWork = geometry.ErrWork
