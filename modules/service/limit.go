package service

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Limit))
	httpcaddyfile.RegisterHandlerDirective("maps_limit", parseLimit)
	// In front of maps_auth, which is in front of `method`.
	httpcaddyfile.RegisterDirectiveOrder("maps_limit", httpcaddyfile.After, "redir")
}

// Limit limits the rate of requests of each client: of an IPv4 address, or of the /64 network of an IPv6 address, since
// a client can choose any address within it. Further requests get 429 with Retry-After. Every response has RateLimit
// and RateLimit-Policy. Limits of accounts are the option `limit` of `maps_auth`.
//
// It sets the placeholder `{http.maps.client_network}`. At most 16,384 clients are counted at a time.
type Limit struct {
	// The limit. Required.
	Limit app.RateLimit `json:"limit"`

	app *app.App
}

// CaddyModule returns the Caddy module information.
func (*Limit) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_limit", New: func() caddy.Module { return new(Limit) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (l *Limit) UnmarshalJSON(data []byte) error { return options.Decode(data, l) }

// Provision acquires the counts.
func (l *Limit) Provision(ctx caddy.Context) (err error) {
	if l.app, err = app.Get(ctx); err != nil {
		return err
	}
	return options.Wrap("limit", l.Limit.Provision())
}

// Cleanup releases the counts.
func (l *Limit) Cleanup() error {
	l.Limit.Cleanup()
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler.
func (l *Limit) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	network := app.ClientNetwork(r.Context())
	retry, refused := l.Limit.Take(w.Header(), network)
	if refused {
		l.app.Metrics().Refused(app.LimitHandler, app.ReasonRate)
		openToPages(w.Header())
		styleOf(r).Write(w, app.TooManyRequests(retry))
		return nil
	}
	app.SetClientLimit(r.Context(), &l.Limit)
	r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer).Set(app.NetworkPlaceholder, network)
	return next.ServeHTTP(w, r)
}

func parseLimit(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	l := new(Limit)
	return l, l.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive. The name is for the headers; the default is `client`:
//
//	maps_limit [<matcher>] <events> <window> [<name>]
//
// Example:
//
//	handle /tiles/* {
//	    maps_limit 1000 1s tiles_client
//	    maps_auth TILE {
//	        limit 500 1s tiles_account
//	    }
//	    maps_tiles delaware
//	}
func (l *Limit) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	l.Limit.Name = "client"
	switch err := l.Limit.Unmarshal(d); {
	case errors.Is(err, options.ErrCount):
		return options.WithLine(d, errors.New("maps_limit: wrong argument count; write maps_limit EVENTS WINDOW [NAME]"))
	case err != nil:
		return options.WithLine(d, fmt.Errorf("maps_limit: %w", err))
	}
	return options.Block(d, "maps_limit", nil)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Limit)(nil)
	_ caddy.CleanerUpper          = (*Limit)(nil)
	_ caddyhttp.MiddlewareHandler = (*Limit)(nil)
	_ caddyfile.Unmarshaler       = (*Limit)(nil)
)
