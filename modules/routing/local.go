package routing

import (
	"context"
	"errors"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Local)) }

// Local finds routes on regions of the maps app.
type Local struct {
	// The regions, by their names or their files. The first that covers all coordinates answers, or the one that covers
	// most of them. Required.
	Regions []string `json:"regions,omitempty"`

	regions []*regions.Region
}

// CaddyModule returns the Caddy module information.
func (*Local) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.routers.local", New: func() caddy.Module { return new(Local) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (l *Local) UnmarshalJSON(data []byte) error { return options.Decode(data, l) }

var errNoRegion = errors.New("router local needs the name of at least one region")

// Provision finds the regions. Their files are opened when the app starts.
func (l *Local) Provision(ctx caddy.Context) (err error) {
	if len(l.Regions) == 0 {
		return errNoRegion
	}
	l.regions, err = app.LookupRegions(ctx, l.Regions)
	return err
}

// on asks the region that covers most of some waypoints.
func on[T any](l *Local, waypoints []routing.Waypoint, ask func(*regions.Pinned) (T, error)) (T, error) {
	return regions.Ask(func() (*regions.Pinned, error) {
		points := make([]trace.Point, len(waypoints))
		for i := range waypoints {
			points[i].Location = waypoints[i].Location
		}
		return regions.PinCoveringTrace(l.regions, points)
	}, ask)
}

// Route implements routing.Router.
func (l *Local) Route(ctx context.Context, req *routing.Request) (*routing.Result, error) {
	return on(l, req.Waypoints, func(p *regions.Pinned) (*routing.Result, error) { return p.Router.Route(ctx, req) })
}

// Table implements routing.Router.
func (l *Local) Table(ctx context.Context, req *routing.TableRequest) (*routing.Table, error) {
	return on(l, req.Sources, func(p *regions.Pinned) (*routing.Table, error) { return p.Router.Table(ctx, req) })
}

// Nearest implements routing.Router.
func (l *Local) Nearest(ctx context.Context, at *routing.Waypoint, profile routing.Profile, number int) (
	[]routing.Snapped, error) {
	return on(l, []routing.Waypoint{*at}, func(p *regions.Pinned) ([]routing.Snapped, error) {
		return p.Router.Nearest(ctx, at, profile, number)
	})
}

// Isochrone implements routing.Router.
func (l *Local) Isochrone(ctx context.Context, req *routing.IsochroneRequest) ([]orb.MultiPolygon, error) {
	return on(l, []routing.Waypoint{req.Origin}, func(p *regions.Pinned) ([]orb.MultiPolygon, error) {
		return p.Router.Isochrone(ctx, req)
	})
}

// Match implements matching.Matcher, for OSRM's service `match`.
func (l *Local) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	return regions.Ask(
		func() (*regions.Pinned, error) { return regions.PinCoveringTrace(l.regions, req.Points) },
		func(p *regions.Pinned) (*matching.Result, error) { return p.Matcher.Match(ctx, req) })
}

// Covers reports whether one of the regions covers a position.
func (l *Local) Covers(point orb.Point) bool { return regions.AnyCovers(l.regions, point) }

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	router local <region...>
//
// Example:
//
//	maps_route {
//	    router local delaware andorra
//	}
func (l *Local) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if l.Regions = d.RemainingArgs(); len(l.Regions) == 0 {
		return options.WithLine(d, errNoRegion)
	}
	return options.Block(d, "router local", nil)
}

// RegionNames returns the configured names of the regions.
func (l *Local) RegionNames() []string { return l.Regions }

// Interface guards
var (
	_ caddy.Provisioner     = (*Local)(nil)
	_ caddyfile.Unmarshaler = (*Local)(nil)
	_ routing.Router        = (*Local)(nil)
	_ matching.Matcher      = (*Local)(nil)
	_ regions.Partial       = (*Local)(nil)
)
