package caddymaps_test

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mapsedge/caddy-maps"
)

// A program that imports the package beside Caddy's modules knows all directives and modules of the maps service.
func Example() {
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(`
		:8080 {
			handle /healthz {
				maps_health
			}
		}`), nil)
	fmt.Println(strings.Contains(string(adapted), `"handler":"maps_health"`), err)
	for _, store := range caddy.GetModules("maps.stores") {
		fmt.Println(store.ID)
	}
	// Output:
	// true <nil>
	// maps.stores.postgres
	// maps.stores.sqlite
}
