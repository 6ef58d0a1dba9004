package app

import (
	"fmt"
	"reflect"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// ServiceDirective is the directive that serves everything at once.
const ServiceDirective = "maps_service"

// servedPath is a path of a site.
type servedPath struct {
	site uintptr
	path string
}

// server is a directive in a Caddyfile that serves a path.
type server struct {
	directive string
	line      int
}

// Serves records the paths that a directive of a Caddyfile serves. It returns an error if the site has maps_service for
// one of them as well, because only one of the two would get its requests. Call it after the directive has been read.
func Serves(h httpcaddyfile.Helper, paths ...string) error {
	h.Reset()
	h.Next()
	this := server{h.Val(), h.Line()}
	const key = "maps.serves"
	served, ok := h.State[key].(map[servedPath]server)
	if !ok {
		served = make(map[servedPath]server)
		h.State[key] = served
	}
	for _, path := range paths {
		at := servedPath{siteOf(h), path}
		other, taken := served[at]
		switch {
		case !taken:
			served[at] = this
		case this.directive == ServiceDirective && other.directive == ServiceDirective:
			return options.WithLine(h.Dispenser, fmt.Errorf(
				"maps_service may appear only once in a site; it is already in line %d, and can name several regions",
				other.line))
		case this.directive == ServiceDirective || other.directive == ServiceDirective:
			return options.WithLine(h.Dispenser, fmt.Errorf("%s and %s in line %d both serve %s: remove one of them, or use "+
				"`without` in maps_service, or another prefix for the other directive",
				this.directive, other.directive, other.line, path))
		}
	}
	return nil
}

// siteOf identifies the site of a directive. Caddy offers no way to tell two sites apart, but the list of a site's
// addresses is at one place in the memory of its parser.
func siteOf(h httpcaddyfile.Helper) uintptr {
	block := reflect.ValueOf(h).FieldByName("parentBlock")
	if !block.IsValid() {
		return 0
	}
	return block.FieldByName("Keys").Pointer()
}
