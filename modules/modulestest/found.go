package modulestest

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

var (
	placeIDs     = regexp.MustCompile(`^(node|way|relation):[1-9][0-9]*$`)
	countryCodes = regexp.MustCompile(`^([A-Z]{3})?$`)
)

// CheckFound checks the responses that are made of what a reader of a geocoder's answers returned: whatever that is,
// they are answers of the API.
func CheckFound(t *testing.T, found []geocoding.Found, query orb.Point, category string) {
	t.Helper()
	req := &geocoding.Request{Point: query, Size: geocoding.MaxSize, MaxDistance: 1e7}
	if category != "" {
		req.Categories = []string{category}
	}
	for _, result := range []*geocoding.Result{req.Answer(found), req.Fallback(found)} {
		if len(result.Places) > req.Size {
			t.Errorf("%d places", len(result.Places))
		}
		for i := range result.Places {
			p := &result.Places[i]
			if !placeIDs.MatchString(p.ID) || !countryCodes.MatchString(p.Address.CountryCode) ||
				p.Name == "" || p.DisplayName == "" || p.Category == "" ||
				p.Type == "" || !(p.Distance >= 0 && p.Distance < 2.1e7) ||
				!(math.Abs(p.Location[0]) <= 180 && math.Abs(p.Location[1]) <= 90) {
				t.Errorf("%+v", p)
			}
			if i > 0 && p.Distance < result.Places[i-1].Distance {
				t.Errorf("%v m after %v m", p.Distance, result.Places[i-1].Distance)
			}
		}
		if text := answer.AppendPlaces(nil, query, result); !json.Valid(text) {
			t.Errorf("not JSON: %s", text)
		}
	}
	for _, p := range req.Answer(found).Places {
		key, value, c := strings.ToLower(p.Category), strings.ToLower(p.Type), strings.ToLower(strings.TrimSpace(category))
		if c != "" && strings.TrimSpace(key) != c && strings.TrimSpace(value) != c {
			t.Errorf("%q/%q was not asked for by %q", p.Category, p.Type, category)
		}
	}
}
