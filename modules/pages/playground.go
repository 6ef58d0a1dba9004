package pages

import (
	"cmp"
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
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Playground)) }

// Playground serves the playground, a page with the map of a region that calls the endpoints of the same site:
// docs/build/pages.md#the-playground.
type Playground struct {
	// The region to show, by its name or its file. Required.
	Region string `json:"region,omitempty"`

	// The account whose tokens anonymous visitors get, with its scopes TILE, DIRECTION, REVERSEGEOCODING and GEOCODING
	// (docs/build/pages.md#anonymous-visitors). Default: none; visitors need a token.
	Guest string `json:"guest,omitempty"`

	// Whether anonymous visitors may come from other machines, or through proxies. Default: false.
	Public bool `json:"public,omitempty"`

	// The path of the page, as this handler sees it. Default: `/playground`.
	Prefix string `json:"prefix,omitempty"`

	// The path of `maps_tiles` on this site. Default: `/tiles`.
	Tiles string `json:"tiles,omitempty"`

	// The path of `maps_match` on this site. Default: `/api/route/matching`.
	Matching string `json:"matching,omitempty"`

	// The path of `maps_reverse_geocode` on this site. Default: `/v2/search/reverse-geocoding`.
	Geocoding string `json:"geocoding,omitempty"`

	// The path of `maps_geocode` on this site, or `off` if there is no search. Default: `/v2/search/geocode`.
	Search string `json:"search,omitempty"`

	// The path of the routes of `maps_route` on this site, or `off` if there are none. Default: `/api/v1/route`.
	Routing string `json:"routing,omitempty"`

	// The profiles that `maps_match` and `maps_route` offer. Default: `car`.
	Profile []string `json:"profile,omitempty"`

	prefix request.Prefix
	page   *page
	guests *admission.Rates // of tokens for anonymous visitors, by client network
	app    *app.App
	logger *zap.Logger
}

const (
	defaultPlaygroundPrefix = "/playground"
	defaultTiles            = "/tiles"
	defaultMatching         = "/api/route/matching"
	defaultGeocoding        = "/v2/search/reverse-geocoding"
	defaultSearch           = "/v2/search/geocode"
	defaultRouting          = "/api/v1/route"
	notServed               = "off"
)

// The samples are drives in Delaware, simulated on its map, with the position errors of a phone.
//
//go:generate go -C ../../lab run ./cmd/samples ../modules/pages/web/playground/samples

// libraryMaxAge is how long browsers may cache the libraries. They change with a release, which works with those of the
// previous one for a day.
const libraryMaxAge = 24 * time.Hour

// CaddyModule returns the Caddy module information.
func (*Playground) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_playground", New: func() caddy.Module { return new(Playground) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (p *Playground) UnmarshalJSON(data []byte) error { return options.Decode(data, p) }

// Provision finds the region and makes the page.
func (p *Playground) Provision(ctx caddy.Context) (err error) {
	p.logger = ctx.Logger()
	if p.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(p.Prefix, defaultPlaygroundPrefix)); err != nil {
		return err
	}
	if p.app, err = app.Get(ctx); err != nil {
		return err
	}
	if p.Region == "" {
		return errNoRegion
	}
	region, err := p.app.Region(p.Region)
	if err != nil {
		return err
	}
	p.app.ShowTiles(ctx, cmp.Or(p.Tiles, defaultTiles))
	p.guests = admission.NewRates(guestTokens, time.Minute)
	p.page, err = p.makePage(region.Name())
	return err
}

var errNoRegion = errors.New("maps_playground needs the name of a region")

// Validate checks the configuration.
func (p *Playground) Validate() error {
	if p.Public && p.Guest == "" {
		return options.Errorf("public", "there is no guest account that could be used from other machines")
	}
	if p.Guest != "" && !credential.IsAccountID(p.Guest) {
		return options.Errorf("guest", "%q is not the id of an account, which begins with sa_ and has 25 characters", p.Guest)
	}
	for _, name := range p.Profile {
		if _, err := matching.ParseProfile(name); err != nil {
			return options.Wrap("profile", err)
		}
	}
	return nil
}

// settings is the part of the configuration that the page's scripts use.
type settings struct {
	Region    string   `json:"region"`
	Guest     bool     `json:"guest"`
	Tiles     string   `json:"tiles"`
	Matching  string   `json:"matching"`
	Geocoding string   `json:"geocoding"`
	Search    string   `json:"search"`  // empty if there is no search
	Routing   string   `json:"routing"` // empty if there are no routes
	Profiles  []string `json:"profiles"`
	Samples   []string `json:"samples"`
}

func (p *Playground) makePage(region string) (*page, error) {
	page, err := newPage("playground", contentPolicy{images: []string{"data:", "blob:"}},
		fileSet{at: "lib", fs: www.FS, maxAge: libraryMaxAge, names: []string{
			"javascript/leaflet.js", "javascript/protomaps-leaflet.js", "css/leaflet.css",
		}})
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(embedded("playground"), "samples/*.gpx")
	if err != nil {
		return nil, err
	}
	s := settings{Region: region, Guest: p.Guest != "", Samples: names, Profiles: slices.Clone(p.Profile)}
	if len(s.Profiles) == 0 {
		s.Profiles = []string{matching.Car.String()}
	}
	for _, address := range []struct {
		to          *string
		own, preset string
		optional    bool
	}{
		{to: &s.Tiles, own: p.Tiles, preset: defaultTiles}, {to: &s.Matching, own: p.Matching, preset: defaultMatching},
		{to: &s.Geocoding, own: p.Geocoding, preset: defaultGeocoding},
		{&s.Search, p.Search, defaultSearch, true}, {&s.Routing, p.Routing, defaultRouting, true},
	} {
		if address.optional && address.own == notServed {
			continue
		}
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
	page.add("settings.json", text, 0)
	return page, nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (p *Playground) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	rest, ok := p.prefix.Below(r.URL)
	switch {
	case !ok:
		p.page.serve(w, r, "/elsewhere") // no such file: 404
	case rest == "/token":
		p.page.setHeaders(w.Header())
		p.serveGuest(w, r)
	default:
		p.page.serve(w, r, rest)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Playground)(nil)
	_ caddy.Validator             = (*Playground)(nil)
	_ caddyhttp.MiddlewareHandler = (*Playground)(nil)
)
