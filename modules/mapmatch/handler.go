// Package mapmatch is the Caddy handler `maps_match`: the drive on the roads behind a recorded trace.
package mapmatch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Handler)) }

// Handler answers `/api/route/matching/`: the most probable drive on the road network behind a trace of GPS positions.
//
// `GET` takes the trace as `path=[{lat,lng},{lat,lng}]`. `POST` takes it as JSON
// `{"path":[{"lat","lng","time","accuracy"}]}`, as GPX (`application/gpx+xml`), as a GeoJSON LineString, or a Feature
// or FeatureCollection with one (`application/geo+json`), or as a table with the columns `lat`, `lng`, `time` and
// `accuracy` (`text/csv`). `radius` is where the search for roads starts, in metres; `profile` is one of those that
// are offered; `details=true` adds confidence, duration, tracepoints and OpenStreetMap ways; `format=geojson` answers
// with a GeoJSON Feature, `format=polyline6` with an encoded polyline.
type Handler struct {
	// The path of the endpoint, as this handler sees it; a slash may follow. All others are answered 404. Default:
	// `/api/route/matching`.
	Prefix string `json:"prefix,omitempty"`

	// The matchers. Of those that answer for the profile of a request, the first whose coverage contains the trace
	// answers, or else the one that covers most of it; one that does not say what it covers is taken to cover everything.
	// Required.
	MatchersRaw []json.RawMessage `json:"matchers,omitempty" caddy:"namespace=maps.matchers inline_key=source"`

	// The largest number of points of a trace, 2 to 1000000. Default: 10000.
	MaxPoints int `json:"max_points,omitempty"`

	// How far from its road any point may lie, in metres, up to 5000; also the largest `radius`. Default: 100.
	MaxRadius float64 `json:"max_radius,omitempty"`

	// The largest body of a POST, in bytes. Default: 8 MiB.
	MaxBody int64 `json:"max_body,omitempty"`

	// How those who record traces travel: any of `car`, `bicycle` and `foot`. A request chooses among them with its
	// parameter
	// `profile`; the first is for those that have none. Each needs a matcher that answers for it. Default: `car`.
	Profile Profiles `json:"profile,omitempty"`

	// Whether requests are served that no maps_auth let through with the scope DIRECTION. Without it they are answered
	// 500. Default: false.
	Public bool `json:"public,omitempty"`

	gate     *app.Gate
	prefix   request.Prefix
	matchers []matching.Matcher
	offer    offer
	app      *app.App
	logger   *zap.Logger
}

const (
	defaultPrefix = "/api/route/matching"

	maxMaxPoints   = 1_000_000
	maxMaxRadius   = 5000 // metres
	defaultMaxBody = 8 << 20
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_match", New: func() caddy.Module { return new(Handler) }}
}

// Provision loads the matchers.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	if h.prefix, err = request.ParsePrefix(cmp.Or(h.Prefix, defaultPrefix)); err != nil {
		return options.Of("prefix", err)
	}
	if h.app, err = app.Get(ctx); err != nil {
		return err
	}
	h.gate = app.NewGate("maps_match", account.ScopeDirection, apierror.Routing, h.Public, h.logger)
	h.setDefaults()
	if h.offer, err = newOffer(h.Profile); err != nil {
		return err
	}
	if len(h.MatchersRaw) == 0 {
		return nil // Validate says so
	}
	modules, err := ctx.LoadModule(h, "MatchersRaw")
	if err != nil {
		return fmt.Errorf("loading the matchers: %w", err)
	}
	for _, module := range modules.([]any) {
		matcher, ok := module.(matching.Matcher)
		if !ok {
			return fmt.Errorf("module %T is not a matcher", module)
		}
		h.matchers = append(h.matchers, matcher)
	}
	return nil
}

func (h *Handler) setDefaults() {
	if h.MaxPoints == 0 {
		h.MaxPoints = matching.DefaultMaxPoints
	}
	if h.MaxRadius == 0 {
		h.MaxRadius = matching.DefaultMaxRadius
	}
	if h.MaxBody == 0 {
		h.MaxBody = defaultMaxBody
	}
}

var errNoMatcher = errors.New("maps_match needs at least one matcher")

// Validate checks the configuration.
func (h *Handler) Validate() error {
	if len(h.matchers) == 0 {
		return errNoMatcher
	}
	return errors.Join(h.validateLimits(), h.offer.assign(h.matchers))
}

func (h *Handler) validateLimits() error {
	switch {
	case h.MaxPoints < trace.MinPoints || h.MaxPoints > maxMaxPoints:
		return options.Wrong("max_points", "%d is not between %d and %d", h.MaxPoints, trace.MinPoints, maxMaxPoints)
	case !(h.MaxRadius > 0 && h.MaxRadius <= maxMaxRadius):
		return options.Wrong("max_radius", "%v is not more than 0 and at most %d metres", h.MaxRadius, maxMaxRadius)
	case h.MaxBody < 1:
		return options.Wrong("max_body", "%d is not a positive number of bytes", h.MaxBody)
	}
	return nil
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	if h.gate.Refuse(w, r) {
		return nil
	}
	if rest, ok := h.prefix.Below(r.URL); !ok || rest != "" && rest != "/" {
		apierror.Routing.Write(w, apierror.NotFound("not found"))
		return nil
	}
	in := getInput()
	defer in.free()
	buf := answer.GetBuffer()
	defer buf.Free()
	if err := h.match(r, in, buf); err != nil {
		h.fail(w, err)
		return nil
	}
	media := answer.JSON
	if in.format == formatGeoJSON {
		media = answer.GeoJSON
	}
	answer.Write(w, media, buf.Bytes)
	return nil
}

// match answers a request into a buffer. It holds a processor for no longer than that takes: neither while the body
// comes nor while the response goes.
func (h *Handler) match(r *http.Request, in *input, buf *answer.Buffer) error {
	ctx, caller := r.Context(), app.Caller(r.Context())
	in.memory = h.app.BodyOf(caller)
	body, err := in.receive(h, r)
	if err != nil {
		return err
	}
	if err := in.work.Begin(ctx, h.app.Processors(), caller); err != nil {
		return err
	}
	defer in.work.End()
	if err := in.parse(h, body); err != nil {
		return err
	}
	if err := app.Charge(ctx, int64(len(in.points))); err != nil {
		return err
	}
	if err := in.keepPoints(ctx, h.app.Processors(), caller); err != nil {
		return err
	}
	matcher := choose(h.offer.matchers[in.profile], in.points)
	if _, remote := matcher.(matching.Remote); remote {
		in.work.End()
	}
	start := time.Now()
	result, err := matcher.Match(ctx, &matching.Request{
		Points: in.points, Profile: h.offer.profiles[in.profile], Radius: in.radius, MaxRadius: h.MaxRadius,
		Details: in.details,
		Meter:   &in.work,
	})
	h.app.Metrics().Matches.Observe(time.Since(start).Seconds())
	if err != nil {
		return h.explain(err, in, matcher)
	}
	switch in.format {
	case formatGeoJSON:
		buf.Bytes = answer.AppendMatchFeature(buf.Bytes, result, in.details)
	case formatPolyline:
		buf.Bytes = answer.AppendMatchPolyline(buf.Bytes, result, in.details)
	default:
		buf.Bytes = answer.AppendMatch(buf.Bytes, result, in.details)
	}
	return nil
}

func (h *Handler) fail(w http.ResponseWriter, err error) {
	if answer.WriteFailure(w, apierror.Routing, err) {
		h.logger.Error("map matching failed", zap.Error(err))
	}
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
