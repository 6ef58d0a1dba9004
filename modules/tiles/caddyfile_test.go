package tiles_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/tiles"
)

func unmarshal(text string) (string, error) {
	h := new(tiles.Handler)
	if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
		return "", err
	}
	out, err := json.Marshal(h)
	return string(out), err
}

func TestCaddyfile(t *testing.T) {
	for text, want := range map[string]string{
		"maps_tiles a": `{"regions":["a"]}`,
		"maps_tiles a b {\n prefix /t\n max_zoom 0\n cache 1GiB\n public\n}": `{"regions":["a","b"],"prefix":"/t","max_zoom":0,` +
			`"cache":1073741824,"public":true}`,
	} {
		got, err := unmarshal(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, says := range map[string]string{
		"maps_tiles":                        "at least one region",
		"maps_tiles a {\n prefix\n}":        "argument",
		"maps_tiles a {\n prefix t\n}":      "slash",
		"maps_tiles a {\n max_zoom\n}":      "argument",
		"maps_tiles a {\n max_zoom 17\n}":   "0 to 16",
		"maps_tiles a {\n max_zoom -1\n}":   "0 to 16",
		"maps_tiles a {\n max_zoom 1.5\n}":  "0 to 16",
		"maps_tiles a {\n max_zoom 1 2\n}":  "argument",
		"maps_tiles a {\n cache\n}":         "argument",
		"maps_tiles a {\n cache 0\n}":       "size",
		"maps_tiles a {\n cache much\n}":    "size",
		"maps_tiles a {\n public off\n}":    "argument",
		"maps_tiles a {\n zoom 14\n}":       "unknown option",
		"maps_tiles a {\n cache 64MiB x\n}": "argument",
	} {
		if _, err := unmarshal(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
