// Package caddymaps adds the maps service to Caddy: importing it registers every module.
package caddymaps

import (
	// The app, and what it is asked through.
	_ "github.com/mapsedge/caddy-maps/modules/adminapi"
	_ "github.com/mapsedge/caddy-maps/modules/command"
	_ "github.com/mapsedge/caddy-maps/modules/mapsapp"

	// Stores of accounts.
	_ "github.com/mapsedge/caddy-maps/modules/pgstore"
	_ "github.com/mapsedge/caddy-maps/modules/sqlitestore"

	// Geocoders and matchers.
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/localmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/nominatimgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/osrmmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/photongeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/valhallamatcher"

	// HTTP handlers.
	_ "github.com/mapsedge/caddy-maps/modules/accounts"
	_ "github.com/mapsedge/caddy-maps/modules/auth"
	_ "github.com/mapsedge/caddy-maps/modules/console"
	_ "github.com/mapsedge/caddy-maps/modules/docs"
	_ "github.com/mapsedge/caddy-maps/modules/health"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	_ "github.com/mapsedge/caddy-maps/modules/playground"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
	_ "github.com/mapsedge/caddy-maps/modules/tiles"
	_ "github.com/mapsedge/caddy-maps/modules/tokens"

	// HTTP request matchers.
	_ "github.com/mapsedge/caddy-maps/modules/regionmatcher"

	// Log filters.
	_ "github.com/mapsedge/caddy-maps/modules/redact"
)
