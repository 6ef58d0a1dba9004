package valhalla

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/go-json-experiment/json"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

func init() { caddy.RegisterModule(new(Router)) }

// Router asks Valhalla's `route`, `sources_to_targets` and `isochrone`. It covers every place, so put it after local
// routers. It does not avoid unpaved roads or areas with holes, does not list the nearest roads and has no annotations.
type Router struct {
	remote.Service

	// The costing for `car`; `bicycle` and `foot` use `bicycle` and `pedestrian`. Default: `auto`.
	Costing string `json:"costing,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (*Router) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.routers.valhalla", New: func() caddy.Module { return new(Router) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (r *Router) UnmarshalJSON(data []byte) error { return options.Decode(data, r) }

// Provision opens the proxy to the servers.
func (r *Router) Provision(ctx caddy.Context) error {
	if r.Costing == "" {
		r.Costing = defaultCosting
	}
	if err := r.Open(ctx, remote.Protocol{RetryPosts: true}); err != nil {
		return fmt.Errorf("router valhalla: %w", err)
	}
	return nil
}

// location is a place of a request. Valhalla ignores numbers with decimals where it wants whole ones.
type location struct {
	Lat       float64 `json:"lat"`
	Lon       float64 `json:"lon"`
	Type      string  `json:"type,omitempty"`
	Heading   *int    `json:"heading,omitempty"`
	Tolerance int     `json:"heading_tolerance,omitzero"`
	Cutoff    int     `json:"search_cutoff"` // metres
	Side      string  `json:"preferred_side,omitempty"`
}

func locations(waypoints []routing.Waypoint, straight bool) []location {
	all := make([]location, len(waypoints))
	for i := range waypoints {
		w := &waypoints[i]
		l := location{Lat: w.Location[1], Lon: w.Location[0], Cutoff: int(math.Ceil(remote.Reach(w))),
			Side: [...]string{routing.AnySide: "", routing.Curb: "same", routing.OppositeCurb: "opposite"}[w.Side]}
		if !math.IsNaN(w.Heading) {
			heading := int(math.Round(w.Heading)) % 360
			l.Heading, l.Tolerance = &heading, int(math.Ceil(cmp.Or(w.Within, 45)))
		}
		if straight && i > 0 && i < len(waypoints)-1 {
			l.Type = "break_through" // a leg ends there, and the route goes straight on
		}
		all[i] = l
	}
	return all
}

// costs adds the members of a request that say what routes cost.
func (r *Router) costs(body map[string]any, c *routing.Costs) error {
	if c.Avoid&routing.Unpaved != 0 {
		return routing.ErrUnsupported
	}
	costing := map[routing.Profile]string{0: r.Costing, region.Car: r.Costing, region.Bicycle: "bicycle",
		region.Foot: "pedestrian"}[c.Profile]
	body["costing"] = costing
	use := map[string]float64{}
	for what, name := range map[routing.Avoid]string{routing.Toll: "use_tolls", routing.Ferry: "use_ferry",
		routing.Motorway: "use_highways"} {
		if c.Avoid&what != 0 {
			use[name] = 0
		}
	}
	if len(use) > 0 {
		body["costing_options"] = map[string]any{costing: use}
	}
	var rings []orb.Ring
	for _, polygon := range c.AvoidPolygons {
		if len(polygon) > 1 {
			return routing.ErrUnsupported // Valhalla has no holes, and would avoid those, too
		}
		rings = append(rings, polygon...)
	}
	if len(rings) > 0 {
		body["exclude_polygons"] = rings
	}
	return nil
}

// ask posts a request about waypoints and reads the response.
func (r *Router) ask(ctx context.Context, path string, body map[string]any, c *routing.Costs, asked []routing.Waypoint,
	read func(body []byte) error) error {
	if err := r.costs(body, c); err != nil {
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return r.Send(ctx, &remote.Request{Path: path, Body: text}, func(status int, body []byte) error {
		switch status {
		case http.StatusOK:
			return read(body)
		case http.StatusRequestEntityTooLarge:
			return routing.ErrWork
		case http.StatusBadRequest:
			var refused struct {
				Code      any `json:"code"`
				ErrorCode int `json:"error_code"`
			}
			if err := json.Unmarshal(body, &refused); err != nil {
				return remote.InvalidResponse("status 400 without a code")
			}
			return routeRefusal(refused.ErrorCode, refused.Code, asked)
		}
		return remote.Unexpected(status)
	})
}

// routeRefusal returns the meaning of an error of Valhalla (src/exceptions.cc): its own number, or with `format=osrm` a
// code that several errors share. Of our requests only too many locations have InvalidValue.
func routeRefusal(number int, code any, asked []routing.Waypoint) error {
	switch number {
	case 170, 441, 442: // not connected, unreachable, no path
		return routing.ErrNoRoute
	case 171: // no edges near
		return remote.NoSegment(asked, "")
	case 150, 151, 152, 154, 157, 166, 167, 172: // too many locations or contours, too long
		return routing.ErrWork
	case 0:
		switch code {
		case "NoRoute":
			return routing.ErrNoRoute
		case "NoSegment":
			return remote.NoSegment(asked, "")
		case "InvalidValue", "DistanceExceeded", "PerimeterExceeded", "BreakageDistanceExceeded":
			return routing.ErrWork
		}
	}
	return remote.InvalidResponse("error code %d, %.40q", number, fmt.Sprint(code))
}

// Route implements routing.Router.
func (r *Router) Route(ctx context.Context, req *routing.Request) (result *routing.Result, err error) {
	body := map[string]any{"locations": locations(req.Waypoints, !req.UTurns), "format": "osrm",
		"shape_format": "polyline6", "units": "kilometers"}
	if req.Language != "" {
		body["language"] = req.Language
	}
	if req.Alternatives > 0 && len(req.Waypoints) == 2 {
		body["alternates"] = req.Alternatives
	}
	err = r.ask(ctx, "/route", body, &req.Costs, req.Waypoints, func(text []byte) error {
		a, err := remote.ReadRouteResponse(text, len(req.Waypoints))
		if err == nil {
			result, err = a.Result(req)
		}
		return err
	})
	return result, err
}

// Table implements routing.Router.
func (r *Router) Table(ctx context.Context, req *routing.TableRequest) (t *routing.Table, err error) {
	body := map[string]any{"sources": locations(req.Sources, false), "targets": locations(req.Destinations, false),
		"verbose": false, "shape_format": "no_shape"}
	asked := append(append([]routing.Waypoint(nil), req.Sources...), req.Destinations...)
	err = r.ask(ctx, "/sources_to_targets", body, &req.Costs, asked, func(text []byte) error {
		read, err := remote.ReadRouteResponse(text, len(asked))
		if err != nil {
			return err
		}
		t = &routing.Table{Sources: given(req.Sources), Destinations: given(req.Destinations)}
		if req.Durations {
			if t.Durations, err = remote.Matrix(read.Matrix.Durations, len(req.Sources), len(req.Destinations)); err != nil {
				return err
			}
		}
		if req.Distances {
			if t.Distances, err = remote.Matrix(read.Matrix.Distances, len(req.Sources), len(req.Destinations)); err != nil {
				return err
			}
			for _, row := range t.Distances {
				for i := range row {
					row[i] *= 1000
				}
			}
		}
		return nil
	})
	return t, err
}

// given returns places as they were sent, since Valhalla does not tell where it has found them.
func given(waypoints []routing.Waypoint) []routing.Snapped {
	all := make([]routing.Snapped, len(waypoints))
	for i := range waypoints {
		all[i].Location = waypoints[i].Location
	}
	return all
}

// Nearest implements routing.Router. Valhalla's `locate` tells edges, not a number of nearest roads.
func (*Router) Nearest(context.Context, *routing.Waypoint, routing.Profile, int) ([]routing.Snapped, error) {
	return nil, routing.ErrUnsupported
}

// Isochrone implements routing.Router.
func (r *Router) Isochrone(ctx context.Context, req *routing.IsochroneRequest) (areas []orb.MultiPolygon, err error) {
	contours := make([]map[string]float64, len(req.Limits))
	for i, limit := range req.Limits {
		contours[i] = map[string]float64{"time": limit / 60}
		if req.Metres {
			contours[i] = map[string]float64{"distance": limit / 1000}
		}
	}
	asked := []routing.Waypoint{req.Origin}
	body := map[string]any{"locations": locations(asked, false), "contours": contours, "polygons": true,
		"reverse": req.Reverse}
	err = r.ask(ctx, "/isochrone", body, &req.Costs, asked, func(text []byte) (err error) {
		areas, err = readAreas(text, req)
		return err
	})
	return areas, err
}

// area is an area within a limit.
type area struct {
	Properties struct {
		Contour float64 `json:"contour"` // minutes or kilometres
	} `json:"properties"`
	Geometry remote.Geometry `json:"geometry"`
}

// mostAreas is the largest number of areas in a response.
const mostAreas = 10_000

// readAreas reads the areas within each limit. Each limit has some.
func readAreas(body []byte, req *routing.IsochroneRequest) ([]orb.MultiPolygon, error) {
	var read struct {
		Features []area `json:"features"`
	}
	if err := json.Unmarshal(body, &read, json.WithUnmarshalers(remote.AtMost[area](mostAreas))); err != nil {
		return nil, remote.InvalidResponse("%v", err)
	}
	unit := 60.0
	if req.Metres {
		unit = 1000
	}
	areas := make([]orb.MultiPolygon, len(req.Limits))
	for i, limit := range req.Limits {
		for k := range read.Features {
			f := &read.Features[k]
			if math.Abs(limit/unit-f.Properties.Contour) > 1e-3 {
				continue
			}
			switch g := f.Geometry.Geometry.(type) {
			case orb.Polygon:
				areas[i] = append(areas[i], g)
			case orb.MultiPolygon:
				areas[i] = append(areas[i], g...)
			}
		}
		if areas[i] == nil {
			return nil, remote.InvalidResponse("there is no area within %v", limit)
		}
	}
	return areas, nil
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	router valhalla <upstreams...> {
//	    costing       <name>
//	    timeout       <duration>
//	    max_response  <size>
//	    max_in_flight <number>
//	    max_calls     <number>
//	    <options of reverse_proxy>
//	}
//
// Example:
//
//	maps_route delaware {
//	    router valhalla http://valhalla-1:8002 {
//	        timeout 5s
//	    }
//	}
func (r *Router) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return r.UnmarshalBlock(d, "router", options.Option{Name: "costing", Args: "<name>", Read: options.Text(&r.Costing)})
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Router)(nil)
	_ caddyfile.Unmarshaler = (*Router)(nil)
	_ routing.Router        = (*Router)(nil)
	_ routing.Remote        = (*Router)(nil)
)
