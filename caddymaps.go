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
	_ "github.com/mapsedge/caddy-maps/modules/geocoding"
	_ "github.com/mapsedge/caddy-maps/modules/matching"
	_ "github.com/mapsedge/caddy-maps/modules/remote/nominatim"
	_ "github.com/mapsedge/caddy-maps/modules/remote/osrm"
	_ "github.com/mapsedge/caddy-maps/modules/remote/photon"
	_ "github.com/mapsedge/caddy-maps/modules/remote/valhalla"

	// HTTP handlers.
	_ "github.com/mapsedge/caddy-maps/modules/accounts"
	_ "github.com/mapsedge/caddy-maps/modules/auth"
	_ "github.com/mapsedge/caddy-maps/modules/health"
	_ "github.com/mapsedge/caddy-maps/modules/pages"
	_ "github.com/mapsedge/caddy-maps/modules/tiles"
	_ "github.com/mapsedge/caddy-maps/modules/tokens"

	// HTTP request matchers.

	// Log filters.
	_ "github.com/mapsedge/caddy-maps/modules/redact"
)
