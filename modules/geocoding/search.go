package geocoding

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { register("maps_geocode", func() handler { return new(Search) }) }

// Search answers `GET /v2/search/geocode?query=`: places, streets, addresses and points of interest that a text may
// mean, best first, also while it is being typed. How to call it: docs/build/search.md.
type Search struct {
	// The path, as this handler sees it. Others but `simple` are 404. Default: `/v2/search/geocode`.
	Prefix string `json:"prefix,omitempty"`

	// The path that answers in the origin service's older, shorter form. Default: `/api/v1/route/geocoding`.
	Simple string `json:"simple,omitempty"`

	// The geocoders, asked in turn until one finds something. `local` finds places of all its regions at once. Required.
	GeocodersRaw []json.RawMessage `json:"geocoders,omitempty" caddy:"namespace=maps.geocoders inline_key=source"`

	// Whether requests without maps_auth and GEOCODING are served. Otherwise they get 500. Default: false.
	Public bool `json:"public,omitempty"`

	common[geocoding.Searcher]
}

const (
	defaultSearch       = "/v2/search/geocode"
	defaultSimpleSearch = "/api/v1/route/geocoding"
)

// CaddyModule returns the Caddy module information.
func (*Search) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_geocode", New: func() caddy.Module { return new(Search) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (s *Search) UnmarshalJSON(data []byte) error { return options.Decode(data, s) }

// Provision loads the geocoders.
func (s *Search) Provision(ctx caddy.Context) error {
	if err := s.check(); err != nil {
		return err
	}
	return s.provision(ctx, s, s.Public, account.ScopeGeocoding)
}

func (s *Search) check() error {
	return s.common.check("maps_geocode", s.GeocodersRaw,
		endpoint{option: "prefix", given: s.Prefix, preset: defaultSearch},
		endpoint{option: "simple", given: s.Simple, preset: defaultSimpleSearch})
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (s *Search) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	at := s.route(w, r, account.ScopeGeocoding)
	if at < 0 {
		return nil
	}
	mine := memories.Get().(*memory)
	defer memories.Put(mine)
	q := &mine.query
	explain, err := parseSearchQuery(r.URL.RawQuery, searchNames[at], q)
	if err != nil {
		s.fail(w, err)
		return nil
	}
	if q.Languages == nil {
		q.Languages = accepted(w, r)
	}
	q.Into = &mine.result
	result, err := find(r.Context(), &s.common, q)
	if errors.Is(err, geocoding.ErrWork) {
		err = apierror.FailedValidation("query: " + err.Error())
	}
	if err != nil {
		s.fail(w, err)
		return nil
	}
	buf := answer.GetBuffer()
	defer buf.Free()
	if at == atSimple {
		buf.Bytes = answer.AppendSimplePlaces(buf.Bytes, result)
	} else {
		buf.Bytes = answer.AppendSearch(buf.Bytes, q, result, explain)
	}
	answer.Write(w, answer.JSON, buf.Bytes)
	return nil
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_geocode [<matcher>] {
//	    prefix   <path>
//	    simple   <path>
//	    geocoder <module> [<arguments...>]
//	    public
//	}
//
// `geocoder` may be repeated. Example:
//
//	@search path /v2/search/geocode /api/v1/route/geocoding
//	handle @search {
//	    maps_auth GEOCODING {
//	        api_key_query apiKey
//	    }
//	    maps_geocode {
//	        geocoder local delaware
//	    }
//	}
func (s *Search) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return s.unmarshal(d, nil) }

func (s *Search) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	return options.Block(d, "maps_geocode", s.check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&s.Prefix)},
		options.Option{Name: "simple", Args: "<path>", Read: options.Path(&s.Simple)},
		geocoderOption(&s.GeocodersRaw, known),
		options.Option{Name: "public", Read: options.Flag(&s.Public)},
	)
}
