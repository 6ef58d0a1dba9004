package matching_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/matching"
)

func unmarshal(text string) (string, error) {
	h := new(matching.Handler)
	if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
		return "", err
	}
	out, err := json.Marshal(h)
	return string(out), err
}

func TestCaddyfile(t *testing.T) {
	got,
		err := unmarshal("maps_match {\n matcher local a b\n matcher local c\n max_points 500\n max_radius 50.5\n " +
		"max_body 1MiB\n profile car foot\n profile bicycle\n public\n}")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"matchers":[{"regions":["a","b"],"source":"local"},{"regions":["c"],"source":"local"}],` +
		`"max_points":500,"max_radius":50.5,"max_body":1048576,"profile":["car","foot","bicycle"],"public":true}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for inside, says := range map[string]string{
		"":                                  "at least one matcher",
		"matcher":                           "argument",
		"matcher local":                     "at least one region",
		"matcher nothing x":                 `matcher: "nothing" is not known`,
		"matcher local a {\n x\n}":          "unknown option",
		"matcher local a\n max_points":      "argument",
		"matcher local a\n max_points 1":    "max_points",
		"matcher local a\n max_points 1e9":  "max_points",
		"matcher local a\n max_points x":    "max_points",
		"matcher local a\n max_radius 0":    "max_radius",
		"matcher local a\n max_radius NaN":  "max_radius",
		"matcher local a\n max_radius 9999": "max_radius",
		"matcher local a\n max_body 0":      "max_body",
		"matcher local a\n max_body lots":   "max_body",
		"matcher local a\n max_body 16EiB":  "max_body",
		"matcher local a\n profile":         "argument",
		"matcher local a\n profile bus": `profile: "bus" is not known; ` +
			"there are car, bicycle, foot, at Testfile:3",
		"matcher local a\n profile car car":                "profile: car stands there twice, at Testfile:3",
		"matcher local a\n profile car\n profile foot car": "profile: car stands there twice, at Testfile:4",
		"matcher local a\n profile car foot\n profile Foot": `profile: "Foot" is not known; ` +
			"there are car, bicycle, foot, at Testfile:4",
		"matcher local a\n speed 5":  "speed",
		"matcher local a\n prefix":   "argument",
		"matcher local a\n prefix x": "begin with a slash",
	} {
		if _, err := unmarshal("maps_match {\n" + inside + "\n}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", inside, err)
		}
	}
	if _, err := unmarshal("maps_match x"); err == nil {
		t.Error("an argument was taken")
	}
}
