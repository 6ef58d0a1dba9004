// Package photon is the Caddy module `maps.geocoders.photon`: geocoding and reverse geocoding by Photon servers. It
// writes the requests of Photon and reads its responses. Package remote sends them.
//
// Start with Geocoder.Reverse and Geocoder.Search, then request.go.
package photon

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

func init() { caddy.RegisterModule(new(Geocoder)) }

// Geocoder asks Photon's `reverse` and `api` (0.4.3 or newer). It covers every place, so put it after local geocoders.
//
// In a search, the last word may always be unfinished. For reverse geocoding, Photon finds objects by their centre, so
// a large one with its centre beyond `max_distance` is not found. Names are in the first requested language that was
// imported.
type Geocoder struct {
	remote.Service

	// Whether Photon sends geometries, so that distances are to outlines, not to centres. It needs Photon 0.7 and data
	// imported with `-full-geometries`, or it refuses requests. Default: `false`.
	Geometry *bool `json:"geometry,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (*Geocoder) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.geocoders.photon", New: func() caddy.Module { return new(Geocoder) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (g *Geocoder) UnmarshalJSON(data []byte) error { return options.Decode(data, g) }

// Provision opens the proxy to the servers.
func (g *Geocoder) Provision(ctx caddy.Context) error {
	// Connections are kept alive: Photon's server, Jetty, uses TCP_NODELAY (ServerConnector.java of Jetty).
	if err := g.Open(ctx, remote.Protocol{}); err != nil {
		return fmt.Errorf("geocoder photon: %w", err)
	}
	return nil
}

// Reverse implements geocoding.Geocoder. If nothing is near and there is no category, it requests the nearest
// settlement.
func (g *Geocoder) Reverse(ctx context.Context, req *geocoding.Request) (*geocoding.Result, error) {
	ctx = g.WithCalls(ctx)
	tags, filtered := tagsOf(req.Categories)
	found, err := g.lookUp(ctx, req, g.query(req, tags))
	if err != nil {
		return nil, err
	}
	if result := req.Answer(found); len(result.Places) > 0 || filtered {
		return result, nil
	}
	here, land := country.Lookup(req.Point)
	if !land {
		return req.Fallback(nil), nil
	}
	if found, err = g.lookUp(ctx, req, g.settlementQuery(req)); err != nil {
		return nil, err
	}
	return req.Fallback(inCountry(here, found)), nil
}

// inCountry returns the objects in a country. Photon searches by distance only, across borders.
func inCountry(here country.Country, found []geocoding.Found) (in []geocoding.Found) {
	for _, f := range found {
		if f.Address.CountryCode == "" || f.Address.CountryCode == here.Alpha2 || here.IsTerritoryOf(f.Address.CountryCode) {
			in = append(in, f)
		}
	}
	return in
}

// lookUp sends a request to Photon. Languages are in the header, from which Photon takes the first that it has. Its
// parameter `lang` takes one language, and Photon refuses unknown ones (query/RequestFactoryBase.java).
func (g *Geocoder) lookUp(ctx context.Context, req *geocoding.Request, query string) (
	found []geocoding.Found, err error) {
	request := &remote.Request{Path: "/reverse", Query: query, Languages: req.Languages}
	err = g.Send(ctx, request, func(status int, body []byte) (err error) {
		if found, err = parse(status, body); err != nil {
			return err
		}
		for i := range found {
			if req.Implausible(found[i].Geometry.Bound(), max(req.MaxDistance, settlementRadius)) {
				return remote.InvalidResponse("object %d lies far from the position", i)
			}
		}
		return nil
	})
	return found, err
}

// Search implements geocoding.Searcher.
func (g *Geocoder) Search(ctx context.Context, q *geocoding.Query) (result *geocoding.Result, err error) {
	request := &remote.Request{Path: "/api", Query: searchQuery(q), Languages: q.Languages}
	err = g.Send(ctx, request, func(status int, body []byte) error {
		found, err := parse(status, body)
		if err == nil {
			result = q.Answer(found)
		}
		return err
	})
	return result, err
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	geocoder photon <upstreams...> {
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
//	    geocoder photon http://photon-1:2322 http://photon-2:2322 {
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
