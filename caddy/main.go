// Command caddy is Caddy with its standard modules and those of caddy-maps.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mapsedge/caddy-maps"
)

func main() { caddycmd.Main() }
