package app

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Health))
	httpcaddyfile.RegisterHandlerDirective("maps_health", parseHealth)
	httpcaddyfile.RegisterDirectiveOrder("maps_health", httpcaddyfile.Before, "respond")
}

// Health answers health checks of load balancers: 200 while the service works, otherwise 503, with the state of the
// store and of each region as JSON.
type Health struct {
	app *App
}

// CaddyModule returns the Caddy module information.
func (*Health) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_health", New: func() caddy.Module { return new(Health) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (h *Health) UnmarshalJSON(data []byte) error { return options.Decode(data, h) }

// Provision finds the app.
func (h *Health) Provision(ctx caddy.Context) (err error) {
	h.app, err = Get(ctx)
	return err
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
		return nil
	}
	status := h.app.Status(r.Context())
	code := http.StatusOK
	if !status.Healthy() {
		code = http.StatusServiceUnavailable
	}
	request.WriteJSON(w, code, status)
	return nil
}

func parseHealth(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	health := new(Health)
	return health, health.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive, which has no options:
//
//	maps_health [<matcher>]
//
// Example:
//
//	handle /healthz {
//	    maps_health
//	}
func (h *Health) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	return options.Block(d, "maps_health", nil)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Health)(nil)
	_ caddyhttp.MiddlewareHandler = (*Health)(nil)
	_ caddyfile.Unmarshaler       = (*Health)(nil)
)
