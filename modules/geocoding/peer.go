package geocoding

import (
	"cmp"
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
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/paulmach/orb"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
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

	api       *peerAPI
	prefix    request.Prefix
	gates     map[account.Scope]*app.Gate
	geocoders []finder
	app       *app.App
	logger    *zap.Logger
}

// finder is a geocoder that also searches by text.
type finder interface {
	geocoding.Geocoder
	geocoding.Searcher
}

// peerAPI is an API of another geocoder.
type peerAPI struct {
	directive string
	// endpoints append the answers for paths. Their scope is that of searches except for "/reverse".
	endpoints map[string]func(c *peerCall, dst []byte) ([]byte, error)
	refusal   func(message string) any // what the body says of a mistake
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (p *Peer) UnmarshalJSON(data []byte) error { return options.Decode(data, p) }

// Provision loads the geocoders.
func (p *Peer) Provision(ctx caddy.Context) (err error) {
	p.logger = ctx.Logger()
	if err = p.check(); err != nil {
		return err
	}
	if _, err = app.Prefix(ctx, "prefix", p.prefix.Path()); err != nil {
		return err
	}
	if p.app, err = app.Get(ctx); err != nil {
		return err
	}
	p.gates = p.app.NewGates(ctx, apierror.Platform, p.Public, account.ScopeGeocoding, account.ScopeReverseGeocoding)
	p.geocoders, err = load[finder](ctx, p, len(p.GeocodersRaw), "cannot search by text")
	return err
}

func (p *Peer) check() (err error) {
	if p.prefix, err = request.ParsePrefix(cmp.Or(p.Prefix, "/")); err != nil {
		return options.Wrap("prefix", err)
	}
	return nil
}

// Validate checks that there is a geocoder.
func (p *Peer) Validate() error {
	if len(p.geocoders) == 0 {
		return noGeocoder(p.api.directive)
	}
	return nil
}

func (p *Peer) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	check := func() error {
		if len(p.GeocodersRaw) == 0 {
			return noGeocoder(p.api.directive)
		}
		return (&Peer{Prefix: p.Prefix}).check()
	}
	return options.Block(d, p.api.directive, check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&p.Prefix)},
		geocoderOption(&p.GeocodersRaw, known),
		options.Option{Name: "public", Read: options.Flag(&p.Public)},
	)
}

// registerPeer registers a handler and its directive. parts returns a new one and the Peer in it.
func registerPeer(a *peerAPI, parts func() (caddyhttp.MiddlewareHandler, *Peer)) {
	handler, _ := parts()
	caddy.RegisterModule(handler.(caddy.Module))
	httpcaddyfile.RegisterHandlerDirective(a.directive, func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		handler, p := parts()
		if err := p.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
			return nil, err
		}
		var served []string
		for path := range a.endpoints {
			served = append(served, strings.TrimSuffix(p.Prefix, "/")+path)
		}
		return handler, app.Serves(h, served...)
	})
	httpcaddyfile.RegisterDirectiveOrder(a.directive, httpcaddyfile.Before, "respond")
}

// peerCall is a request to another geocoder's API.
type peerCall struct {
	*Peer
	w     http.ResponseWriter
	r     *http.Request
	query url.Values
	media string // type of the answer
}

// peerError is a mistake in a request, in the words of the API.
type peerError string

func (e peerError) Error() string { return string(e) }

func peerErrorf(format string, args ...any) error { return peerError(fmt.Sprintf(format, args...)) }

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (p *Peer) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	path, ok := p.prefix.Below(r.URL)
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".php") // as the originals, and old clients of theirs
	scope := account.ScopeGeocoding
	if path == "/reverse" {
		scope = account.ScopeReverseGeocoding
	}
	if p.gates[scope].Refuse(w, r) {
		return nil
	}
	endpoint := p.api.endpoints[path]
	if !ok || endpoint == nil {
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return nil
	} else if r.Method != http.MethodGet && r.Method != http.MethodHead {
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
		return nil
	}
	buf := answer.GetBuffer()
	defer buf.Free()
	c := &peerCall{Peer: p, w: w, r: r, media: answer.JSON}
	var err error
	if c.query, err = url.ParseQuery(r.URL.RawQuery); err == nil {
		buf.Bytes, err = endpoint(c, buf.Bytes)
	} else {
		err = peerError("the query is not well-formed")
	}
	if errors.Is(err, geocoding.ErrWork) {
		err = peerError(err.Error())
	}
	if wrong, ok := errors.AsType[peerError](err); ok {
		body, _ := json.Marshal(p.api.refusal(string(wrong)))
		w.Header().Set("Content-Type", answer.JSON)
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(body) // an error means that the client has gone
	} else if err == nil {
		answer.Write(w, c.media, buf.Bytes)
	} else if answer.WriteFailure(w, apierror.Platform, err) {
		p.logger.Error("geocoding failed", zap.Error(err))
	}
	return nil
}

// number reads a parameter from least to most, or returns the preset if it is absent or empty.
func (c *peerCall) number(name string, preset, least, most float64) (float64, error) {
	given := c.query.Get(name)
	if given == "" {
		return preset, nil
	}
	number, ok := text.ParseNumber([]byte(given))
	if !ok || number < least || number > most {
		return 0, peerErrorf("Parameter '%s' must be a number from %v to %v.", name, least, most)
	}
	return number, nil
}

// limit reads the largest number of results; more than most is most.
func (c *peerCall) limit(preset, most float64) (int, error) {
	number, err := c.number("limit", preset, math.Inf(-1), math.Inf(1))
	return int(max(1, min(number, most))), err
}

// position reads lat and lon.
func (c *peerCall) position() (p orb.Point, err error) {
	for i, name := range [...]string{"lon", "lat"} {
		if c.query.Get(name) == "" {
			return p, peerErrorf("Parameter '%s' missing.", name)
		}
		limit := [...]float64{180, 90}[i]
		if p[i], err = c.number(name, 0, -limit, limit); err != nil {
			return p, err
		}
	}
	return p, nil
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

// search asks one geocoder after the other, until one finds something.
func (c *peerCall) search(q *geocoding.Query) (places []geocoding.Place, err error) {
	defer c.observe(time.Now())
	for _, g := range c.geocoders {
		var result *geocoding.Result
		if result, err = g.Search(c.r.Context(), q); err != nil {
			return nil, err
		} else if places = result.Places; len(places) > 0 {
			break
		}
	}
	return places, nil
}

func (c *peerCall) observe(start time.Time) {
	c.app.Metrics().Lookups.Observe(time.Since(start).Seconds())
}

// besideStreet is how far a house may be from a position on its street, in metres, to be the answer instead of the
// street.
const besideStreet = 100

// reverse returns what is at a position. If that is a street, a house of it nearby comes first, if it is wanted, as in
// Nominatim; in Photon streets are at their middle, and seldom the nearest.
func (c *peerCall) reverse(req *geocoding.Request) ([]geocoding.Place, error) {
	defer c.observe(time.Now())
	g := choose(c.geocoders, req.Point)
	result, err := g.Reverse(c.r.Context(), req)
	if err != nil {
		return nil, err
	}
	found, beside := result.Places, *req
	if len(found) == 0 || found[0].Layer != geocoding.LayerStreet {
		return found, nil
	}
	beside.Keep = func(category, kind string, layer geocoding.Layer) bool {
		return layer == geocoding.LayerHouse && req.Keep(category, kind, layer)
	}
	beside.MaxDistance, beside.Size = min(req.MaxDistance, besideStreet), geocoding.MaxSize
	if result, err = g.Reverse(c.r.Context(), &beside); err != nil {
		return nil, err
	}
	for _, h := range result.Places {
		if h.Layer == geocoding.LayerHouse && h.Address.Street == found[0].Address.Street {
			found = slices.DeleteFunc(found, func(p geocoding.Place) bool { return p.ID == h.ID })
			found = slices.Insert(found, 0, h)
			break
		}
	}
	return found[:min(len(found), req.Size)], nil
}
