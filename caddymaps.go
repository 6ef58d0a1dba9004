// Package caddymaps adds the maps service to Caddy: importing it registers every module.
package caddymaps

import (
	// The app with its admin API and health checks, who may do what, the stores, and the commands.
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/command"
	_ "github.com/mapsedge/caddy-maps/modules/stores"

	// Geocoders and matchers.
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/localmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/nominatimgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/osrmmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/photongeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/valhallamatcher"

	// HTTP handlers.
	_ "github.com/mapsedge/caddy-maps/modules/console"
	_ "github.com/mapsedge/caddy-maps/modules/docs"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	_ "github.com/mapsedge/caddy-maps/modules/playground"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
	_ "github.com/mapsedge/caddy-maps/modules/tiles"

	// HTTP request matchers.
	_ "github.com/mapsedge/caddy-maps/modules/regionmatcher"
)
