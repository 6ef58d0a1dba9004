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

// parse overwrites req with what a query asks for, and ignores unknown parameters. number is the default of size.
// chosen reports whether the query chooses languages. The error is an apierror.Error.
func parse(query string, number int, req *geocoding.Request) (chosen bool, err error) {
	*req = geocoding.Request{}
	var values values
	if err := scan(query, parameters, values[:]); err != nil {
		return false, err
	}
	if req.Point[1], err = coordinate("lat", values[lat], 90); err != nil {
		return false, err
	}
	longitude, err := either(&values, lon, lng)
	if err != nil {
		return false, err
	}
	if req.Point[0], err = coordinate(parameters[longitude], values[longitude], 180); err != nil {
		return false, err
	}
	most, err := either(&values, size, limit)
	if err != nil {
		return false, err
	}
	if req.Size, err = wholeNumber(parameters[most], values[most], number, geocoding.MaxSize); err != nil {
		return false, err
	}
	if req.Categories, err = parseCategory(values[category]); err != nil {
		return false, err
	}
	if req.Shapes, err = boolean("geometry", values[shapes], false); err != nil {
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

// scan finds the parameters of a query.
func scan(query string, names []string, values []request.QueryValue) error {
	if repeated := request.ScanQuery(query, names, values); repeated != "" {
		return apierror.FailedValidation(repeated + ": appears more than once")
	}
	return nil
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

// wholeNumber reads a number from 1 to most.
func wholeNumber(name string, v request.QueryValue, preset, most int) (int, error) {
	if !v.Present {
		return preset, nil
	}
	number, ok := v.Number()
	if !ok || number < 1 || number > float64(most) || number != float64(int(number)) {
		return 0, apierror.FailedValidation(fmt.Sprintf("%s: must be a whole number from 1 to %d", name, most))
	}
	return int(number), nil
}

func boolean(name string, v request.QueryValue, preset bool) (bool, error) {
	if !v.Present {
		return preset, nil
	}
	if word, err := v.Text(len("false")); err == nil && (word == "true" || word == "false") {
		return word == "true", nil
	}
	return false, apierror.FailedValidation(name + ": must be true or false")
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

// accepted returns the languages of a request's header, and notes that the response depends on it. A malformed header
// counts as none, since a server may ignore it.
func accepted(w http.ResponseWriter, r *http.Request) []string {
	values := r.Header[acceptLanguage]
	if len(values) == 0 {
		return nil
	}
	languages, _ := geocoding.ParseLanguages(strings.Join(values, ","))
	if languages != nil {
		w.Header().Add("Vary", acceptLanguage)
	}
	return languages
}
