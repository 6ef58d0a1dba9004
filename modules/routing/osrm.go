package routing

import (
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/order"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// osrmEndpoint has the style of errors that OSRM has no code for.
var osrmEndpoint = &endpoint{style: apierror.Routing}

// serveOSRM answers a request of OSRM's HTTP API, and reports whether it is one.
func (h *Handler) serveOSRM(w http.ResponseWriter, r *http.Request) bool {
	path, ok := strings.CutPrefix(r.URL.Path, string(h.prefix))
	name, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	service, known := osrmServices[name]
	// Only coordinates may be percent-encoded: rules for paths compare the rest.
	if !ok || !strings.HasPrefix(r.URL.EscapedPath(), string(h.prefix)+"/"+name+"/") ||
		!known && (name == "api" || !strings.HasPrefix(rest, "v1/")) {
		return false
	}
	if known && h.gates[service.scope].RefuseAs(apierror.Routing, w, r) {
		return true
	}
	c := &call{Handler: h, endpoint: osrmEndpoint, r: r, ctx: r.Context(), caller: app.Caller(r.Context()),
		buf: answer.GetBuffer()}
	defer c.end()
	err := c.osrm(path)
	if wrong, ok := errors.AsType[*osrmError](err); ok {
		answer.WriteOSRMError(w, wrong.code, wrong.message)
	} else if err != nil {
		h.fail(w, osrmEndpoint, path, err)
	} else {
		answer.Write(w, answer.JSON, c.buf.Bytes)
	}
	return true
}

// osrm writes the answer into the buffer.
func (c *call) osrm(path string) error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead {
		return apierror.MethodNotAllowed(http.MethodGet, http.MethodHead)
	}
	q, err := parseOSRM(path, c.r.URL.RawQuery,
		osrmLimits{coordinates: c.MaxCoordinates, elements: c.MaxElements, trace: matching.DefaultMaxPoints})
	if err != nil {
		return err
	}
	if !slices.Contains(c.offer, q.Profile) {
		return osrmErrorf("InvalidValue", "profile: there are no routes for %s", profileName(q.Profile))
	}
	router, err := c.begin(q.Profile, q.units(), q.points)
	if err != nil {
		return err
	}
	c.buf.Bytes, err = q.appendAnswer(c.ctx, c.buf.Bytes, router, &c.work)
	return err
}

// units returns how many units the request counts for.
func (q *osrmQuery) units() int64 {
	switch q.service {
	case osrmTable, osrmTrip:
		return int64(len(q.sources) * len(q.destinations))
	case osrmMatch:
		return int64(len(q.points))
	}
	return 1
}

// appendAnswer computes and appends the answer. An error of the engine that OSRM has a code for becomes an *osrmError.
func (q *osrmQuery) appendAnswer(ctx context.Context, dst []byte, router routing.Router, meter routing.Meter) (
	_ []byte, err error) {
	switch q.service {
	case osrmRoute:
		dst, err = q.appendRoutes(ctx, dst, router, meter)
	case osrmTable:
		dst, err = q.appendTable(ctx, dst, router, meter)
	case osrmNearest:
		var places []routing.Snapped
		places, err = router.Nearest(ctx, &q.points[0], q.Profile, q.number)
		if err == nil && len(places) == 0 {
			err = new(routing.SegmentError)
		}
		dst = q.answer.AppendNearest(dst, places)
	case osrmTrip:
		dst, err = q.appendTrip(ctx, dst, router, meter)
	case osrmMatch:
		dst, err = q.appendMatchings(ctx, dst, router, meter)
	}
	return dst, q.explain(err)
}

// explain returns the *osrmError for an error of an engine, or the error itself.
func (q *osrmQuery) explain(err error) error {
	var (
		segment *routing.SegmentError
		input   *trace.InputError
	)
	switch {
	case errors.As(err, &segment):
		i := segment.Waypoint
		if i < 0 {
			return &osrmError{"NoSegment", segment.Error()}
		}
		if n := len(q.sources); q.service == osrmTable && i < n {
			i = q.sources[i]
		} else if q.service == osrmTable {
			i = q.destinations[i-n]
		}
		return osrmErrorf("NoSegment", "Could not find a matching segment for coordinate %d", i) // VROOM reads this text
	case errors.As(err, &input):
		return &osrmError{"InvalidValue", input.Error()}
	case errors.Is(err, matching.ErrNoRoute):
		return &osrmError{"NoMatch", err.Error()}
	case errors.Is(err, routing.ErrNoRoute):
		code := map[osrmService]string{osrmTable: "NoTable", osrmTrip: "NoTrips"}[q.service]
		if code == "" {
			code = "NoRoute"
		}
		return &osrmError{code, err.Error()}
	case errors.Is(err, routing.ErrWork), errors.Is(err, matching.ErrWork):
		return &osrmError{"TooBig", err.Error()}
	case errors.Is(err, routing.ErrUnsupported):
		return &osrmError{"NotImplemented", err.Error()}
	}
	return err
}

// request is a request for a route through some points.
func (q *osrmQuery) request(points []routing.Waypoint, meter routing.Meter) *routing.Request {
	return &routing.Request{
		Costs: q.Costs, Waypoints: points, Alternatives: q.alternatives, Steps: q.answer.Steps,
		Annotations: q.answer.Annotations != 0, Meter: meter,
	}
}

func (q *osrmQuery) appendRoutes(ctx context.Context, dst []byte, router routing.Router, meter routing.Meter) (
	[]byte, error) {
	const straightOn, turnBack = 1, 2
	req := q.request(q.points, meter)
	req.UTurns = q.straight == turnBack || q.straight != straightOn && q.Profile != region.Car // as OSRM's profiles
	result, err := router.Route(ctx, req)
	if err != nil {
		return dst, err
	}
	if q.ends != nil {
		for i := range result.Routes {
			result.Routes[i].Legs = joinLegs(result.Routes[i].Legs, q.ends)
		}
		result.Waypoints = pick(result.Waypoints, q.ends)
	}
	return q.answer.AppendRoutes(dst, result), nil
}

// pick returns the elements of a list with some indexes.
func pick[T any](list []T, indexes []int) []T {
	picked := make([]T, len(indexes))
	for i, at := range indexes {
		picked[i] = list[at]
	}
	return picked
}

// joinLegs joins the legs between waypoints so that only those with some indexes end one. It changes the legs.
func joinLegs(legs []routing.Leg, ends []int) []routing.Leg {
	joined := make([]routing.Leg, 0, len(ends)-1)
	for i, end := range ends[1:] {
		leg := legs[ends[i]]
		longest := leg.Distance
		for _, next := range legs[ends[i]+1 : end] {
			leg.Distance, leg.Duration, leg.Last = leg.Distance+next.Distance, leg.Duration+next.Duration, next.Last
			leg.Segments = append(leg.Segments, next.Segments...)
			if next.Distance > longest {
				longest, leg.Summary = next.Distance, next.Summary
			}
			if n := len(leg.Steps); n > 1 { // instead of an arrival and a departure, the step before goes on
				before, departure := &leg.Steps[n-2], &next.Steps[0]
				before.Distance, before.Duration = before.Distance+departure.Distance, before.Duration+departure.Duration
				before.Last = departure.Last
				before.Intersections = append(before.Intersections, departure.Intersections[1:]...)
				leg.Steps = append(leg.Steps[:n-1], next.Steps[1:]...)
			}
		}
		joined = append(joined, leg)
	}
	return joined
}

func (q *osrmQuery) appendTable(ctx context.Context, dst []byte, router routing.Router, meter routing.Meter) (
	[]byte, error) {
	t, err := router.Table(ctx, &routing.TableRequest{
		Costs: q.Costs, Sources: pick(q.points, q.sources), Destinations: pick(q.points, q.destinations),
		Durations: q.answer.Annotations&answer.OSRMDuration != 0,
		Distances: q.answer.Annotations&answer.OSRMDistance != 0, Meter: meter,
	})
	if err != nil {
		return dst, err
	}
	var estimated [][2]int
	if q.fallbackSpeed > 0 {
		estimated = q.estimate(t)
	}
	for _, row := range t.Durations {
		for i := range row {
			row[i] *= q.scale
		}
	}
	return q.answer.AppendTable(dst, t, estimated), nil
}

// estimate fills in the cells without a route by the straight distance, and returns their rows and columns.
func (q *osrmQuery) estimate(t *routing.Table) [][2]int {
	cells := [][2]int{}
	for i, source := range q.sources {
		for k, destination := range q.destinations {
			known := t.Durations
			if known == nil {
				known = t.Distances
			}
			if !math.IsNaN(known[i][k]) {
				continue
			}
			cells = append(cells, [2]int{i, k})
			from, to := q.points[source].Location, q.points[destination].Location
			if q.fallbackSnapped == 1 {
				from, to = t.Sources[i].Location, t.Destinations[k].Location
			}
			metres := distance(from, to)
			if t.Durations != nil {
				t.Durations[i][k] = metres / q.fallbackSpeed
			}
			if t.Distances != nil {
				t.Distances[i][k] = metres
			}
		}
	}
	return cells
}

// distance returns metres.
func distance(a, b orb.Point) float64 { return geo.Distance(a[1], a[0], b[1], b[0]) }

func (q *osrmQuery) appendTrip(ctx context.Context, dst []byte, router routing.Router, meter routing.Meter) (
	[]byte, error) {
	const fixed = 1
	t, err := router.Table(ctx, &routing.TableRequest{
		Costs: q.Costs, Sources: q.points, Destinations: q.points, Durations: true, Meter: meter,
	})
	if err != nil {
		return dst, err
	}
	best := order.Best(t.Durations, order.Options{First: q.first == fixed, Last: q.last == fixed, Roundtrip: q.roundtrip})
	if best == nil {
		return dst, routing.ErrNoRoute
	}
	stops := pick(q.points, best)
	if q.roundtrip {
		stops = append(stops, stops[0])
	}
	req := q.request(stops, meter)
	req.UTurns = true // as in the table
	result, err := router.Route(ctx, req)
	if err != nil {
		return dst, err
	}
	return q.answer.AppendTrip(dst, &result.Routes[0], result.Waypoints, best), nil
}
