package routing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/order"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// call is one request.
type call struct {
	*Handler
	*endpoint
	r      *http.Request
	ctx    context.Context
	caller admission.Caller
	in     parameters
	memory admission.Reservation
	work   admission.Work
	buf    *answer.Buffer
	media  string
}

func (c *call) end() {
	c.work.End()
	c.memory.Release()
	c.buf.Free()
}

// answer reads the request and writes the response into the buffer.
func (c *call) answer() (err error) {
	allowed := []string{http.MethodGet, http.MethodHead}
	if c.post {
		allowed = append(allowed, http.MethodPost)
	}
	switch {
	case c.r.Method == http.MethodPost && c.post, c.r.Method == http.MethodGet, c.r.Method == http.MethodHead:
	default:
		return apierror.MethodNotAllowed(allowed...)
	}
	if c.in, err = readQuery(c.r.URL.RawQuery, c.names); err != nil {
		return err
	}
	c.memory = c.app.BodyOf(c.caller)
	if c.r.Method == http.MethodPost {
		if err := c.in.readBody(c.r, c.names, &c.memory); err != nil {
			return err
		}
	}
	c.media = answer.JSON
	return c.serve(c)
}

// elementsPerEvent is how many elements of a matrix count as one request in rate limits.
const elementsPerEvent = 100

// begin charges units and waits for a processor, unless the router is a remote service. It returns the router.
func (c *call) begin(p routing.Profile, units int64, points []routing.Waypoint) (routing.Router, error) {
	router := c.choose(p, points)
	// The request itself has counted one event.
	if err := app.TakeMore(c.ctx, int(units-1)/elementsPerEvent); err != nil {
		return nil, err
	}
	if err := app.Charge(c.ctx, units); err != nil {
		return nil, err
	}
	if _, remote := router.(routing.Remote); remote {
		return router, nil
	}
	return router, c.work.Begin(c.ctx, c.app.Processors(), c.caller)
}

// choose returns the first router that covers all points, or else the one that covers most of them.
func (h *Handler) choose(p routing.Profile, points []routing.Waypoint) routing.Router {
	routers := h.routersFor(p)
	last := routers[len(routers)-1]
	if len(routers) == 1 {
		return last
	}
	best, covered := regions.BestCovering(routers, func(r routing.Router) (covered, of int) {
		c, partial := r.(regions.Partial)
		if !partial {
			return 1, 1
		}
		for i := range points {
			if c.Covers(points[i].Location) {
				covered++
			}
		}
		return covered, len(points)
	})
	if covered > 0 {
		return routers[best]
	}
	return last
}

// maxAlternatives is the most routes beside the best one.
const maxAlternatives = 3

// request reads the parameters of a route.
func (c *call) request() (*routing.Request, error) {
	costs, err := c.in.costs(c.Handler)
	if err != nil {
		return nil, err
	}
	req := &routing.Request{Costs: costs, Meter: &c.work, Language: c.in["language"]}
	from, err := c.in.point("origin")
	if err != nil {
		return nil, err
	}
	to, err := c.in.point("destination")
	if err != nil {
		return nil, err
	}
	points := []orb.Point{from}
	if c.in["waypoints"] != "" {
		via, err := c.in.points("waypoints", c.MaxCoordinates-2)
		if err != nil {
			return nil, err
		}
		points = append(points, via...)
	}
	if req.Waypoints, err = c.in.waypoints(append(points, to)); err != nil {
		return nil, err
	}
	if _, ok := c.in["heading"]; ok {
		if req.Waypoints[0].Heading, err = c.in.number("heading", 0, 360); err != nil {
			return nil, err
		}
	}
	if curb, err := c.in.flag("curbside"); err != nil {
		return nil, err
	} else if curb {
		for i := range req.Waypoints {
			req.Waypoints[i].Side = routing.Curb
		}
	}
	if _, ok := c.in["alternatives"]; ok {
		n, err := c.in.number("alternatives", 0, maxAlternatives)
		if err != nil || n != math.Trunc(n) {
			return nil, invalid(fmt.Sprintf("alternatives: must be a whole number from 0 to %d", maxAlternatives))
		}
		req.Alternatives = int(n)
	}
	if req.Steps, err = c.in.flag("steps"); err != nil {
		return nil, err
	}
	return req, nil
}

// find asks a router for a route. The answer is written without a processor of the work.
func (c *call) find(req *routing.Request) (*routing.Result, error) {
	router, err := c.begin(req.Profile, 1, req.Waypoints)
	if err != nil {
		return nil, err
	}
	return router.Route(c.ctx, req)
}

// route answers /api/v1/route.
func (c *call) route() error {
	format, err := c.in.word("format", "json", "geojson", "polyline6", "gpx")
	if err != nil {
		return err
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	if _, asked := c.in["steps"]; !asked {
		req.Steps = true
	}
	result, err := c.find(req)
	if err != nil {
		return err
	}
	switch format {
	case "geojson":
		c.media, c.buf.Bytes = answer.GeoJSON, answer.AppendRouteFeatures(c.buf.Bytes, result)
	case "gpx":
		c.media, c.buf.Bytes = answer.GPX, answer.AppendGPX(c.buf.Bytes, result)
	default:
		c.buf.Bytes = answer.AppendRoutes(c.buf.Bytes, result, format == "polyline6")
	}
	return nil
}

// direction answers /api/route/direction.
func (c *call) direction() error {
	format, err := c.in.word("format", "json", "valhalla", "geojson", "polyline6", "gpx")
	if err != nil {
		return err
	}
	req, err := c.request()
	if err != nil {
		return err
	}
	instructions, err := c.in.flag("instruction")
	if err != nil {
		return err
	}
	req.Steps = req.Steps || instructions || format == "valhalla"
	result, err := c.find(req)
	if err != nil {
		return err
	}
	switch format {
	case "valhalla":
		c.buf.Bytes = answer.AppendTrip(c.buf.Bytes, result, req.Language)
	case "geojson":
		c.media, c.buf.Bytes = answer.GeoJSON, answer.AppendRouteFeatures(c.buf.Bytes, result)
	case "gpx":
		c.media, c.buf.Bytes = answer.GPX, answer.AppendGPX(c.buf.Bytes, result)
	default:
		c.buf.Bytes = answer.AppendDirections(c.buf.Bytes, result, instructions, format == "polyline6")
	}
	return nil
}

// tooMany is the error for a matrix that is too large.
func (c *call) tooMany(elements int) error {
	if elements <= c.MaxElements {
		return nil
	}
	return apierror.TooMuch(fmt.Sprintf("the matrix has %d elements, more than %d", elements, c.MaxElements))
}

// list reads a list of coordinates, which must not be empty.
func (c *call) list(name string, least int) ([]routing.Waypoint, error) {
	if _, ok := c.in[name]; !ok {
		return nil, invalid(name + ": is missing")
	}
	points, err := c.in.points(name, c.MaxElements+1)
	if err != nil {
		return nil, err
	}
	if len(points) < least {
		return nil, invalid(fmt.Sprintf("%s: at least %d coordinates are needed, and it has %d", name, least, len(points)))
	}
	return c.in.waypoints(points)
}

// matrix answers /api/route/matrix.
func (c *call) matrix() error {
	costs, err := c.in.costs(c.Handler)
	if err != nil {
		return err
	}
	from, to := "json", "json"
	if _, ok := c.in["json"]; !ok {
		from, to = "origins", "destinations"
	}
	sources, err := c.list(from, 1)
	if err != nil {
		return err
	}
	targets := sources
	if to != from {
		if targets, err = c.list(to, 1); err != nil {
			return err
		}
	}
	t, err := c.table(costs, sources, targets, true)
	if err == nil {
		c.buf.Bytes = answer.AppendMatrix(c.buf.Bytes, t)
	}
	return err
}

// table asks a router for a matrix.
func (c *call) table(costs routing.Costs, sources, targets []routing.Waypoint, distances bool) (*routing.Table, error) {
	elements := len(sources) * len(targets)
	if err := c.tooMany(elements); err != nil {
		return nil, err
	}
	router, err := c.begin(costs.Profile, int64(elements), append(append([]routing.Waypoint(nil), sources...), targets...))
	if err != nil {
		return nil, err
	}
	return router.Table(c.ctx, &routing.TableRequest{Costs: costs, Sources: sources, Destinations: targets,
		Durations: true, Distances: distances, Meter: &c.work})
}

func isNoRoute(err error) bool {
	_, segment := errors.AsType[*routing.SegmentError](err)
	return segment || errors.Is(err, routing.ErrNoRoute)
}

// oneToMany answers /api/route/onm: a route from the origin to each of the other coordinates.
func (c *call) oneToMany() error {
	costs, err := c.in.costs(c.Handler)
	if err != nil {
		return err
	}
	from, err := c.in.point("origin")
	if err != nil {
		return err
	}
	origin, err := c.in.waypoint(from)
	if err != nil {
		return err
	}
	targets, err := c.list("json", 1)
	if err != nil {
		return err
	}
	lines, err := c.in.flag("includeCoordinate")
	if err != nil {
		return err
	}
	if len(targets) > c.MaxCoordinates {
		return apierror.TooMuch(fmt.Sprintf("json: %d coordinates, more than %d", len(targets), c.MaxCoordinates))
	}
	router, err := c.begin(costs.Profile, int64(len(targets)), append([]routing.Waypoint{origin}, targets...))
	if err != nil {
		return err
	}
	routes := make([]*routing.Route, len(targets))
	for i := range targets {
		req := &routing.Request{Costs: costs, Waypoints: []routing.Waypoint{origin, targets[i]}, Meter: &c.work}
		result, err := router.Route(c.ctx, req)
		switch {
		case err == nil:
			routes[i] = &result.Routes[0]
		case !isNoRoute(err):
			return err
		}
	}
	c.buf.Bytes = answer.AppendOneToMany(c.buf.Bytes, routes, lines)
	return nil
}

// order answers /api/route/tss: the best order of stops.
func (c *call) order() error {
	costs, err := c.in.costs(c.Handler)
	if err != nil {
		return err
	}
	stops, err := c.list("json", 2)
	if err != nil {
		return err
	}
	lines, err := c.in.flag("includeCoordinate")
	if err != nil {
		return err
	}
	if len(stops) > c.MaxCoordinates {
		return apierror.TooMuch(fmt.Sprintf("json: %d coordinates, more than %d", len(stops), c.MaxCoordinates))
	}
	o := order.Options{First: true}
	if o.Roundtrip, err = c.in.flag("roundtrip"); err != nil {
		return err
	}
	last, err := c.in.word("destination", "any", "last")
	if err != nil {
		return err
	}
	o.Last = last == "last"
	t, err := c.table(costs, stops, stops, false)
	if err != nil {
		return err
	}
	best := order.Best(t.Durations, o)
	if best == nil {
		return routing.ErrNoRoute
	}
	req := &routing.Request{Costs: costs, UTurns: true, Meter: &c.work}
	for _, i := range best {
		req.Waypoints = append(req.Waypoints, stops[i])
	}
	if o.Roundtrip {
		req.Waypoints = append(req.Waypoints, stops[best[0]])
	}
	result, err := c.choose(costs.Profile, req.Waypoints).Route(c.ctx, req)
	if err != nil {
		return err
	}
	c.buf.Bytes = answer.AppendOrder(c.buf.Bytes, stops, best, &result.Routes[0], lines)
	return nil
}

// The limits of isochrones.
const (
	maxLimits   = 8
	maxMinutes  = 120
	maxDistance = 200_000 // metres
)

// isochrone answers /api/v1/isochrone.
func (c *call) isochrone() error {
	costs, err := c.in.costs(c.Handler)
	if err != nil {
		return err
	}
	at, err := c.in.point("origin")
	if err != nil {
		return err
	}
	req := &routing.IsochroneRequest{Costs: costs, Meter: &c.work}
	if req.Origin, err = c.in.waypoint(at); err != nil {
		return err
	}
	_, minutes := c.in["minutes"]
	_, metres := c.in["metres"]
	switch {
	case minutes == metres:
		return invalid("minutes: give either minutes or metres")
	case minutes:
		req.Limits, err = c.in.numbers("minutes", maxLimits, 0.1, maxMinutes)
		for i := range req.Limits {
			req.Limits[i] *= 60
		}
	default:
		req.Metres = true
		req.Limits, err = c.in.numbers("metres", maxLimits, 10, maxDistance)
	}
	if err != nil {
		return err
	}
	if req.Reverse, err = c.in.flag("reverse"); err != nil {
		return err
	}
	router, err := c.begin(costs.Profile, 1, []routing.Waypoint{req.Origin})
	if err != nil {
		return err
	}
	areas, err := router.Isochrone(c.ctx, req)
	if err != nil {
		return err
	}
	c.media, c.buf.Bytes = answer.GeoJSON, answer.AppendIsochrones(c.buf.Bytes, req, areas)
	return nil
}
