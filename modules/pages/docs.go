package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	swaggerui "github.com/swaggest/swgui/v5/static"

	"github.com/mapsedge/caddy-maps/docs"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Docs))
	httpcaddyfile.RegisterHandlerDirective("maps_docs", parseDocs)
	httpcaddyfile.RegisterDirectiveOrder("maps_docs", httpcaddyfile.Before, "respond")
}

// Docs serves the API reference, a page to read and try the API, and its OpenAPI document, `openapi.yaml`. The page
// leaves out scopes that no handler of the configuration requires, and map endpoints of such scopes.
type Docs struct {
	// The path of the page, as this handler sees it. Default: `/docs`.
	Prefix string `json:"prefix,omitempty"`

	prefix request.Prefix
	page   *page
}

const defaultDocsPrefix = "/docs"

// swaggerFiles are the files of Swagger UI that the page needs.
var swaggerFiles = [...]string{"swagger-ui.css", "swagger-ui-bundle.js"}

// CaddyModule returns the Caddy module information.
func (*Docs) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_docs", New: func() caddy.Module { return new(Docs) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (d *Docs) UnmarshalJSON(data []byte) error { return options.Decode(data, d) }

// Provision reads the files of the page.
func (d *Docs) Provision(ctx caddy.Context) (err error) {
	if d.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(d.Prefix, defaultDocsPrefix)); err != nil {
		return err
	}
	app, err := app.Get(ctx)
	if err != nil {
		return err
	}
	// The images in Swagger UI's style sheet are data: URLs.
	if d.page, err = newPage("docs", contentPolicy{images: []string{"data:"}}); err != nil {
		return err
	}
	d.page.add("openapi.yaml", docs.OpenAPI, 0)
	d.page.addScopes(app)
	for _, name := range swaggerFiles {
		packed, err := swaggerui.FS.ReadFile(name + ".gz")
		if err != nil {
			return fmt.Errorf("reading Swagger UI's %s: %w", name, err)
		}
		d.page.addCompressed("lib/"+name, packed, 24*time.Hour)
	}
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	rest, ok := d.prefix.Below(r.URL)
	if !ok {
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	}
	d.page.serve(w, r, rest)
	return nil
}

func parseDocs(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	d := new(Docs)
	if err := d.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return d, app.Serves(h, cmp.Or(d.Prefix, defaultDocsPrefix))
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_docs [<matcher>] {
//	    prefix <path>
//	}
//
// Example:
//
//	handle /docs/* {
//	    maps_docs
//	}
func (d *Docs) UnmarshalCaddyfile(disp *caddyfile.Dispenser) error {
	return app.UnmarshalPrefix(disp, &d.Prefix)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Docs)(nil)
	_ caddyhttp.MiddlewareHandler = (*Docs)(nil)
	_ caddyfile.Unmarshaler       = (*Docs)(nil)
)
