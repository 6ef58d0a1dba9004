package geocoding

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Peer is what the handlers of other geocoders' APIs have in common.
type Peer struct {
	// The path in front of those of the API. Default: `/`.
	Prefix string `json:"prefix,omitempty"`

	// The geocoders. The first that covers a position answers; a search asks them in turn until one finds something.
	// Required.
	GeocodersRaw []json.RawMessage `json:"geocoders,omitempty" caddy:"namespace=maps.geocoders inline_key=source"`

	// Whether requests without maps_auth and the scope of their path are served. Otherwise they get 500. Default: false.
	Public bool `json:"public,omitempty"`

	api *peerAPI
	common[finder]
}

// finder is a geocoder that also searches by text.
type finder interface {
	geocoding.Geocoder
	geocoding.Searcher
}

// peerAPI is an API of another geocoder.
type peerAPI struct {
	directive string
	// endpoints return the answers for paths: JSON, or a plain text. Their scope is that of searches, but for "/reverse".
	endpoints map[string]func(*peerCall) any
	refusal   func(message string) any // what the body says of a mistake
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (p *Peer) UnmarshalJSON(data []byte) error { return options.Decode(data, p) }

// Provision loads the geocoders.
func (p *Peer) Provision(ctx caddy.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	return p.provision(ctx, p, p.Public, account.ScopeGeocoding, account.ScopeReverseGeocoding)
}

func (p *Peer) check() error {
	return p.common.check(p.api.directive, p.GeocodersRaw, endpoint{option: "prefix", given: p.Prefix, preset: "/"})
}

func (p *Peer) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	return options.Block(d, p.api.directive, p.check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&p.Prefix)},
		geocoderOption(&p.GeocodersRaw, known),
		options.Option{Name: "public", Read: options.Flag(&p.Public)},
	)
}

func (p *Peer) served() (paths []string) {
	for path := range p.api.endpoints {
		paths = append(paths, string(p.common.endpoints[0].path)+path)
	}
	return paths
}

// peerCall is a request to another geocoder's API.
type peerCall struct {
	*Peer
	w     http.ResponseWriter
	r     *http.Request
	query url.Values
	err   error // the first one
}

// peerError is a mistake in a request, in the words of the API.
type peerError string

func (e peerError) Error() string { return string(e) }

// fail notes a mistake in the request.
func (c *peerCall) fail(format string, args ...any) {
	if c.err == nil {
		c.err = peerError(fmt.Sprintf(format, args...))
	}
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (p *Peer) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	path, _ := p.common.endpoints[0].path.Below(r.URL)
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".php") // as the originals, and old clients of theirs
	scope := account.ScopeGeocoding
	if path == "/reverse" {
		scope = account.ScopeReverseGeocoding
	}
	endpoint := p.api.endpoints[path]
	if p.gates[scope].Refuse(w, r) || refuse(w, r, endpoint != nil) {
		return nil
	}
	c := &peerCall{Peer: p, w: w, r: r}
	var err error
	if c.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		c.fail("the query is not well-formed")
	}
	body := endpoint(c)
	if errors.Is(c.err, geocoding.ErrWork) {
		c.err = peerError(c.err.Error())
	}
	if wrong, ok := errors.AsType[peerError](c.err); ok {
		request.WriteJSON(w, http.StatusBadRequest, p.api.refusal(string(wrong)))
	} else if c.err != nil {
		p.common.fail(w, c.err)
	} else if text, ok := body.(string); ok {
		answer.Write(w, "text/plain; charset=utf-8", []byte(text))
	} else {
		written, _ := jsonv2.Marshal(body, jsontext.AllowInvalidUTF8(true), jsonv2.Deterministic(true))
		answer.Write(w, answer.JSON, written)
	}
	return nil
}

// number reads a parameter from least to most, or returns the preset if it is absent or empty.
func (c *peerCall) number(name string, preset, least, most float64) float64 {
	given := c.query.Get(name)
	if given == "" {
		return preset
	}
	number, ok := text.ParseNumber([]byte(given))
	if !ok || number < least || number > most {
		c.fail("Parameter '%s' must be a number from %v to %v.", name, least, most)
	}
	return number
}

// limit reads the largest number of results; more than most is most.
func (c *peerCall) limit(preset, most float64) int {
	return int(max(1, min(c.number("limit", preset, math.Inf(-1), math.Inf(1)), most)))
}

// position reads lat and lon.
func (c *peerCall) position() (p orb.Point) {
	for i, name := range [...]string{"lon", "lat"} {
		if c.query.Get(name) == "" {
			c.fail("Parameter '%s' missing.", name)
		}
		limit := [...]float64{180, 90}[i]
		p[i] = c.number(name, 0, -limit, limit)
	}
	return p
}

// languages reads a parameter in the form of Accept-Language, or else that header. A malformed one counts as none.
func (c *peerCall) languages(name string) []string {
	if given := c.query.Get(name); given != "" {
		languages, _ := geocoding.ParseLanguages(given)
		return languages
	}
	return accepted(c.w, c.r)
}

// countries returns the alpha-3 codes of alpha-2 codes in lists with commas; unknown ones are ignored.
func (c *peerCall) countries(name string) (codes []string) {
	for code := range strings.SplitSeq(strings.Join(c.query[name], ","), ",") {
		if found, ok := country.ByAlpha2(strings.ToUpper(strings.TrimSpace(code))); ok {
			codes = append(codes, found.Code)
		}
	}
	return codes
}

// search returns what the geocoders find, unless there is a mistake.
func (c *peerCall) search(q *geocoding.Query) (places []geocoding.Place) {
	if c.err == nil {
		var result *geocoding.Result
		if result, c.err = find(c.r.Context(), &c.common, q); c.err == nil {
			places = result.Places
		}
	}
	return places
}

// besideStreet is how far a house may be from a position on its street, in metres, to be the answer instead of the
// street.
const besideStreet = 100

// reverse returns what is at a position, unless there is a mistake. If that is a street, a house of it nearby comes
// first, if it is wanted, as in Nominatim; in Photon streets are at their middle, and seldom the nearest.
func (c *peerCall) reverse(req *geocoding.Request) (found []geocoding.Place) {
	defer c.observe(time.Now())
	ask := func(req *geocoding.Request) (places []geocoding.Place) {
		if c.err == nil {
			var result *geocoding.Result
			if result, c.err = choose(c.geocoders, req.Point).Reverse(c.r.Context(), req); c.err == nil {
				places = result.Places
			}
		}
		return places
	}
	found = ask(req)
	if len(found) == 0 || found[0].Layer != geocoding.LayerStreet {
		return found
	}
	beside := *req
	beside.Keep = func(category, kind string, layer geocoding.Layer) bool {
		return layer == geocoding.LayerHouse && req.Keep(category, kind, layer)
	}
	beside.MaxDistance, beside.Size = min(req.MaxDistance, besideStreet), geocoding.MaxSize
	for _, h := range ask(&beside) {
		if h.Layer == geocoding.LayerHouse && h.Address.Street == found[0].Address.Street {
			found = slices.DeleteFunc(found, func(p geocoding.Place) bool { return p.ID == h.ID })
			found = slices.Insert(found, 0, h)
			break
		}
	}
	return found[:min(len(found), req.Size)]
}
