// Package geocoding has the Caddy handlers `maps_geocode`, which finds places by text, and `maps_reverse_geocode`,
// which answers what is at a position, and the geocoder `local`, which answers both from region files of this server.
// They read configuration, check requests and write answers. The engines are in internal/search and internal/geocoding;
// geocoders that ask other servers are in modules/remote.
//
// Start with Search.ServeHTTP and Handler.ServeHTTP, then Local.
package geocoding

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { register("maps_reverse_geocode", func() handler { return new(Handler) }) }

// Handler answers `GET /v2/search/reverse-geocoding?lat=&lon=`: places at and around a position, nearest first, with
// addresses; and `GET /v2/search/coverage`: the regions that it knows. How to call it: docs/build/geocoding.md.
type Handler struct {
	// The path, as this handler sees it. Others but `coverage` and `simple` are 404. Default:
	// `/v2/search/reverse-geocoding`.
	Prefix string `json:"prefix,omitempty"`

	// The path of the regions' list. Default: `/v2/search/coverage`.
	Coverage string `json:"coverage,omitempty"`

	// The path that answers in the origin service's older, shorter form. Default: `/api/v1/route/revgeocoding`.
	Simple string `json:"simple,omitempty"`

	// The geocoders. The first that covers the position answers. One without known coverage covers everything.
	// Required.
	GeocodersRaw []json.RawMessage `json:"geocoders,omitempty" caddy:"namespace=maps.geocoders inline_key=source"`

	// The largest distance of a feature in metres, up to 100000. Default: 1000.
	MaxDistance float64 `json:"max_distance,omitempty"`

	// Whether requests without maps_auth and REVERSEGEOCODING are served. Otherwise they get 500. Default: false.
	Public bool `json:"public,omitempty"`

	common[geocoding.Geocoder]
}

// The indices of the paths of both handlers: their own, that of the simple form, and the reverse geocoder's list.
const (
	atPrefix = iota
	atSimple
	atCoverage
)

const (
	defaultPrefix   = "/v2/search/reverse-geocoding"
	defaultCoverage = "/v2/search/coverage"
	defaultSimple   = "/api/v1/route/revgeocoding"

	maxMaxDistance = 100_000 // metres
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_reverse_geocode", New: func() caddy.Module { return new(Handler) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (h *Handler) UnmarshalJSON(data []byte) error { return options.Decode(data, h) }

// Provision loads the geocoders.
func (h *Handler) Provision(ctx caddy.Context) error {
	if err := h.check(); err != nil {
		return err
	}
	h.MaxDistance = cmp.Or(h.MaxDistance, geocoding.DefaultMaxDistance)
	return h.provision(ctx, h, h.Public, account.ScopeReverseGeocoding)
}

func (h *Handler) check() error {
	if d := h.MaxDistance; d != 0 && !(d > 0 && d <= maxMaxDistance) {
		return options.Errorf("max_distance", "%v is not more than 0 and at most %d metres", d, maxMaxDistance)
	}
	return h.common.check("maps_reverse_geocode", h.GeocodersRaw,
		endpoint{option: "prefix", given: h.Prefix, preset: defaultPrefix},
		endpoint{option: "simple", given: h.Simple, preset: defaultSimple},
		endpoint{option: "coverage", given: h.Coverage, preset: defaultCoverage})
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	at := h.route(w, r, account.ScopeReverseGeocoding)
	if at < 0 {
		return nil
	}
	if at == atCoverage {
		h.serveCoverage(w)
		return nil
	}
	mine := memories.Get().(*memory)
	defer memories.Put(mine)
	req := &mine.request
	size := geocoding.MinSize
	if at == atSimple {
		size = geocoding.MaxSize
	}
	if err := parse(r.URL.RawQuery, size, req); err != nil {
		h.fail(w, err)
		return nil
	}
	if req.Languages == nil {
		req.Languages = accepted(w, r)
	}
	req.MaxDistance = h.MaxDistance
	req.Into = &mine.result
	start := time.Now()
	result, err := choose(h.geocoders, req.Point).Reverse(r.Context(), req)
	h.observe(start)
	if err != nil {
		h.fail(w, err)
		return nil
	}
	buf := answer.GetBuffer()
	defer buf.Free()
	if at == atSimple {
		buf.Bytes = answer.AppendSimplePlaces(buf.Bytes, result)
	} else {
		buf.Bytes = answer.AppendPlaces(buf.Bytes, req.Point, result)
	}
	answer.Write(w, answer.JSON, buf.Bytes)
	return nil
}

// memory is reused from one request to the next.
type memory struct {
	request geocoding.Request
	query   geocoding.Query
	result  geocoding.Result
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// choose returns the first geocoder that covers a position, or else the last one, which answers that it found nothing.
func choose[G geocoding.Geocoder](geocoders []G, p orb.Point) G {
	last := len(geocoders) - 1
	best, covered := regions.BestCovering(geocoders[:last], func(g G) (covered, of int) {
		return regions.CoversPoint(g, p)
	})
	if covered > 0 {
		return geocoders[best]
	}
	return geocoders[last]
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_reverse_geocode [<matcher>] {
//	    prefix       <path>
//	    coverage     <path>
//	    simple       <path>
//	    geocoder     <module> [<arguments...>]
//	    max_distance <metres>
//	    public
//	}
//
// `geocoder` may be repeated. Example:
//
//	@reverse path /v2/search/reverse-geocoding /v2/search/coverage /api/v1/route/revgeocoding
//	handle @reverse {
//	    maps_auth REVERSEGEOCODING {
//	        api_key_query apiKey
//	    }
//	    maps_reverse_geocode {
//	        geocoder     local delaware
//	        max_distance 500
//	    }
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return h.unmarshal(d, nil) }

func (h *Handler) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	return options.Block(d, "maps_reverse_geocode", h.check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&h.Prefix)},
		options.Option{Name: "coverage", Args: "<path>", Read: options.Path(&h.Coverage)},
		options.Option{Name: "simple", Args: "<path>", Read: options.Path(&h.Simple)},
		geocoderOption(&h.GeocodersRaw, known),
		options.Option{Name: "max_distance", Args: "<metres>", Read: options.Metres(&h.MaxDistance)},
		options.Option{Name: "public", Read: options.Flag(&h.Public)},
	)
}
