// Package geocoding has the Caddy handler `maps_reverse_geocode`, which answers what is at a position, and the geocoder
// `local`, which answers from region files of this server. They read configuration, check requests and write answers.
// The search is in internal/geocoding; geocoders that ask other servers are in modules/remote.
//
// Start with Handler.ServeHTTP, then Local.Reverse.
package geocoding

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Handler)) }

// Handler answers `GET /v2/search/reverse-geocoding?lat=&lon=`: places at and around a position, nearest first, with
// addresses; and `GET /v2/search/coverage`: the regions that it knows. How to call it: docs/build/geocoding.md.
type Handler struct {
	// The path, as this handler sees it. Others but `coverage` are 404. Default: `/v2/search/reverse-geocoding`.
	Prefix string `json:"prefix,omitempty"`

	// The path of the regions' list. Default: `/v2/search/coverage`.
	Coverage string `json:"coverage,omitempty"`

	// The geocoders. The first that covers the position answers. One without known coverage covers everything.
	// Required.
	GeocodersRaw []json.RawMessage `json:"geocoders,omitempty" caddy:"namespace=maps.geocoders inline_key=source"`

	// The largest distance of a feature in metres, up to 100000. Default: 1000.
	MaxDistance float64 `json:"max_distance,omitempty"`

	// Whether requests without maps_auth and REVERSEGEOCODING are served. Otherwise they get 500. Default: false.
	Public bool `json:"public,omitempty"`

	gate      *app.Gate
	prefix    request.Prefix
	coverage  request.Prefix
	geocoders []geocoding.Geocoder
	app       *app.App
	logger    *zap.Logger
}

const (
	defaultPrefix   = "/v2/search/reverse-geocoding"
	defaultCoverage = "/v2/search/coverage"

	maxMaxDistance = 100_000 // metres
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_reverse_geocode", New: func() caddy.Module { return new(Handler) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (h *Handler) UnmarshalJSON(data []byte) error { return options.Decode(data, h) }

// Provision loads the geocoders.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	if err := h.check(); err != nil {
		return err
	}
	if _, err := app.Prefix(ctx, "prefix", h.prefix.Path()); err != nil {
		return err
	}
	if _, err := app.Prefix(ctx, "coverage", h.coverage.Path()); err != nil {
		return err
	}
	if h.app, err = app.Get(ctx); err != nil {
		return err
	}
	h.gate = h.app.NewGate(ctx, account.ScopeReverseGeocoding, apierror.Platform, h.Public)
	if len(h.GeocodersRaw) == 0 {
		return nil // an error of Validate
	}
	modules, err := ctx.LoadModule(h, "GeocodersRaw")
	if err != nil {
		return fmt.Errorf("loading the geocoders: %w", err)
	}
	for _, module := range modules.([]any) {
		geocoder, ok := module.(geocoding.Geocoder)
		if !ok {
			return fmt.Errorf("module %T is not a geocoder", module)
		}
		h.geocoders = append(h.geocoders, geocoder)
	}
	return nil
}

var errNoGeocoder = errors.New("maps_reverse_geocode needs at least one geocoder")

// check sets the defaults and checks everything but the geocoders.
func (h *Handler) check() (err error) {
	if h.prefix, err = request.ParsePrefix(cmp.Or(h.Prefix, defaultPrefix)); err != nil {
		return options.Wrap("prefix", err)
	}
	if h.coverage, err = request.ParsePrefix(cmp.Or(h.Coverage, defaultCoverage)); err != nil {
		return options.Wrap("coverage", err)
	}
	if h.coverage == h.prefix {
		return options.Errorf("coverage", "%q is the path of the endpoint itself", h.coverage)
	}
	if h.MaxDistance == 0 {
		h.MaxDistance = geocoding.DefaultMaxDistance
	}
	if !(h.MaxDistance > 0 && h.MaxDistance <= maxMaxDistance) {
		return options.Errorf("max_distance", "%v is not more than 0 and at most %d metres", h.MaxDistance, maxMaxDistance)
	}
	return nil
}

// Validate checks that there is a geocoder.
func (h *Handler) Validate() error {
	if len(h.geocoders) == 0 {
		return errNoGeocoder
	}
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if h.gate.Refuse(w, r) {
		return nil
	}
	listing := isAt(h.coverage, r)
	if !listing && !isAt(h.prefix, r) {
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
		return nil
	}
	if listing {
		h.serveCoverage(w)
		return nil
	}
	mine := memories.Get().(*memory)
	defer memories.Put(mine)
	req := &mine.request
	chosen, err := parse(r.URL.RawQuery, req)
	if err != nil {
		h.fail(w, err)
		return nil
	}
	if !chosen {
		if req.Languages = accepted(r.Header); req.Languages != nil {
			w.Header().Add("Vary", acceptLanguage)
		}
	}
	req.MaxDistance = h.MaxDistance
	req.Into = &mine.result
	start := time.Now()
	result, err := h.choose(req.Point).Reverse(r.Context(), req)
	h.app.Metrics().Lookups.Observe(time.Since(start).Seconds())
	if err != nil {
		h.fail(w, err)
		return nil
	}
	buf := answer.GetBuffer()
	defer buf.Free()
	buf.Bytes = answer.AppendPlaces(buf.Bytes, req.Point, result)
	answer.Write(w, answer.JSON, buf.Bytes)
	return nil
}

// isAt reports whether a request is for exactly this path.
func isAt(path request.Prefix, r *http.Request) bool {
	rest, ok := path.Below(r.URL)
	return ok && rest == ""
}

// memory is reused from one request to the next.
type memory struct {
	request geocoding.Request
	result  geocoding.Result
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// choose returns the first geocoder that covers a position, or else the last one, which answers that it found nothing.
func (h *Handler) choose(p orb.Point) geocoding.Geocoder {
	last := len(h.geocoders) - 1
	best, covered := regions.BestCovering(h.geocoders[:last], func(g geocoding.Geocoder) (covered, of int) {
		return regions.CoversPoint(g, p)
	})
	if covered > 0 {
		return h.geocoders[best]
	}
	return h.geocoders[last]
}

func (h *Handler) fail(w http.ResponseWriter, err error) {
	if answer.WriteFailure(w, apierror.Platform, err) {
		h.logger.Error("reverse geocoding failed", zap.Error(err))
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
