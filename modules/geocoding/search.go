package geocoding

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Search))
	httpcaddyfile.RegisterHandlerDirective("maps_geocode", parseSearch)
	httpcaddyfile.RegisterDirectiveOrder("maps_geocode", httpcaddyfile.Before, "respond")
}

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

	gate      *app.Gate
	paths     []request.Prefix
	geocoders []geocoding.Searcher
	app       *app.App
	logger    *zap.Logger
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
func (s *Search) Provision(ctx caddy.Context) (err error) {
	s.logger = ctx.Logger()
	if err := s.check(); err != nil {
		return err
	}
	if err := reachable(ctx, s.paths, "prefix", "simple"); err != nil {
		return err
	}
	if s.app, err = app.Get(ctx); err != nil {
		return err
	}
	s.gate = s.app.NewGate(ctx, account.ScopeGeocoding, apierror.Platform, s.Public)
	s.geocoders, err = load[geocoding.Searcher](ctx, s, len(s.GeocodersRaw), "cannot search by text")
	return err
}

func (s *Search) check() (err error) {
	s.paths, err = parseEndpoints(endpoint{"prefix", s.Prefix, defaultSearch},
		endpoint{"simple", s.Simple, defaultSimpleSearch})
	return err
}

var errNoSearcher = noGeocoder("maps_geocode")

// Validate checks that there is a geocoder.
func (s *Search) Validate() error {
	if len(s.geocoders) == 0 {
		return errNoSearcher
	}
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (s *Search) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if s.gate.Refuse(w, r) {
		return nil
	}
	at := route(w, r, s.paths)
	if at < 0 {
		return nil
	}
	mine := memories.Get().(*memory)
	defer memories.Put(mine)
	q := &mine.query
	name := "query"
	if at == atSimple {
		name = "name"
	}
	explain, err := parseSearchQuery(r.URL.RawQuery, name, q)
	if err != nil {
		s.fail(w, err)
		return nil
	}
	if q.Languages == nil {
		q.Languages = accepted(w, r)
	}
	q.Into = &mine.result
	start := time.Now()
	result, err := s.search(r.Context(), q)
	s.app.Metrics().Lookups.Observe(time.Since(start).Seconds())
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

// search asks one geocoder after the other, until one finds something.
func (s *Search) search(ctx context.Context, q *geocoding.Query) (result *geocoding.Result, err error) {
	for _, g := range s.geocoders {
		if result, err = g.Search(ctx, q); err != nil || len(result.Places) > 0 {
			break
		}
	}
	return result, err
}

func (s *Search) fail(w http.ResponseWriter, err error) {
	if errors.Is(err, geocoding.ErrWork) {
		err = apierror.FailedValidation("query: " + err.Error())
	}
	if answer.WriteFailure(w, apierror.Platform, err) {
		s.logger.Error("a search failed", zap.Error(err))
	}
}

func parseSearch(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	s := new(Search)
	if err := s.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
		return nil, err
	}
	return s, app.Serves(h, cmp.Or(s.Prefix, defaultSearch))
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
	check := func() error {
		if len(s.GeocodersRaw) == 0 {
			return errNoSearcher
		}
		return (&Search{Prefix: s.Prefix, Simple: s.Simple}).check()
	}
	return options.Block(d, "maps_geocode", check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&s.Prefix)},
		options.Option{Name: "simple", Args: "<path>", Read: options.Path(&s.Simple)},
		geocoderOption(&s.GeocodersRaw, known),
		options.Option{Name: "public", Read: options.Flag(&s.Public)},
	)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Search)(nil)
	_ caddy.Validator             = (*Search)(nil)
	_ caddyhttp.MiddlewareHandler = (*Search)(nil)
	_ caddyfile.Unmarshaler       = (*Search)(nil)
)
