package reversegeocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/urlquery"
)

// parameters are the names that the endpoint knows, in the order of the values below.
var parameters = []string{"lat", "lon", "size", "category"}

const (
	lat = iota
	lon
	size
	category
)

// maxTerms bounds the terms of a category.
const maxTerms = 64

// parse reads a query. Parameters of other names are ignored. The error is an apierror.Error.
func parse(query string) (req geocoding.Request, err error) {
	var values [4]urlquery.Value
	if repeated := urlquery.Scan(query, parameters, values[:]); repeated != "" {
		return req, apierror.FailedValidation(repeated + ": appears more than once")
	}
	latitude, err := coordinate("lat", values[lat], 90)
	if err != nil {
		return req, err
	}
	longitude, err := coordinate("lon", values[lon], 180)
	if err != nil {
		return req, err
	}
	req.Point = orb.Point{longitude, latitude}
	if req.Size, err = parseSize(values[size]); err != nil {
		return req, err
	}
	req.Categories, err = parseCategory(values[category])
	return req, err
}

func coordinate(name string, v urlquery.Value, limit float64) (float64, error) {
	if !v.Present {
		return 0, apierror.FailedValidation(name + ": is missing")
	}
	number, ok := v.Number()
	if !ok || number < -limit || number > limit {
		return 0, apierror.FailedValidation(fmt.Sprintf("%s: must be a number from %v to %v", name, -limit, limit))
	}
	return number, nil
}

func parseSize(v urlquery.Value) (int, error) {
	if !v.Present {
		return geocoding.MinSize, nil
	}
	number, ok := v.Number()
	if !ok || number < geocoding.MinSize || number > geocoding.MaxSize || number != float64(int(number)) {
		return 0, apierror.FailedValidation(fmt.Sprintf("size: must be a whole number from %d to %d", geocoding.MinSize, geocoding.MaxSize))
	}
	return int(number), nil
}

// parseCategory reads comma-separated terms. Blank ones say nothing, and where all are blank there is no restriction.
func parseCategory(v urlquery.Value) (terms []string, err error) {
	if v.Raw == "" {
		return nil, nil
	}
	text, err := v.AppendText(nil)
	if err != nil {
		return nil, apierror.FailedValidation("category: " + err.Error())
	}
	for term := range strings.SplitSeq(string(text), ",") {
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
