package geocoding

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

// handler is what the handlers of this package are.
type handler interface {
	caddy.Module
	caddy.Provisioner
	caddyhttp.MiddlewareHandler
	caddyfile.Unmarshaler

	unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error
	// served returns the paths to list, after unmarshal.
	served() []string
}

// register registers a handler and its directive.
func register(directive string, create func() handler) {
	caddy.RegisterModule(create())
	httpcaddyfile.RegisterHandlerDirective(directive, func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		handler := create()
		if err := handler.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
			return nil, err
		}
		return handler, app.Serves(h, handler.served()...)
	})
	httpcaddyfile.RegisterDirectiveOrder(directive, httpcaddyfile.Before, "respond")
}

// common is the state of a handler that asks geocoders of a kind.
type common[G any] struct {
	endpoints []endpoint
	gates     map[account.Scope]*app.Gate
	geocoders []G
	app       *app.App
	logger    *zap.Logger
}

// endpoint is a path that a handler serves. given is configured, and empty for the default.
type endpoint struct {
	option, given, preset string
	path                  request.Prefix
}

// check reads the paths of endpoints, no two of which are the same, and checks that there is a geocoder.
func (c *common[G]) check(directive string, geocoders []json.RawMessage, endpoints ...endpoint) error {
	if len(geocoders) == 0 {
		return errors.New(directive + " needs at least one geocoder")
	}
	for i := range endpoints {
		e := &endpoints[i]
		path, err := request.ParsePrefix(cmp.Or(e.given, e.preset))
		same := slices.IndexFunc(endpoints[:i], func(e endpoint) bool { return e.path == path })
		if err == nil && same == 0 {
			err = fmt.Errorf("%q is the path of the endpoint itself", path)
		} else if err == nil && same > 0 {
			err = fmt.Errorf("%q is the path of %s", path, endpoints[same].option)
		}
		if err != nil {
			return options.Wrap(e.option, err)
		}
		e.path = path
	}
	c.endpoints = endpoints
	return nil
}

// provision loads the geocoders of a checked handler, and makes its gates. No directive around it may remove a part of
// its paths, but for the presets of the older paths, which few requests are for.
func (c *common[G]) provision(ctx caddy.Context, handler any, public bool, scopes ...account.Scope) (err error) {
	c.logger = ctx.Logger()
	for _, e := range c.endpoints {
		if e.option == "simple" && string(e.path) == e.preset {
			continue
		}
		if _, err := app.Prefix(ctx, e.option, e.path.Path()); err != nil {
			return err
		}
	}
	if c.app, err = app.Get(ctx); err != nil {
		return err
	}
	c.gates = c.app.NewGates(ctx, apierror.Platform, public, scopes...)
	modules, err := ctx.LoadModule(handler, "GeocodersRaw")
	if err != nil {
		return fmt.Errorf("loading the geocoders: %w", err)
	}
	for _, module := range modules.([]any) {
		geocoder, ok := module.(G)
		if !ok {
			return fmt.Errorf("module %T cannot search by text, or is no geocoder", module)
		}
		c.geocoders = append(c.geocoders, geocoder)
	}
	return nil
}

func (c *common[G]) served() []string { return []string{c.endpoints[0].path.Path()} }

// route returns the index of the endpoint that a request is for. If it may not pass, is for none or has another method
// than GET or HEAD, route answers that, and returns -1.
func (c *common[G]) route(w http.ResponseWriter, r *http.Request, scope account.Scope) int {
	if c.gates[scope].Refuse(w, r) {
		return -1
	}
	i := slices.IndexFunc(c.endpoints, func(e endpoint) bool {
		rest, ok := e.path.Below(r.URL)
		return ok && rest == ""
	})
	if refuse(w, r, i >= 0) {
		return -1
	}
	return i
}

// refuse answers a request for an unknown path or with another method than GET or HEAD.
func refuse(w http.ResponseWriter, r *http.Request, known bool) bool {
	switch {
	case !known:
		apierror.Platform.Write(w, apierror.NotFound("not found"))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
	default:
		return false
	}
	return true
}

// observe measures a lookup that began at a time.
func (c *common[G]) observe(start time.Time) {
	c.app.Metrics().Lookups.Observe(time.Since(start).Seconds())
}

// fail answers with an error.
func (c *common[G]) fail(w http.ResponseWriter, err error) {
	if answer.WriteFailure(w, apierror.Platform, err) {
		c.logger.Error("geocoding failed", zap.Error(err))
	}
}

// find asks one geocoder after the other, until one finds something.
func find[G geocoding.Searcher](ctx context.Context, c *common[G], q *geocoding.Query) (
	r *geocoding.Result, err error) {
	defer c.observe(time.Now())
	for _, g := range c.geocoders {
		if r, err = g.Search(ctx, q); err != nil || len(r.Places) > 0 {
			break
		}
	}
	return r, err
}

func geocoderOption(list *[]json.RawMessage, known app.RegionNames) options.Option {
	return options.Option{Name: "geocoder", Args: "<module> [<arguments...>]", Repeats: true,
		Read: func(d *caddyfile.Dispenser) error {
			module, raw, err := options.Module(d, "maps.geocoders", "source")
			if err != nil {
				return err
			}
			*list = append(*list, raw)
			return known.CheckModule(module)
		}}
}
