package upstream_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"

	_ "github.com/mapsedge/caddy-maps/modules/auth"
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/localmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	_ "github.com/mapsedge/caddy-maps/modules/nominatimgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/osrmmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/photongeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
	_ "github.com/mapsedge/caddy-maps/modules/valhallamatcher"
	_ "github.com/mholt/caddy-ratelimit"
)

// Every example of the document is a Caddyfile whose configuration the real Caddy accepts.
func TestDocumentedExamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/fronting.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```caddyfile\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples", len(examples))
	}
	region := t.TempDir() + "/delaware.region"
	mapstest.BuildRegion(t, region, mapstest.Village)
	for _, example := range examples {
		adapted, err := mapstest.Adapt(strings.ReplaceAll(example[1], "./data/delaware.region", region))
		if err != nil {
			t.Errorf("%v in\n%s", err, example[1])
			continue
		}
		var config caddy.Config
		if err := caddy.StrictUnmarshalJSON(adapted, &config); err != nil {
			t.Fatal(err)
		}
		if err := caddy.Validate(&config); err != nil {
			t.Errorf("%v in\n%s", err, example[1])
		}
	}
}
