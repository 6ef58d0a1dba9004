// Package geocoding tells what is at a position: the nearest named things by their own geometry, their addresses, and
// the areas that contain them, from the places of a region file.
package geocoding

import (
	"context"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"unsafe"

	"github.com/paulmach/orb"
)

// Geocoder is what a local engine and a remote service have in common.
type Geocoder interface {
	// Reverse returns what is at or near a position, nearest first; no results is an empty answer, not an error.
	Reverse(ctx context.Context, req *Request) (*Result, error)
}

// Request is one reverse geocoding.
type Request struct {
	Point orb.Point // lon, lat in degrees
	// Size is the largest number of results, 1 to 5.
	Size int
	// Categories restricts the results to features whose key or value is one of these terms, ignoring case. Empty: no
	// restriction.
	Categories []string
	// Languages are BCP 47 tags, the most wanted first: names are given in the first that they are known in, else as they
	// are on the ground. See ParseLanguages.
	Languages []string
	// MaxDistance is how far a feature may be, in metres.
	MaxDistance float64
	// Shapes is whether places are wanted with their shapes, which a geocoder may not know.
	Shapes bool
	// Into, if set, is memory for the answer, which a geocoder may use and return: what an answer before had in it,
	// strings included, is then gone.
	Into *Result
}

// Result is what was found.
type Result struct {
	Places []Place

	text []byte // that the strings of a reused result are parts of
}

// fill makes the result one of n places, all of whose strings are parts of a text, which it returns.
func (r *Result) fill(n int, text []byte) string {
	r.text = append(r.text[:0], text...)
	if cap(r.Places) < n {
		r.Places = make([]Place, MaxSize)
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

// nothing is an answer without places.
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
	Distance    float64   // metres, two decimals
	Address     Address

	// Shape is the line of the feature or, of an area, its outline, in pieces in no particular order. It is nil for a
	// position, unless it was asked for, and where it has more than MaxShape segments.
	Shape orb.MultiLineString
}

// MaxShape is how many segments a shape has at most that is part of an answer: those of a state's border are too many.
const MaxShape = 12_000

// Address is what is known of where a place is. Empty fields are unknown.
type Address struct {
	HouseNumber string
	Street      string
	Suburb      string
	Hamlet      string
	City        string // a village or a hamlet where there is none
	County      string
	State       string
	Postcode    string
	Country     string
	CountryCode string // assigned ISO 3166-1 alpha-3; XKX for Kosovo
}

// Limits of a request.
const (
	MinSize            = 1
	MaxSize            = 5
	DefaultMaxDistance = 1000.0 // metres
)

// ErrWork: the request needs more work than one request may cost, because too much lies at one place.
var ErrWork = geometry.ErrWork
