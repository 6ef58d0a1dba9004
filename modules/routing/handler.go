// Package routing has two Caddy modules:
//
//   - the handler `maps_route` answers routes, matrices, best orders and isochrones, and serves OSRM's HTTP API;
//   - the router `local` computes them on region files of this server.
//
// The engine is in internal/routing, and routers that ask other servers are in modules/remote. Start with
// Handler.ServeHTTP and the table of endpoints.
package routing

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Handler)) }

// Handler answers routes (`/api/v1/route`, `/api/route/direction/`), matrices, one-to-many routes, best orders and
// isochrones, and serves OSRM's HTTP API (`/route/v1/…`). How to call it: docs/build/routing.md.
type Handler struct {
	// A path in front of all paths, as this handler sees them. Default: none.
	Prefix string `json:"prefix,omitempty"`

	// The routers. Of those for the request's profile, the first that covers all coordinates answers, or the one that
	// covers most of them. One without known coverage covers everything. Required.
	RoutersRaw []json.RawMessage `json:"routers,omitempty" caddy:"namespace=maps.routers inline_key=source"`

	// The most elements of a matrix, 1 to 10000000. Default: 10000.
	MaxElements int `json:"max_elements,omitempty"`

	// The most coordinates of a route, 2 to 10000. Default: 100.
	MaxCoordinates int `json:"max_coordinates,omitempty"`

	// The profiles on offer: `car`, `bicycle`, `foot`. The first is for requests without `profile`. Default: all three.
	Profile matching.Profiles `json:"profile,omitempty"`

	// A CSV file of live speeds for cars, with lines `way,forward km/h,backward km/h`, for the regions of routers `local`.
	// 0 closes a road. Changes of the file take effect within seconds. Default: none.
	Speeds string `json:"speeds,omitempty"`

	// Whether requests without maps_auth and the scope of their path are served. Otherwise they get 500. Default: false.
	Public bool `json:"public,omitempty"`

	prefix  request.Prefix
	gates   map[account.Scope]*app.Gate
	routers []routing.Router
	offer   []routing.Profile
	app     *app.App
	logger  *zap.Logger
}

const (
	defaultMaxElements    = 10_000
	maxMaxElements        = 10_000_000
	defaultMaxCoordinates = 100
	maxMaxCoordinates     = 10_000
	// maxBody is the largest body of a POST in bytes.
	maxBody = 1 << 20
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_route", New: func() caddy.Module { return new(Handler) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (h *Handler) UnmarshalJSON(data []byte) error { return options.Decode(data, h) }

// Provision loads the routers.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	if h.Prefix != "" {
		if h.prefix, err = app.Prefix(ctx, "prefix", h.Prefix); err != nil {
			return err
		}
	}
	if h.app, err = app.Get(ctx); err != nil {
		return err
	}
	h.gates = h.app.NewGates(ctx, apierror.Routing, h.Public,
		account.ScopeDirection, account.ScopeMatrix, account.ScopeONM, account.ScopeTSS)
	h.setDefaults()
	if h.offer, err = profiles(h.Profile); err != nil {
		return err
	}
	if len(h.RoutersRaw) == 0 {
		return nil // an error of Validate
	}
	modules, err := ctx.LoadModule(h, "RoutersRaw")
	if err != nil {
		return fmt.Errorf("loading the routers: %w", err)
	}
	for _, module := range modules.([]any) {
		router, ok := module.(routing.Router)
		if !ok {
			return fmt.Errorf("module %T is not a router", module)
		}
		h.routers = append(h.routers, router)
	}
	if h.Speeds != "" {
		var of []*regions.Region
		for _, router := range h.routers {
			if l, ok := router.(*Local); ok {
				of = append(of, l.regions...)
			}
		}
		go watchSpeeds(ctx, h.Speeds, of, h.logger)
	}
	return nil
}

func (h *Handler) setDefaults() {
	if h.MaxElements == 0 {
		h.MaxElements = defaultMaxElements
	}
	if h.MaxCoordinates == 0 {
		h.MaxCoordinates = defaultMaxCoordinates
	}
}

var errNoRouter = errors.New("maps_route needs the name of at least one region, or a router")

// Validate checks the configuration.
func (h *Handler) Validate() error {
	if len(h.routers) == 0 {
		return errNoRouter
	}
	if err := h.validateLimits(); err != nil {
		return err
	}
	for _, p := range h.offer {
		if len(h.routersFor(p)) == 0 {
			return options.Errorf("profile", "none of the routers answers for %s", profileName(p))
		}
	}
	return nil
}

func (h *Handler) validateLimits() error {
	switch {
	case h.MaxElements < 1 || h.MaxElements > maxMaxElements:
		return options.Errorf("max_elements", "%d is not between 1 and %d", h.MaxElements, maxMaxElements)
	case h.MaxCoordinates < 2 || h.MaxCoordinates > maxMaxCoordinates:
		return options.Errorf("max_coordinates", "%d is not between 2 and %d", h.MaxCoordinates, maxMaxCoordinates)
	}
	return nil
}

// endpoint is a path of the API.
type endpoint struct {
	style apierror.Style
	scope account.Scope
	post  bool // whether it takes a POST as well
	names []string
	serve func(c *call) error
}

// endpoints are all paths but those of OSRM's API.
var endpoints = map[string]*endpoint{
	"/api/v1/route": {apierror.Platform, account.ScopeDirection, true, routeNames, (*call).route},
	"/api/route/direction": {apierror.Routing, account.ScopeDirection, true,
		append([]string{"instruction"}, routeNames...), (*call).direction},
	"/api/route/matrix": {apierror.Routing, account.ScopeMatrix, true,
		append([]string{"json", "origins", "destinations"}, costNames...), (*call).matrix},
	"/api/route/onm": {apierror.Routing, account.ScopeONM, true,
		append([]string{"origin", "json", "includeCoordinate"}, costNames...), (*call).oneToMany},
	"/api/route/tss": {apierror.Routing, account.ScopeTSS, true,
		append([]string{"json", "includeCoordinate", "roundtrip", "destination"}, costNames...), (*call).order},
	"/api/v1/isochrone": {apierror.Platform, account.ScopeDirection, false,
		append([]string{"origin", "minutes", "metres", "reverse"}, costNames...), (*call).isochrone},
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if h.serveOSRM(w, r) {
		return nil
	}
	path := r.URL.Path
	if h.Prefix != "" {
		rest, ok := h.prefix.Below(r.URL)
		if !ok {
			apierror.Platform.Write(w, apierror.NotFound("not found"))
			return nil
		}
		path = rest
	}
	e := endpoints[path]
	if e == nil && strings.HasPrefix(path, "/api/route/") {
		e = endpoints[strings.TrimSuffix(path, "/")]
	}
	if e == nil {
		style := apierror.Platform
		if strings.HasPrefix(path, "/api/route/") {
			style = apierror.Routing
		}
		style.Write(w, apierror.NotFound("not found"))
		return nil
	}
	if h.gates[e.scope].RefuseAs(e.style, w, r) {
		return nil
	}
	c := &call{Handler: h, endpoint: e, r: r, ctx: r.Context(), caller: app.Caller(r.Context())}
	c.buf = answer.GetBuffer()
	defer c.end()
	if err := c.answer(); err != nil {
		h.fail(w, e, path, err)
		return nil
	}
	answer.Write(w, c.media, c.buf.Bytes)
	return nil
}

// fail writes an error. Clients of the origin service read `message` at the top level.
func (h *Handler) fail(w http.ResponseWriter, e *endpoint, path string, err error) {
	failure, expected := answer.Failure(err)
	if !expected {
		h.logger.Error("routing failed", zap.Error(err))
	}
	if failure.Status == answer.StatusClientClosedRequest {
		w.WriteHeader(failure.Status)
		return
	}
	if strings.TrimSuffix(path, "/") == "/api/route/direction" {
		failure.TopMessage = true
	}
	e.style.Write(w, failure)
}

// local returns the JSON of the router `local` on regions.
func local(regions []string) json.RawMessage {
	return caddyconfig.JSONModuleObject(&Local{Regions: regions}, "source", "local", nil)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
