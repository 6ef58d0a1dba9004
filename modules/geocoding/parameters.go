package geocoding

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// parameters are the known names, in the order of the constants below.
var parameters = []string{"lat", "lon", "size", "category", "language", "geometry"}

const (
	lat = iota
	lon
	size
	category
	language
	shapes
)

const (
	maxTerms = 64       // of a category
	maxText  = 16 << 10 // bytes of a category or language
)

// parse overwrites req with what a query asks for, and ignores unknown parameters. chosen reports whether the query
// chooses languages. The error is an apierror.Error.
func parse(query string, req *geocoding.Request) (chosen bool, err error) {
	*req = geocoding.Request{}
	var values [6]request.QueryValue
	if repeated := request.ScanQuery(query, parameters, values[:]); repeated != "" {
		return false, apierror.FailedValidation(repeated + ": appears more than once")
	}
	latitude, err := coordinate("lat", values[lat], 90)
	if err != nil {
		return false, err
	}
	longitude, err := coordinate("lon", values[lon], 180)
	if err != nil {
		return false, err
	}
	req.Point = orb.Point{longitude, latitude}
	if req.Size, err = parseSize(values[size]); err != nil {
		return false, err
	}
	if req.Categories, err = parseCategory(values[category]); err != nil {
		return false, err
	}
	if req.Shapes, err = parseShapes(values[shapes]); err != nil {
		return false, err
	}
	req.Languages, err = parseLanguage(values[language])
	return req.Languages != nil, err
}

func coordinate(name string, v request.QueryValue, limit float64) (float64, error) {
	if !v.Present {
		return 0, apierror.FailedValidation(name + ": is missing")
	}
	number, ok := v.Number()
	if !ok || number < -limit || number > limit {
		return 0, apierror.FailedValidation(fmt.Sprintf("%s: must be a number from %v to %v", name, -limit, limit))
	}
	return number, nil
}

func parseSize(v request.QueryValue) (int, error) {
	if !v.Present {
		return geocoding.MinSize, nil
	}
	number, ok := v.Number()
	if !ok || number < geocoding.MinSize || number > geocoding.MaxSize || number != float64(int(number)) {
		return 0, apierror.FailedValidation(
			fmt.Sprintf("size: must be a whole number from %d to %d", geocoding.MinSize, geocoding.MaxSize))
	}
	return int(number), nil
}

// parseShapes reads whether the response includes geometries.
func parseShapes(v request.QueryValue) (bool, error) {
	if !v.Present {
		return false, nil
	}
	if word, err := v.Text(len("false")); err == nil && (word == "true" || word == "false") {
		return word == "true", nil
	}
	return false, apierror.FailedValidation("geometry: must be true or false")
}

// parseCategory reads comma-separated terms and leaves out blank ones. Without terms there is no restriction.
func parseCategory(v request.QueryValue) (terms []string, err error) {
	if v.Raw == "" {
		return nil, nil
	}
	text, err := v.Text(maxText)
	if err != nil {
		return nil, apierror.FailedValidation("category: " + err.Error())
	}
	for term := range strings.SplitSeq(text, ",") {
		term = strings.TrimSpace(term)
		if term == "" || slices.Contains(terms, term) {
			continue
		}
		if len(terms) == maxTerms {
			return nil, apierror.FailedValidation(fmt.Sprintf("category: has more than %d terms", maxTerms))
		}
		terms = append(terms, term)
	}
	return terms, nil
}

// parseLanguage reads languages in the form of the header Accept-Language. A blank text counts as none.
func parseLanguage(v request.QueryValue) ([]string, error) {
	if v.Raw == "" {
		return nil, nil
	}
	text, err := v.Text(maxText)
	if err != nil {
		return nil, apierror.FailedValidation("language: " + err.Error())
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	languages, err := geocoding.ParseLanguages(text)
	if err != nil {
		return nil, apierror.FailedValidation("language: " + err.Error())
	}
	if languages == nil {
		languages = []string{} // "*" means any language; the header is ignored
	}
	return languages, nil
}

const acceptLanguage = "Accept-Language"

// accepted returns the languages of a request's header. A malformed header counts as none, since a server may ignore
// it.
func accepted(h http.Header) []string {
	values := h[acceptLanguage]
	if len(values) == 0 {
		return nil
	}
	languages, _ := geocoding.ParseLanguages(strings.Join(values, ","))
	return languages
}
