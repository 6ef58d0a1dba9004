package osrm

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

func init() { caddy.RegisterModule(new(Router)) }

// Router asks OSRM's services `route`, `table` and `nearest`. It covers every place, so put it after local routers. It
// has no isochrones, avoids no areas and no unpaved roads, and can avoid only what the server's profile excludes.
//
// An OSRM server has one profile, so several need a router each.
type Router struct {
	remote.Service

	// The profile in OSRM's path; see `maps.matchers.osrm`. Default: `driving`.
	Profile string `json:"profile,omitempty"`

	// The requests' profile that it answers: `car`, `bicycle` or `foot`. Default: what `profile` says.
	AnswersFor string `json:"answers_for,omitempty"`

	matcher Matcher // for the profile
}

// CaddyModule returns the Caddy module information.
func (*Router) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.routers.osrm", New: func() caddy.Module { return new(Router) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (r *Router) UnmarshalJSON(data []byte) error { return options.Decode(data, r) }

// Provision opens the proxy to the servers.
func (r *Router) Provision(ctx caddy.Context) error {
	r.matcher = Matcher{Profile: r.Profile, AnswersFor: r.AnswersFor}
	if err := r.matcher.setProfile(); err != nil {
		return fmt.Errorf("router osrm: %w", err)
	}
	if err := r.Open(ctx, remote.Protocol{FreshConnections: true}); err != nil {
		return fmt.Errorf("router osrm: %w", err)
	}
	return nil
}

// Routes implements routing.Answering.
func (r *Router) Routes(p routing.Profile) bool { return p == 1<<r.matcher.answersFor }

// ask sends a request to a service, and reads a response with at most places waypoints.
func (r *Router) ask(ctx context.Context, service string, q *query, places int,
	read func(a *remote.RouteResponse) error) error {
	if q.unsupported {
		return routing.ErrUnsupported
	}
	return r.Send(ctx, &remote.Request{Path: "/" + service + "/v1/" + r.matcher.Profile + "/" + q.coordinates(),
		Query: "generate_hints=false" + q.options()},
		func(status int, body []byte) error {
			if status != http.StatusOK && status != http.StatusBadRequest {
				return remote.Unexpected(status)
			}
			a, err := remote.ReadRouteResponse(body, places)
			if err != nil {
				return err
			}
			if err := a.Refusal(q.waypoints); err != nil {
				return err
			}
			return read(a)
		})
}

// Route implements routing.Router.
func (r *Router) Route(ctx context.Context, req *routing.Request) (result *routing.Result, err error) {
	q := newQuery(&req.Costs, req.Waypoints)
	q.more = "&overview=false&geometries=polyline6&steps=true&continue_straight=" + strconv.FormatBool(!req.UTurns)
	if req.Alternatives > 0 && len(req.Waypoints) == 2 {
		q.more += "&alternatives=" + strconv.Itoa(req.Alternatives)
	}
	if req.Annotations {
		q.more += "&annotations=duration,distance"
	}
	err = r.ask(ctx, "route", q, len(req.Waypoints), func(a *remote.RouteResponse) (err error) {
		result, err = a.Result(req)
		return err
	})
	return result, err
}

// Table implements routing.Router.
func (r *Router) Table(ctx context.Context, req *routing.TableRequest) (t *routing.Table, err error) {
	q := newQuery(&req.Costs, append(append([]routing.Waypoint(nil), req.Sources...), req.Destinations...))
	n := len(req.Sources)
	var kinds []string
	if req.Durations {
		kinds = append(kinds, "duration")
	}
	if req.Distances {
		kinds = append(kinds, "distance")
	}
	q.more = "&annotations=" + strings.Join(kinds, ",") + "&sources=" + indexes(0, n) + "&destinations=" +
		indexes(n, n+len(req.Destinations))
	err = r.ask(ctx, "table", q, len(q.waypoints), func(a *remote.RouteResponse) (err error) {
		t, err = a.Table(req)
		return err
	})
	return t, err
}

// Nearest implements routing.Router.
func (r *Router) Nearest(ctx context.Context, at *routing.Waypoint, _ routing.Profile, number int) (
	places []routing.Snapped, err error) {
	q := newQuery(&routing.Costs{}, []routing.Waypoint{*at})
	q.more = "&number=" + strconv.Itoa(number)
	err = r.ask(ctx, "nearest", q, number, func(a *remote.RouteResponse) (err error) {
		places, err = a.Nearest(at)
		return err
	})
	return places, err
}

// Isochrone implements routing.Router. OSRM has none.
func (*Router) Isochrone(context.Context, *routing.IsochroneRequest) ([]orb.MultiPolygon, error) {
	return nil, routing.ErrUnsupported
}

// query is a request to OSRM.
type query struct {
	waypoints   []routing.Waypoint
	exclude     []string
	unsupported bool
	more        string
}

func newQuery(c *routing.Costs, waypoints []routing.Waypoint) *query {
	q := &query{waypoints: waypoints, unsupported: len(c.AvoidPolygons) > 0 || c.Avoid&routing.Unpaved != 0}
	for _, class := range [...]struct {
		what routing.Avoid
		name string
	}{{routing.Toll, "toll"}, {routing.Ferry, "ferry"}, {routing.Motorway, "motorway"}} {
		if c.Avoid&class.what != 0 {
			q.exclude = append(q.exclude, class.name)
		}
	}
	return q
}

func (q *query) coordinates() string {
	var p []byte
	for i := range q.waypoints {
		if i > 0 {
			p = append(p, ';')
		}
		p = text.AppendRounded(p, q.waypoints[i].Location[0], 6)
		p = append(p, ',')
		p = text.AppendRounded(p, q.waypoints[i].Location[1], 6)
	}
	return string(p)
}

// options appends what waypoints say, each in a list with one element for each waypoint, which may be empty.
func (q *query) options() string {
	var b strings.Builder
	list := func(name string, element func(w *routing.Waypoint) string) {
		elements, any := make([]string, len(q.waypoints)), false
		for i := range q.waypoints {
			elements[i] = element(&q.waypoints[i])
			any = any || elements[i] != ""
		}
		if any {
			b.WriteString("&" + name + "=" + strings.Join(elements, ";"))
		}
	}
	list("radiuses", func(w *routing.Waypoint) string {
		return strconv.FormatFloat(remote.Reach(w), 'f', -1, 64)
	})
	list("bearings", func(w *routing.Waypoint) string {
		if math.IsNaN(w.Heading) {
			return ""
		}
		within := w.Within
		if within == 0 {
			within = 45
		}
		return fmt.Sprintf("%.0f,%.0f", math.Mod(w.Heading, 360), within)
	})
	list("approaches", func(w *routing.Waypoint) string {
		return [...]string{routing.AnySide: "", routing.Curb: "curb", routing.OppositeCurb: "opposite"}[w.Side]
	})
	if len(q.exclude) > 0 {
		b.WriteString("&exclude=" + strings.Join(q.exclude, ","))
	}
	b.WriteString(q.more)
	return b.String()
}

// indexes returns the numbers from one to another, separated by semicolons.
func indexes(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from {
			b.WriteByte(';')
		}
		b.WriteString(strconv.Itoa(i))
	}
	return b.String()
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	router osrm <upstreams...> {
//	    profile       <name> [car|bicycle|foot]
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
//	    router osrm http://osrm-1:5000 http://osrm-2:5000 {
//	        timeout    5s
//	        lb_retries 2
//	    }
//	    profile car
//	}
func (r *Router) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	err := r.UnmarshalBlock(d, "router",
		options.Option{Name: "profile", Args: "<name> [car|bicycle|foot]", Read: func(d *caddyfile.Dispenser) error {
			m := Matcher{}
			err := m.unmarshalProfile(d)
			r.Profile, r.AnswersFor = m.Profile, m.AnswersFor
			return err
		}},
	)
	return err
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Router)(nil)
	_ caddyfile.Unmarshaler = (*Router)(nil)
	_ routing.Router        = (*Router)(nil)
	_ routing.Answering     = (*Router)(nil)
	_ routing.Remote        = (*Router)(nil)
)
