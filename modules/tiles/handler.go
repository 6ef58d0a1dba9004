// Package tiles has the Caddy handler `maps_tiles`: vector tiles of maps and road networks, with TileJSON and a style.
// It finds the region, caches rendered tiles and answers conditional requests. Rendering is in internal/tiles.
//
// Start with Handler.ServeHTTP, then Handler.tile.
package tiles

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Handler)) }

// Handler serves vector tiles of regions, TileJSON, a MapLibre style, and tiles of the road network:
// docs/build/tiles.md.
type Handler struct {
	// The regions, by their names or their files. Files without a map (`--no-map`) serve only networks. Required.
	Regions []string `json:"regions,omitempty"`

	// The path above the tiles, as this handler sees it. Others are 404. Default: `/tiles`.
	Prefix string `json:"prefix,omitempty"`

	// The highest zoom, 0 to 16; clients draw higher ones from it. Default: 14.
	MaxZoom *uint8 `json:"max_zoom,omitempty"`

	// The size of the cache in bytes, at least 1 MiB. Handlers with the same size share one, and it outlives reloads.
	// Default: 64 MiB.
	Cache int64 `json:"cache,omitempty"`

	// Whether requests without maps_auth and TILE are served. Otherwise they get 500. Default: false.
	Public bool `json:"public,omitempty"`

	gate    *app.Gate
	prefix  request.Prefix
	regions map[string]*regions.Region
	maxZoom uint8
	cache   *tileCache
	app     *app.App
	logger  *zap.Logger
}

const (
	defaultPrefix  = "/tiles"
	defaultMaxZoom = 14
	maxMaxZoom     = 16
	defaultCache   = 64 << 20
	minCache       = 1 << 20
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_tiles", New: func() caddy.Module { return new(Handler) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (h *Handler) UnmarshalJSON(data []byte) error { return options.Decode(data, h) }

// Provision finds the regions. Their files are opened when the app starts.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	if h.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(h.Prefix, defaultPrefix)); err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return err
	}
	if h.app, err = app.Get(ctx); err != nil {
		return err
	}
	h.app.ServeTiles(ctx, h.prefix)
	found, err := app.LookupRegions(ctx, h.Regions)
	if err != nil {
		return err
	}
	h.regions = make(map[string]*regions.Region, len(found))
	for _, r := range found {
		h.regions[r.Name()] = r
		h.app.NeedMap(r)
	}
	h.gate = h.app.NewGate(ctx, account.ScopeTile, apierror.Platform, h.Public)
	h.cache, err = acquireCache(h.Cache)
	return err
}

// check sets the defaults and checks the configuration.
func (h *Handler) check() error {
	if h.maxZoom = defaultMaxZoom; h.MaxZoom != nil {
		h.maxZoom = *h.MaxZoom
	}
	h.Cache = cmp.Or(h.Cache, defaultCache)
	switch {
	case len(h.Regions) == 0:
		return errors.New("maps_tiles needs the name of at least one region")
	case h.maxZoom > maxMaxZoom:
		return options.Errorf("max_zoom", "%d is not a whole number from 0 to %d", h.maxZoom, maxMaxZoom)
	case h.Cache < minCache:
		return options.Errorf("cache", "%s is less than %s",
			humanize.IBytes(uint64(max(0, h.Cache))), humanize.IBytes(minCache))
	}
	return nil
}

// Cleanup releases the cache.
func (h *Handler) Cleanup() error {
	if h.cache != nil {
		releaseCache(h.Cache)
		h.cache = nil
	}
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if h.gate.Refuse(w, r) {
		return nil
	}
	rest, ok := h.prefix.Below(r.URL)
	if !ok {
		return h.fail(w, apierror.NotFound("not found"))
	}
	a, ok := parse(rest)
	if !ok {
		return h.fail(w, apierror.NotFound("not found"))
	}
	region, ok := h.regions[a.region]
	if !ok {
		return h.fail(w, apierror.NotFound("there is no such region"))
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return h.fail(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
	}
	if a.what != tileOf {
		body, err := h.describe(r, &a, region, rest)
		if err != nil {
			return h.fail(w, err)
		}
		// Private: it has the addresses by which this client reaches the server; others may use other addresses.
		w.Header().Set("Cache-Control", "private, "+cacheControl)
		answer.Write(w, answer.JSON, body)
		return nil
	}
	if !a.exists(h.maxZoom) {
		return h.fail(w, apierror.NotFound("there is no such tile"))
	}
	tile, err := h.tile(r, &a, region)
	if err != nil {
		return h.fail(w, err)
	}
	return h.fail(w, writeTile(w, r, tile))
}

// fail writes the response to an error; nil writes nothing.
func (h *Handler) fail(w http.ResponseWriter, err error) error {
	if err != nil && answer.WriteFailure(w, apierror.Platform, err) {
		h.logger.Error("a tile cannot be served", zap.Error(err))
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
