package matching_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/matching"
)

func TestCaddyfile(t *testing.T) {
	for text, want := range map[string]string{
		"maps_match {\nmatcher local a b\nmatcher local c\nmax_points 500\nmax_radius 50.5\nmax_body 1MiB\n" +
			"profile car foot\nprofile bicycle\npublic\n}": `{"matchers":[{"regions":["a","b"],"source":"local"},` +
			`{"regions":["c"],"source":"local"}],"max_points":500,"max_radius":50.5,"max_body":1048576,` +
			`"profile":["car","foot","bicycle"],"public":true}`,
		"maps_region delaware": `{"regions":["delaware"]}`,
		"maps_region delaware andorra 42.4,1.4,42.7,1.8": `{"regions":["delaware","andorra"],` +
			`"bounds":[[42.4,1.4,42.7,1.8]]}`,
		`maps_region "42.4, 1.4, 42.7, 1.8"`:               `{"bounds":[[42.4,1.4,42.7,1.8]]}`,
		"maps_region a {\nmax_body 1MiB\nmax_points 50\n}": `{"regions":["a"],"max_body":1048576,"max_points":50}`,
		"maps_region a\nmaps_region b":                     `{"regions":["a","b"]}`,
	} {
		got, err := unmarshal(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for inside, says := range map[string]string{
		"":                                                  "at least one matcher",
		"matcher":                                           "argument",
		"matcher local":                                     "at least one region",
		"matcher nothing x":                                 `matcher: "nothing" is not known`,
		"matcher local a {\n x\n}":                          "unknown option",
		"matcher local a\n max_points":                      "argument",
		"matcher local a\n max_points 1":                    "max_points",
		"matcher local a\n max_points 1e9":                  "max_points",
		"matcher local a\n max_radius 0":                    "max_radius",
		"matcher local a\n max_radius NaN":                  "max_radius",
		"matcher local a\n max_radius 9999":                 "max_radius",
		"matcher local a\n max_body 0":                      "max_body",
		"matcher local a\n max_body 16EiB":                  "max_body",
		"matcher local a\n profile":                         "argument",
		"matcher local a\n profile bus":                     `profile: "bus" is not known; there are car, bicycle, foot, at Testfile:3`,
		"matcher local a\n profile car\n profile foot car":  "profile: car is listed twice, at Testfile:4",
		"matcher local a\n profile car foot\n profile Foot": `profile: "Foot" is not known; there are car, bicycle, foot, at Testfile:4`,
		"matcher local a\n speed 5":                         "speed",
		"matcher local a\n prefix x":                        "begin with a slash",
	} {
		refused(t, "maps_match {\n"+inside+"\n}", says)
	}
	for text, says := range map[string]string{
		"maps_match x":                     "argument",
		"maps_region":                      "needs the name of a region",
		"maps_region {\nmax_body 1MiB\n}":  "needs the name of a region",
		"maps_region 1,2,3":                "south,west,north,east",
		"maps_region 1,2,3,x":              `"x" is not a number`,
		"maps_region 1,2,3,NaN":            `"NaN" is not a number`,
		"maps_region 1,2,3,1e999":          "is not a number",
		"maps_region 40,-76,39,-75":        "south 40 is not less than north 39",
		"maps_region 39,-76,40,-76":        "west and east are both -76",
		"maps_region 39,-181,40,-75":       "west: -181 is not in -180 to 180",
		"maps_region -91,-180,40,-75":      "south: -91 is not in -90 to 90",
		"maps_region a {\nmax_body 0\n}":   "max_body",
		"maps_region a {\nmax_points 1\n}": "max_points",
		"maps_region a {\nmax_points\n}":   "wrong argument count",
		"maps_region a {\nmin_body 1\n}":   "unknown option of maps_region: min_body",
	} {
		refused(t, text, says)
	}
	// In JSON, `profile` is a list or one name.
	for text, want := range map[string]string{
		`{"profile":"foot"}`: `{"profile":["foot"]}`, `{"profile":["foot","car"]}`: `{"profile":["foot","car"]}`,
		`{"profile":[]}`: `{}`, `{"profile":5}`: "", `{"profile":{"foot":true}}`: "",
	} {
		h := new(matching.Handler)
		got := []byte{}
		if err := json.Unmarshal([]byte(text), h); err == nil {
			got, _ = json.Marshal(h)
		}
		if string(got) != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

// unmarshal reads a directive or a matcher, and returns its JSON.
func unmarshal(text string) (string, error) {
	var module caddyfile.Unmarshaler = new(matching.Handler)
	if strings.HasPrefix(text, "maps_region") {
		module = new(matching.RegionMatcher)
	}
	err := module.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text))
	out, errJSON := json.Marshal(module)
	return string(out), errors.Join(err, errJSON)
}

func refused(t *testing.T, text, says string) {
	t.Helper()
	if _, err := unmarshal(text); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%q: %v, want %q", text, err, says)
	}
}
