// Package playground is the Caddy handler `maps_playground`: a page with the map, on which a click asks what is
// there, and a trace is matched.
package playground

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"time"

	"github.com/aaronland/go-http-maps/v2/static/www"
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/internal/webpage"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Playground)) }

// Playground serves a page with the map of a region. Tiles, map matching and reverse geocoding are asked at their
// own endpoints of the same site, with a token that the page takes from its address (`#token=…`), that somebody
// pastes, or that is given to guests.
type Playground struct {
	// The region whose map is shown. Required.
	Region string `json:"region,omitempty"`

	// The id of the account whose guests may use the page without a token of their own. `POST token` below the page
	// then gives them access tokens of the account for 15 minutes, with those of its scopes that the page can use:
	// TILE, DIRECTION, REVERSEGEOCODING and GEOCODING. They are given to the page itself alone, 30 a minute to each
	// address, and end when the account is suspended. Default: none, and everybody needs a token.
	Guest string `json:"guest,omitempty"`

	// Whether guests may come from other machines. Without it they must be on this one: connected to a loopback address,
	// without any proxy between. Default: false.
	Public bool `json:"public,omitempty"`

	// The path of the page, as this handler sees it. Default: `/playground`.
	Prefix string `json:"prefix,omitempty"`

	// The path of `maps_tiles` on this site. Default: `/tiles`.
	Tiles string `json:"tiles,omitempty"`

	// The path of `maps_match` on this site. Default: `/api/route/matching`.
	Matching string `json:"matching,omitempty"`

	// The path of `maps_reverse_geocode` on this site. Default: `/v2/search/reverse-geocoding`.
	Geocoding string `json:"geocoding,omitempty"`

	// The profiles that `maps_match` offers there: any of `car`, `bicycle` and `foot`. Default: `car`.
	Profile []string `json:"profile,omitempty"`

	prefix request.Prefix
	page   *webpage.Page
	guests *window
	app    *app.App
	logger *zap.Logger
}

const (
	defaultPrefix    = "/playground"
	defaultTiles     = "/tiles"
	defaultMatching  = "/api/route/matching"
	defaultGeocoding = "/v2/search/reverse-geocoding"
)

//go:embed web
var web embed.FS

// samples are drives in Delaware that were simulated on its map, with the errors that a phone's positions have.
//
//go:generate go -C ../../lab run ./cmd/samples ../modules/playground/samples
//go:embed samples/*.gpx
var samples embed.FS

// libraryMaxAge is for how long a browser keeps the libraries without asking. They change with a release, which may
// well use what the last one had, for a day.
const libraryMaxAge = 24 * time.Hour

// CaddyModule returns the Caddy module information.
func (*Playground) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_playground", New: func() caddy.Module { return new(Playground) }}
}

// Provision finds the region and makes the page.
func (p *Playground) Provision(ctx caddy.Context) (err error) {
	p.logger = ctx.Logger()
	if p.prefix, err = request.ParsePrefix(cmp.Or(p.Prefix, defaultPrefix)); err != nil {
		return options.Of("prefix", err)
	}
	if p.app, err = app.Get(ctx); err != nil {
		return err
	}
	if p.Region == "" {
		return errNoRegion
	}
	if _, err = p.app.Region(p.Region); err != nil {
		return err
	}
	p.guests = newWindow(time.Now)
	p.page, err = p.newPage()
	return err
}

var errNoRegion = errors.New("maps_playground needs the name of a region")

// Validate checks the configuration.
func (p *Playground) Validate() error {
	if p.Public && p.Guest == "" {
		return options.Wrong("public", "there is no guest account that could be used from other machines")
	}
	if p.Guest != "" && !credential.IsAccountID(p.Guest) {
		return options.Wrong("guest", "%q is not the id of an account, which begins with sa_ and has 25 characters", p.Guest)
	}
	for _, name := range p.Profile {
		if _, err := matching.ParseProfile(name); err != nil {
			return options.Of("profile", err)
		}
	}
	return nil
}

// settings are what the page's scripts need to know of the configuration.
type settings struct {
	Region    string   `json:"region"`
	Guest     bool     `json:"guest"`
	Tiles     string   `json:"tiles"`
	Matching  string   `json:"matching"`
	Geocoding string   `json:"geocoding"`
	Profiles  []string `json:"profiles"`
	Samples   []string `json:"samples"`
}

func (p *Playground) newPage() (*webpage.Page, error) {
	own, err := fs.Sub(web, "web")
	if err != nil {
		return nil, err
	}
	page, err := webpage.New(webpage.Policy{Images: []string{"data:", "blob:"}}, webpage.Shared(),
		webpage.Files{FS: own}, webpage.Files{FS: samples},
		webpage.Files{At: "lib", FS: www.FS, MaxAge: libraryMaxAge, Names: []string{
			"javascript/leaflet.js", "javascript/protomaps-leaflet.js", "css/leaflet.css",
		}})
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(samples, "samples/*.gpx")
	if err != nil {
		return nil, err
	}
	s := settings{Region: p.Region, Guest: p.Guest != "", Samples: names, Profiles: slices.Clone(p.Profile)}
	if len(s.Profiles) == 0 {
		s.Profiles = []string{matching.Car.String()}
	}
	for _, address := range []struct {
		to          *string
		own, preset string
	}{
		{&s.Tiles, p.Tiles, defaultTiles}, {&s.Matching, p.Matching, defaultMatching},
		{&s.Geocoding, p.Geocoding, defaultGeocoding},
	} {
		prefix, err := request.ParsePrefix(cmp.Or(address.own, address.preset))
		if err != nil {
			return nil, err
		}
		*address.to = string(prefix)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	page.Add("settings.json", text, 0)
	return page, nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (p *Playground) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	rest, ok := p.prefix.Below(r.URL)
	switch {
	case !ok:
		p.page.Serve(w, r, "/elsewhere") // which is not there
	case rest == "/token":
		p.page.SetHeaders(w.Header())
		p.serveGuest(w, r)
	default:
		p.page.Serve(w, r, rest)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Playground)(nil)
	_ caddy.Validator             = (*Playground)(nil)
	_ caddyhttp.MiddlewareHandler = (*Playground)(nil)
)
