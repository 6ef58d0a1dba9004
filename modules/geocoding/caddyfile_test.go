package geocoding_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/geocoding"
)

func unmarshal(text string) (string, error) {
	h := new(geocoding.Handler)
	if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
		return "", err
	}
	out, err := json.Marshal(h)
	return string(out), err
}

func TestCaddyfile(t *testing.T) {
	got,
		err := unmarshal("maps_reverse_geocode {\n geocoder local a b\n geocoder local c\n max_distance 250.5\n " +
		"coverage /where\n public\n}")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"coverage":"/where","geocoders":[{"regions":["a","b"],"source":"local"},` +
		`{"regions":["c"],"source":"local"}],"max_distance":250.5,"public":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for inside, says := range map[string]string{
		"":                                     "at least one geocoder",
		"geocoder":                             "argument",
		"geocoder local":                       "at least one region",
		"geocoder nothing x":                   `geocoder: "nothing" is not known`,
		"geocoder local a {\n x \n}":           "unknown option",
		"geocoder local a\n max_distance":      "argument",
		"geocoder local a\n max_distance 0":    "max_distance",
		"geocoder local a\n max_distance -5":   "max_distance",
		"geocoder local a\n max_distance NaN":  "max_distance",
		"geocoder local a\n max_distance 1e9":  "max_distance",
		"geocoder local a\n max_distance 1 2":  "argument",
		"geocoder local a\n max_distance five": "max_distance",
		"geocoder local a\n radius 5":          "radius",
		"geocoder local a\n prefix":            "argument",
		"geocoder local a\n coverage":          "argument",
		"geocoder local a\n coverage x":        "coverage",
		"geocoder local a\n prefix /a//b":      "empty segments",
	} {
		if _, err := unmarshal("maps_reverse_geocode {\n" + inside + "\n}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", inside, err)
		}
	}
	if _, err := unmarshal("maps_reverse_geocode x"); err == nil {
		t.Error("an argument was taken")
	}
}
