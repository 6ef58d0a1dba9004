// Package console is the Caddy handler `maps_console`: the page on which service accounts are managed.
package console

import (
	"cmp"
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/internal/webpage"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Console))
	httpcaddyfile.RegisterHandlerDirective("maps_console", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_console", httpcaddyfile.Before, "respond")
}

// Console serves a page on which the holder of a user token manages the service accounts of their organization and sees
// what they used. The token comes by signing in, where `user_tokens` has `login`, from the address that `caddy maps
// user-token --console` prints, or by pasting, and stays in the memory of the page. The page finds the API at
// `../api/v1/`, so `maps_accounts` and `maps_tokens` have to stand there.
type Console struct {
	// The path of the page, as this handler sees it. Default: `/console`.
	Prefix string `json:"prefix,omitempty"`

	prefix request.Prefix
	page   *webpage.Page
}

const defaultPrefix = "/console"

//go:embed web
var web embed.FS

// CaddyModule returns the Caddy module information.
func (*Console) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_console", New: func() caddy.Module { return new(Console) }}
}

// Provision finds out how users sign in, and reads the files of the page.
func (c *Console) Provision(ctx caddy.Context) (err error) {
	if c.prefix, err = request.ParsePrefix(cmp.Or(c.Prefix, defaultPrefix)); err != nil {
		return options.Of("prefix", err)
	}
	app, err := app.Get(ctx)
	if err != nil {
		return err
	}
	signIn := app.SignIn()
	// The page writes no markup as text, so that the browser may refuse all of it.
	policy := webpage.Policy{TrustedTypes: true}
	if signIn.Login != nil {
		policy.Connect = append(policy.Connect, signIn.Login.TokenOrigin())
	}
	own, err := fs.Sub(web, "web")
	if err != nil {
		return err
	}
	if c.page, err = webpage.New(policy, webpage.Shared(), webpage.Files{FS: own}); err != nil {
		return err
	}
	settings, err := json.Marshal(signIn)
	if err != nil {
		return err
	}
	c.page.Add("sign-in.json", settings, 0)
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	rest, ok := c.prefix.Below(r.URL)
	if !ok {
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	}
	c.page.Serve(w, r, rest)
	return nil
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	c := new(Console)
	return c, c.UnmarshalCaddyfile(h.Dispenser)
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
