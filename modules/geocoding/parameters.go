package geocoding

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// parameters are the known names, in the order of the constants below.
var parameters = []string{"lat", "lon", "lng", "size", "limit", "category", "language", "geometry"}

const (
	lat = iota
	lon
	lng // another name for lon
	size
	limit // another name for size
	category
	language
	shapes
)

// values are those of parameters.
type values [8]request.QueryValue

const (
	maxTerms = 64       // of a category
	maxText  = 16 << 10 // bytes of a category or language
)

// parse overwrites req with what a query asks for, and ignores unknown parameters. chosen reports whether the query
// chooses languages. The error is an apierror.Error.
func parse(query string, req *geocoding.Request) (chosen bool, err error) {
	*req = geocoding.Request{}
	var values values
	if repeated := request.ScanQuery(query, parameters, values[:]); repeated != "" {
		return false, apierror.FailedValidation(repeated + ": appears more than once")
	}
	if req.Point[1], err = coordinate(&values, lat, 90); err != nil {
		return false, err
	}
	longitude, err := either(&values, lon, lng)
	if err != nil {
		return false, err
	}
	if req.Point[0], err = coordinate(&values, longitude, 180); err != nil {
		return false, err
	}
	number, err := either(&values, size, limit)
	if err != nil {
		return false, err
	}
	if req.Size, err = parseSize(&values, number); err != nil {
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

// either returns the index of a parameter that has two names.
func either(values *values, name, alias int) (int, error) {
	i, ok := request.Either(values[:], name, alias)
	if !ok {
		return 0, apierror.FailedValidation(fmt.Sprintf("%s: means the same as %s; only one of them is accepted",
			parameters[alias], parameters[name]))
	}
	return i, nil
}

func coordinate(values *values, i int, limit float64) (float64, error) {
	if !values[i].Present {
		return 0, apierror.FailedValidation(parameters[i] + ": is missing")
	}
	number, ok := values[i].Number()
	if !ok || number < -limit || number > limit {
		return 0, apierror.FailedValidation(fmt.Sprintf("%s: must be a number from %v to %v", parameters[i], -limit, limit))
	}
	return number, nil
}

func parseSize(values *values, i int) (int, error) {
	if !values[i].Present {
		return geocoding.MinSize, nil
	}
	number, ok := values[i].Number()
	if !ok || number < geocoding.MinSize || number > geocoding.MaxSize || number != float64(int(number)) {
		return 0, apierror.FailedValidation(
			fmt.Sprintf("%s: must be a whole number from %d to %d", parameters[i], geocoding.MinSize, geocoding.MaxSize))
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
