// Package matching has three Caddy modules:
//
//   - the handler `maps_match` finds the drive on the roads behind a recorded trace;
//   - the matcher `local` does that on region files of this server;
//   - the request matcher `maps_region` tells in which region the positions of a request lie, for proxies.
//
// The engine is in internal/matching, the formats of traces are in internal/trace, and matchers that ask other servers
// are in modules/remote. Start with Handler.match, Local.Match and RegionMatcher.MatchWithError.
package matching

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

// Handler answers `/api/route/matching/`: the most probable drive behind a trace of GPS positions, from `GET` or as
// JSON, GPX, GeoJSON or CSV. How to call it: docs/build/matching.md.
type Handler struct {
	// The path, as this handler sees it; a trailing slash is optional. Others are 404. Default: `/api/route/matching`.
	Prefix string `json:"prefix,omitempty"`

	// The matchers. Of those for the request's profile, the first that covers the trace answers, or the one that covers
	// most of it. One without known coverage covers everything. Required.
	MatchersRaw []json.RawMessage `json:"matchers,omitempty" caddy:"namespace=maps.matchers inline_key=source"`

	// The most points of a trace, 2 to 1000000. Default: 10000.
	MaxPoints int `json:"max_points,omitempty"`

	// The largest distance of a point from its road in metres, up to 5000, and the largest `radius`. Default: 100.
	MaxRadius float64 `json:"max_radius,omitempty"`

	// The largest body of a `POST`, in bytes. Default: 8 MiB.
	MaxBody int64 `json:"max_body,omitempty"`

	// The profiles on offer: `car`, `bicycle`, `foot`. The first is for requests without `profile`. Each needs a
	// matcher. Default: `car`.
	Profile Profiles `json:"profile,omitempty"`

	// Whether requests without maps_auth and DIRECTION are served. Otherwise they get 500. Default: false.
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

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (h *Handler) UnmarshalJSON(data []byte) error { return options.Decode(data, h) }

// Provision loads the matchers.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	if h.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(h.Prefix, defaultPrefix)); err != nil {
		return err
	}
	if h.app, err = app.Get(ctx); err != nil {
		return err
	}
	h.gate = h.app.NewGate(ctx, account.ScopeDirection, apierror.Routing, h.Public)
	h.setDefaults()
	if h.offer, err = newOffer(h.Profile); err != nil {
		return err
	}
	if len(h.MatchersRaw) == 0 {
		return nil // an error of Validate
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
		return options.Errorf("max_points", "%d is not between %d and %d", h.MaxPoints, trace.MinPoints, maxMaxPoints)
	case !(h.MaxRadius > 0 && h.MaxRadius <= maxMaxRadius):
		return options.Errorf("max_radius", "%v is not more than 0 and at most %d metres", h.MaxRadius, maxMaxRadius)
	case h.MaxBody < 1:
		return options.Errorf("max_body", "%d is not a positive number of bytes", h.MaxBody)
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

// match writes the response to a request into a buffer. It holds a processor only while it computes, not while it reads
// the body.
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
