// Command caddy is Caddy with its standard modules, those of caddy-maps, and rate limits to put before them.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mapsedge/caddy-maps"
	_ "github.com/mholt/caddy-ratelimit"
)

func main() { caddycmd.Main() }
