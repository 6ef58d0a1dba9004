package geocoding

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

const (
	defaultLimit = 5
	maxLimit     = 10
	maxZoom      = 22
	maxCountries = 1024 // bytes; all alpha-3 codes have less
)

// The parameters of a search beside the text.
const (
	ofText = iota
	ofLimit
	ofAutocomplete
	ofProximity
	ofZoom
	ofBox
	ofCountry
	ofLanguage
	ofCategory
	ofExplain
)

// parseSearchQuery overwrites q with what a query asks for, and ignores unknown parameters. name is the parameter of
// the text. Languages are nil if the query chooses none. explain asks for scores. The error is an apierror.Error.
func parseSearchQuery(query, name string, q *geocoding.Query) (explain bool, err error) {
	*q = geocoding.Query{}
	names := [...]string{name, "limit", "autocomplete", "proximity", "zoom", "bbox", "country", "language", "category",
		"explain"}
	var values [len(names)]request.QueryValue
	if err := scan(query, names[:], values[:]); err != nil {
		return false, err
	}
	if q.Text, err = searchText(name, values[ofText]); err != nil {
		return false, err
	}
	if q.Limit, err = wholeNumber("limit", values[ofLimit], defaultLimit, maxLimit); err != nil {
		return false, err
	}
	if q.Autocomplete, err = boolean("autocomplete", values[ofAutocomplete], true); err != nil {
		return false, err
	}
	if q.Near, err = proximity(values[ofProximity]); err != nil {
		return false, err
	}
	if q.Zoom, err = zoom(values[ofZoom]); err != nil {
		return false, err
	}
	if q.Bound, err = box(values[ofBox]); err != nil {
		return false, err
	}
	if q.Countries, err = countries(values[ofCountry]); err != nil {
		return false, err
	}
	if q.Languages, err = parseLanguage(values[ofLanguage]); err != nil {
		return false, err
	}
	if q.Categories, err = parseCategory(values[ofCategory]); err != nil {
		return false, err
	}
	return boolean("explain", values[ofExplain], false)
}

func searchText(name string, v request.QueryValue) (string, error) {
	text, err := v.Text(geocoding.MaxQuery)
	switch {
	case errors.Is(err, request.ErrQueryTooLong):
		return "", apierror.FailedValidation(fmt.Sprintf("%s: has more than %d bytes", name, geocoding.MaxQuery))
	case err != nil:
		return "", apierror.FailedValidation(name + ": " + err.Error())
	case !v.Present:
		return "", apierror.FailedValidation(name + ": is missing")
	case strings.TrimSpace(text) == "":
		return "", apierror.FailedValidation(name + ": is empty")
	case !utf8.ValidString(text):
		return "", apierror.FailedValidation(name + ": is not valid UTF-8")
	}
	return text, nil
}

// numbers reads numbers with commas between them, of which the ith is from -limits[i] to limits[i].
func numbers(v string, limits ...float64) (read []float64, ok bool) {
	parts := strings.Split(v, ",")
	if len(parts) != len(limits) {
		return nil, false
	}
	for i, part := range parts {
		number, ok := text.ParseNumber([]byte(strings.TrimSpace(part)))
		if !ok || math.Abs(number) > limits[i] {
			return nil, false
		}
		read = append(read, number)
	}
	return read, true
}

// maxNumbers is the most bytes of a list of numbers.
const maxNumbers = 256

// proximity reads <lat>,<lon>, or lonlat:<lon>,<lat>; nil if it is absent.
func proximity(v request.QueryValue) (*orb.Point, error) {
	if !v.Present {
		return nil, nil
	}
	given, err := v.Text(maxNumbers)
	reversed, swapped := strings.CutPrefix(given, "lonlat:")
	if swapped {
		if at, ok := numbers(reversed, 180, 90); err == nil && ok {
			return &orb.Point{at[0], at[1]}, nil
		}
	} else if at, ok := numbers(given, 90, 180); err == nil && ok {
		return &orb.Point{at[1], at[0]}, nil
	}
	return nil, apierror.FailedValidation("proximity: must be <lat>,<lon> or lonlat:<lon>,<lat>, in degrees")
}

func zoom(v request.QueryValue) (float64, error) {
	if !v.Present {
		return 0, nil
	}
	number, ok := v.Number()
	if !ok || number < 0 || number > maxZoom {
		return 0, apierror.FailedValidation(fmt.Sprintf("zoom: must be a number from 0 to %d", maxZoom))
	}
	return max(number, math.SmallestNonzeroFloat64), nil // 0 is the default
}

// box reads <minlon>,<minlat>,<maxlon>,<maxlat>; nil if it is absent.
func box(v request.QueryValue) (*orb.Bound, error) {
	if !v.Present {
		return nil, nil
	}
	given, err := v.Text(maxNumbers)
	edges, ok := numbers(given, 180, 90, 180, 90)
	if err != nil || !ok || edges[1] > edges[3] {
		return nil, apierror.FailedValidation("bbox: must be <minlon>,<minlat>,<maxlon>,<maxlat>, in degrees")
	}
	return &orb.Bound{Min: orb.Point{edges[0], edges[1]}, Max: orb.Point{edges[2], edges[3]}}, nil
}

// countries reads codes with commas between them, and returns alpha-3 codes. Blank ones are ignored.
func countries(v request.QueryValue) (codes []string, err error) {
	given, err := v.Text(maxCountries)
	if err != nil {
		return nil, apierror.FailedValidation("country: " + err.Error())
	}
	for code := range strings.SplitSeq(strings.ToUpper(given), ",") {
		if code = strings.TrimSpace(code); code == "" {
			continue
		}
		c, known := country.ByAlpha3(code)
		if len(code) == len("DE") {
			c, known = country.ByAlpha2(code)
		}
		if !known {
			return nil, apierror.FailedValidation(fmt.Sprintf("country: %q is not an ISO 3166-1 code", code))
		}
		codes = append(codes, c.Code)
	}
	return codes, nil
}
