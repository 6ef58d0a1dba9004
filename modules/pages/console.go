package pages

import (
	"cmp"
	"encoding/json"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Console))
	httpcaddyfile.RegisterHandlerDirective("maps_console", parseConsole)
	httpcaddyfile.RegisterDirectiveOrder("maps_console", httpcaddyfile.Before, "respond")
}

// Console serves the console, a page to manage service accounts (docs/build/pages.md#the-console). It calls
// `maps_accounts` and `maps_tokens` at `../api/v1/`.
type Console struct {
	// The path of the page, as this handler sees it. Default: `/console`.
	Prefix string `json:"prefix,omitempty"`

	prefix request.Prefix
	page   *page
}

const defaultConsolePrefix = "/console"

// CaddyModule returns the Caddy module information.
func (*Console) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_console", New: func() caddy.Module { return new(Console) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (c *Console) UnmarshalJSON(data []byte) error { return options.Decode(data, c) }

// Provision reads how users sign in, and the files of the page.
func (c *Console) Provision(ctx caddy.Context) (err error) {
	if c.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(c.Prefix, defaultConsolePrefix)); err != nil {
		return err
	}
	app, err := app.Get(ctx)
	if err != nil {
		return err
	}
	signIn := app.SignIn()
	// The page writes no markup as text, so the browser may refuse all of it.
	policy := contentPolicy{trustedTypes: true}
	if signIn.Login != nil {
		policy.connect = append(policy.connect, signIn.Login.TokenOrigin())
	}
	if c.page, err = newPage("console", policy); err != nil {
		return err
	}
	settings, err := json.Marshal(signIn)
	if err != nil {
		return err
	}
	c.page.add("sign-in.json", settings, 0)
	c.page.addScopes(app)
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	rest, ok := c.prefix.Below(r.URL)
	if !ok {
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	}
	c.page.serve(w, r, rest)
	return nil
}

func parseConsole(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	c := new(Console)
	if err := c.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return c, app.Serves(h, cmp.Or(c.Prefix, defaultConsolePrefix))
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_console [<matcher>] {
//	    prefix <path>
//	}
//
// Example:
//
//	handle /console/* {
//	    maps_console
//	}
func (c *Console) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return app.UnmarshalPrefix(d, &c.Prefix)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Console)(nil)
	_ caddyhttp.MiddlewareHandler = (*Console)(nil)
	_ caddyfile.Unmarshaler       = (*Console)(nil)
)
