// Package caddymaps adds the maps service to Caddy: importing it registers every module.
package caddymaps

import (
	// The app with its admin API and health checks, who may do what, the stores, and the commands.
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/command"
	_ "github.com/mapsedge/caddy-maps/modules/service"
	_ "github.com/mapsedge/caddy-maps/modules/stores"

	// Handlers and request matchers, with the geocoders, matchers and routers that answer from region files.
	_ "github.com/mapsedge/caddy-maps/modules/geocoding"
	_ "github.com/mapsedge/caddy-maps/modules/matching"
	_ "github.com/mapsedge/caddy-maps/modules/pages"
	_ "github.com/mapsedge/caddy-maps/modules/routing"
	_ "github.com/mapsedge/caddy-maps/modules/tiles"

	// Geocoders, matchers and routers that ask other servers.
	_ "github.com/mapsedge/caddy-maps/modules/remote/nominatim"
	_ "github.com/mapsedge/caddy-maps/modules/remote/osrm"
	_ "github.com/mapsedge/caddy-maps/modules/remote/photon"
	_ "github.com/mapsedge/caddy-maps/modules/remote/valhalla"
)
