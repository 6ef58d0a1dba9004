package pages

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	caddy.RegisterModule(new(Start))
	httpcaddyfile.RegisterHandlerDirective("maps_start", parseStart)
	httpcaddyfile.RegisterDirectiveOrder("maps_start", httpcaddyfile.Before, "respond")
}

// Start serves the start page at `/`: the regions and the parts of the service that its options name, and the steps to
// a first answer. Its files are below `/start/`.
type Start struct {
	// The regions to show. Default: all.
	Regions []string `json:"regions,omitempty"`

	// The path of `maps_playground` on this site. Default: none, the page does not show it.
	Playground string `json:"playground,omitempty"`

	// The path of `maps_console` on this site. Default: none, the page does not show it.
	Console string `json:"console,omitempty"`

	// The path of `maps_docs` on this site. Default: none, the page does not show it.
	Docs string `json:"docs,omitempty"`

	// The path of `maps_tokens` on this site. Default: none, the page has no steps.
	Tokens string `json:"tokens,omitempty"`

	// The path of `maps_tiles` on this site. Default: none, the page does not show it.
	Tiles string `json:"tiles,omitempty"`

	// The path of `maps_match` on this site. Default: none, the page does not show it.
	Matching string `json:"matching,omitempty"`

	// The path of routes by `maps_route` on this site, which ends in `/route`. Default: none, the page does not show it.
	Routing string `json:"routing,omitempty"`

	// The path of `maps_geocode` on this site. Default: none, the page does not show it.
	Search string `json:"search,omitempty"`

	// The path of `maps_reverse_geocode` on this site. Default: none, the page does not show it.
	Geocoding string `json:"geocoding,omitempty"`

	app     *app.App
	regions []*regions.Region // nil for all
	layout  *template.Template
	page    *page
	beside  map[string]string // relative addresses of pages, by folder
}

const (
	startFiles    = request.Prefix("/start") // of the files of the page
	defaultTokens = "/api/v1/external"
)

// maxShownRegions is how many regions the page lists.
const maxShownRegions = 100

// parts are the parts that the page may show, with their default paths in a Caddyfile.
func (s *Start) parts() []part {
	return []part{
		{"playground", defaultPlaygroundPrefix, &s.Playground}, {"console", defaultConsolePrefix, &s.Console},
		{"docs", defaultDocsPrefix, &s.Docs}, {"tokens", defaultTokens, &s.Tokens}, {"tiles", defaultTiles, &s.Tiles},
		{"matching", defaultMatching, &s.Matching}, {"routing", defaultRouting, &s.Routing},
		{"search", defaultSearch, &s.Search}, {"geocoding", defaultGeocoding, &s.Geocoding},
	}
}

type part struct {
	name, preset string
	path         *string
}

// CaddyModule returns the Caddy module information.
func (*Start) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_start", New: func() caddy.Module { return new(Start) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (s *Start) UnmarshalJSON(data []byte) error { return options.Decode(data, s) }

// Provision finds the regions and makes the page.
func (s *Start) Provision(ctx caddy.Context) (err error) {
	for _, part := range s.parts() {
		if *part.path == "" {
			continue
		}
		prefix, err := request.ParsePrefix(*part.path)
		if err != nil {
			return options.Wrap(part.name, err)
		}
		*part.path = string(prefix)
	}
	if s.app, err = app.Get(ctx); err != nil {
		return err
	}
	for _, name := range s.Regions {
		region, err := s.app.Region(name)
		if err != nil {
			return options.Wrap("regions", err)
		}
		s.regions = append(s.regions, region)
	}
	s.beside = make(map[string]string)
	for folder, path := range map[string]string{"playground": s.Playground, "console": s.Console, "docs": s.Docs} {
		if path != "" {
			// Relative to `/`, so that it works behind a proxy that serves the site at another path.
			s.beside[folder] = strings.TrimPrefix(path, "/") + "/"
		}
	}
	if s.layout, err = parsePage("start.html"); err != nil {
		return err
	}
	s.page, err = newPage("start", contentPolicy{trustedTypes: true})
	return err
}

// startView is the data of the template.
type startView struct {
	*Start
	Header  header
	Beside  map[string]string
	Origin  string // as the client reached the server
	Regions []startRegion
	Left    int    // regions that are not listed
	First   string // the first request, as a command line; "" if there is none to show
}

type startRegion struct {
	regions.Description
	Available bool
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (s *Start) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	rest, isFile := startFiles.Below(r.URL)
	switch {
	case isFile && rest != "" && rest != "/":
		s.page.serve(w, r, rest)
	case r.URL.Path != "/":
		s.page.setHeaders(w.Header())
		apierror.Platform.Write(w, apierror.NotFound("not found"))
	case s.page.accepts(w, r):
		var text bytes.Buffer
		if err := s.layout.Execute(&text, s.view(r)); err != nil {
			return err
		}
		index := file{media: mediaType("index.html"), cacheControl: "no-cache",
			plain: func() content { return newContent(text.Bytes()) }, gzip: func() (none content) { return none }}
		index.serve(w, r)
	}
	return nil
}

func (s *Start) view(r *http.Request) startView {
	scheme, host, _ := app.ExternalOrigin(r)
	v := startView{Start: s, Header: newHeader("start", s.beside), Beside: s.beside, Origin: scheme + "://" + host}
	shown := s.regions
	if len(s.Regions) == 0 {
		shown = s.app.AllRegions()
	}
	if len(shown) > maxShownRegions {
		v.Left, shown = len(shown)-maxShownRegions, shown[:maxShownRegions]
	}
	for _, region := range shown {
		one := startRegion{Description: regions.Description{Name: region.Name()}}
		// A region whose file is not open yet would be opened for this request.
		if !region.Status().Unusable {
			if described, err := region.Describe(); err == nil {
				one = startRegion{described, true}
			}
		}
		v.Regions = append(v.Regions, one)
		if one.Available && v.First == "" && s.Tokens != "" {
			if middle, err := region.Middle(); err == nil {
				v.First = s.first(v.Origin, one.Name, middle)
			}
		}
	}
	return v
}

// first returns the first request to try, for the middle of a region.
func (s *Start) first(origin, region string, at orb.Point) string {
	switch {
	case s.Geocoding != "":
		return authorized(fmt.Sprintf("%s%s?lat=%.5f&lon=%.5f", origin, s.Geocoding, at.Lat(), at.Lon()))
	case s.Tiles != "":
		return authorized(origin + s.Tiles + "/" + url.PathEscape(region) + ".json")
	case s.Routing != "":
		return authorized(fmt.Sprintf("%s%s?origin=%.5f,%.5f&destination=%.5f,%.5f", origin, s.Routing, at.Lat(), at.Lon(),
			at.Lat(), at.Lon()+.01))
	case s.Matching != "":
		return authorized(origin+s.Matching+"/") + " \\\n  -H 'Content-Type: application/json' \\\n" + fmt.Sprintf(
			`  -d '{"radius":100,"path":[{"lat":%.5f,"lng":%.5f},{"lat":%.5f,"lng":%.5f}]}'`,
			at.Lat(), at.Lon(), at.Lat(), at.Lon()+.002)
	}
	return ""
}

func authorized(address string) string {
	return `curl -H "Authorization: Bearer $MAPS_TOKEN" ` + quoted(address)
}

// quoted returns a text as one word of a shell: a Host header may have an apostrophe.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Scopes are those of the APIs on the page, for an account that uses all of them.
func (v startView) Scopes() string {
	var scopes []string
	for _, of := range []struct {
		path  string
		scope account.Scope
	}{{v.Tiles, account.ScopeTile}, {v.Matching + v.Routing, account.ScopeDirection}, {v.Routing, account.ScopeMatrix},
		{v.Routing, account.ScopeONM}, {v.Routing, account.ScopeTSS}, {v.Search, account.ScopeGeocoding},
		{v.Geocoding, account.ScopeReverseGeocoding}} {
		if of.path != "" {
			scopes = append(scopes, string(of.scope))
		}
	}
	return strings.Join(scopes, ",")
}

// Exchange is the request that exchanges tokens, as a command line.
func (v startView) Exchange() string {
	return "MAPS_TOKEN=$(curl -s " + quoted(v.Origin+v.Tokens+"/auth") + " \\\n" +
		"  -H 'Content-Type: application/json' \\\n" +
		`  -d '{"client_token":"mpc_…","server_token":"mps_…"}' |` + " \\\n" +
		`  sed -nE 's/.*"accessToken":"([^"]+)".*/\1/p')`
}

func parseStart(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	s := new(Start)
	if err := s.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
		return nil, err
	}
	return s, app.Serves(h, "/")
}

// UnmarshalCaddyfile reads the directive. A part without a path is at its default path, one that is absent is not
// shown:
//
//	maps_start [<matcher>] [<region>...] {
//	    playground [<path>]
//	    console    [<path>]
//	    docs       [<path>]
//	    tokens     [<path>]
//	    tiles      [<path>]
//	    matching   [<path>]
//	    routing    [<path>]
//	    search     [<path>]
//	    geocoding  [<path>]
//	}
//
// Example:
//
//	@start path / /start/*
//	handle @start {
//	    maps_start {
//	        playground
//	        console
//	        tokens
//	        geocoding
//	    }
//	}
func (s *Start) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return s.unmarshal(d, nil) }

func (s *Start) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	s.Regions = d.RemainingArgs()
	var allowed []options.Option
	for _, part := range s.parts() {
		allowed = append(allowed, options.Option{Name: part.name, Args: "[<path>]",
			Read: func(d *caddyfile.Dispenser) error {
				if *part.path = part.preset; d.CountRemainingArgs() == 0 {
					return nil
				}
				return options.Path(part.path)(d)
			}})
	}
	return options.Block(d, "maps_start", func() error { return known.Check(s.Regions...) }, allowed...)
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Start)(nil)
	_ caddyhttp.MiddlewareHandler = (*Start)(nil)
	_ caddyfile.Unmarshaler       = (*Start)(nil)
)
