// Package nominatim is the Caddy module `maps.geocoders.nominatim`: geocoding and reverse geocoding by Nominatim
// servers. It writes the requests of Nominatim and reads its responses. Package remote sends them.
//
// Start with Geocoder.Reverse and Geocoder.Search, then request.go.
package nominatim

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

func init() { caddy.RegisterModule(new(Geocoder)) }

// Geocoder asks Nominatim's `reverse` and `search`. It covers every place, so put it after local geocoders. It needs
// Nominatim's Python frontend; that in PHP, up to 4.5, knows no layers.
//
// In a search, Nominatim corrects no mistakes, completes no words, and prefers only roughly what is near. For reverse
// geocoding, Nominatim finds one object per request, and looks for streets, addresses and points of interest within
// 0.006 degrees (some 600 m). A `category` says where it looks, in up to three calls.
type Geocoder struct {
	remote.Service

	// Whether Nominatim sends geometries, so that distances are to outlines. Otherwise they are to centres, or the
	// nearest point of a line. Default: `true`.
	Geometry *bool `json:"geometry,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (*Geocoder) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.geocoders.nominatim", New: func() caddy.Module { return new(Geocoder) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (g *Geocoder) UnmarshalJSON(data []byte) error { return options.Decode(data, g) }

// Provision opens the proxy to the servers.
func (g *Geocoder) Provision(ctx caddy.Context) error {
	// Connections are kept alive. The usual servers (nginx, gunicorn, one process of uvicorn) send at once. For uvicorn
	// with several processes, which does not, see docs/run/fronting.md.
	if err := g.Open(ctx, remote.Protocol{}); err != nil {
		return fmt.Errorf("geocoder nominatim: %w", err)
	}
	return nil
}

// Reverse implements geocoding.Geocoder. If Nominatim's object has no name, it requests addresses only; if that is too
// far, the settlement.
func (g *Geocoder) Reverse(ctx context.Context, req *geocoding.Request) (*geocoding.Result, error) {
	ctx = g.WithCalls(ctx)
	if lookups := lookupsOf(req.Categories); len(lookups) > 0 {
		return g.filtered(ctx, req, lookups)
	}
	found, err := g.lookUp(ctx, req, anyLayer)
	if err == nil && len(found) > 0 && geocoding.Nameless(found) {
		found, err = g.lookUp(ctx, req, addresses)
	}
	if err != nil {
		return nil, err
	}
	if result := resultOf(req, found); len(result.Places) > 0 || len(found) == 0 {
		return result, nil
	}
	if found, err = g.lookUp(ctx, req, settlements); err != nil {
		return nil, err
	}
	return resultOf(req, found), nil
}

// filtered sends one lookup after the other, until one finds an object of the request's categories.
func (g *Geocoder) filtered(ctx context.Context, req *geocoding.Request, lookups []lookup) (
	result *geocoding.Result, err error) {
	for _, l := range lookups {
		found, err := g.lookUp(ctx, req, l)
		if err != nil {
			return nil, err
		}
		if result = req.Answer(found); len(result.Places) > 0 {
			break
		}
	}
	return result, nil
}

// resultOf returns what is near, or else the settlement or area around the position.
func resultOf(req *geocoding.Request, found []geocoding.Found) *geocoding.Result {
	if result := req.Answer(found); len(result.Places) > 0 {
		return result
	}
	return req.Fallback(found)
}

// lookUp sends a lookup to Nominatim, which finds one object or none.
func (g *Geocoder) lookUp(ctx context.Context, req *geocoding.Request, l lookup) (found []geocoding.Found, err error) {
	request := &remote.Request{Path: "/reverse", Query: g.query(req, l), Languages: languages(req.Languages)}
	err = g.Send(ctx, request, func(status int, body []byte) (err error) {
		found, err = parse(status, body, req)
		return err
	})
	return found, err
}

// Search implements geocoding.Searcher.
func (g *Geocoder) Search(ctx context.Context, q *geocoding.Query) (result *geocoding.Result, err error) {
	request := &remote.Request{Path: "/search", Query: searchQuery(q), Languages: languages(q.Languages)}
	err = g.Send(ctx, request, func(status int, body []byte) error {
		found, err := parseList(status, body)
		if err == nil {
			result = q.Answer(found)
		}
		return err
	})
	return result, err
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	geocoder nominatim <upstreams...> {
//	    geometry      on|off
//	    timeout       <duration>
//	    max_response  <size>
//	    max_in_flight <number>
//	    max_calls     <number>
//	    <options of reverse_proxy>
//	}
//
// Example:
//
//	maps_reverse_geocode {
//	    geocoder local delaware
//	    geocoder nominatim http://nominatim-1:8080 http://nominatim-2:8080 {
//	        geometry        off
//	        lb_retries      1
//	        fail_duration   10s
//	        health_uri      /status
//	        health_interval 5s
//	    }
//	}
func (g *Geocoder) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return g.UnmarshalBlock(d, "geocoder",
		options.Option{Name: "geometry", Args: "on|off", Read: options.OnOff(&g.Geometry)})
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Geocoder)(nil)
	_ caddyfile.Unmarshaler = (*Geocoder)(nil)
	_ geocoding.Geocoder    = (*Geocoder)(nil)
	_ geocoding.Searcher    = (*Geocoder)(nil)
)
