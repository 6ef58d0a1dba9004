// Package valhalla is the Caddy module `maps.matchers.valhalla`: map matching by Valhalla servers. It writes
// the requests of Valhalla and reads its responses. Package remote sends them.
//
// Start with Matcher.Match, then request.go.
package valhalla

import (
	"context"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

func init() { caddy.RegisterModule(new(Matcher)) }

// Matcher asks Valhalla's `trace_route`, and `trace_attributes` for ways. It covers every place, so put it after local
// matchers.
//
// Valhalla limits points and length of a trace (`service_limits.trace`); more is InvalidInput.
type Matcher struct {
	remote.Service

	// The costing for `car`; `bicycle` and `foot` use `bicycle` and `pedestrian`. Default: `auto`.
	Costing string `json:"costing,omitempty"`

	// Whether responses with details have OpenStreetMap ways. It costs Valhalla another call, about half as much again.
	// Default: `true`.
	Ways *bool `json:"ways,omitempty"`

	limit limit
}

const defaultCosting = "auto"

// costing returns Valhalla's costing model for a profile.
func (m *Matcher) costing(p matching.Profile) string {
	switch p {
	case matching.Bicycle:
		return "bicycle"
	case matching.Foot:
		return "pedestrian"
	}
	return m.Costing
}

// CaddyModule returns the Caddy module information.
func (*Matcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.matchers.valhalla", New: func() caddy.Module { return new(Matcher) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (m *Matcher) UnmarshalJSON(data []byte) error { return options.Decode(data, m) }

// Provision opens the proxy to the servers.
func (m *Matcher) Provision(ctx caddy.Context) error {
	if m.Costing == "" {
		m.Costing = defaultCosting
	}
	if err := m.Open(ctx, remote.Protocol{RetryPosts: true}); err != nil {
		return fmt.Errorf("matcher valhalla: %w", err)
	}
	return nil
}

// Match implements matching.Matcher. If there is no road near the points, or the drive has a gap, it searches again as
// far as the request allows. If the gap remains, it tries without the points around it.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	ctx = m.WithCalls(ctx)
	q, sigma := newMatchRequest(req)
	search := remote.Search{
		Request: req, Sigma: sigma, CanWiden: q.canWiden(sigma, m.limit.get()), WidenGaps: true,
		MaySend:  func() bool { return m.MaySend(ctx) },
		GapSigma: q.gapSigma(sigma),
		Send: func(used []int, opts remote.SearchOptions) (*remote.Matchings, error) {
			return m.matchPoints(ctx, q, used, opts)
		},
	}
	a, err := search.Run(ctx)
	if err != nil {
		return nil, err
	}
	result, err := a.Result(req)
	if err != nil || !req.Details {
		return result, err
	}
	if (m.Ways == nil || *m.Ways) && m.MaySend(ctx) {
		result.Ways = m.ways(ctx, req.Profile, result.Path)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	result.PlacePoints()
	return result, nil
}

// matchPoints sends a request for the points in use, and tries smaller radiuses if it exceeds a limit of the service.
func (m *Matcher) matchPoints(ctx context.Context, q *matchRequest, used []int, opts remote.SearchOptions) (
	*remote.Matchings, error) {
	limit := m.limit.get()
	a, largest, err := m.send(ctx, q, used, opts, limit)
	for errors.Is(err, errOption) {
		lower, ok := lowerLimit(largest)
		if !ok {
			return nil, remote.TooManyPoints // it is not the radius
		}
		a, largest, err = m.send(ctx, q, used, opts, lower)
		if (err == nil || errors.Is(err, matching.ErrNoRoute)) && m.limit.lower(lower) {
			m.Logger().Warn("Valhalla refuses search radiuses that requests may ask for "+
				"(service_limits.trace.max_search_radius); it gets a smaller one from now on", zap.Float64("radius", lower))
		}
	}
	return a, err
}

// send sends a trace_route request for the points in use. largest is its largest search radius, in metres.
func (m *Matcher) send(ctx context.Context, q *matchRequest, used []int, opts remote.SearchOptions, limit float64) (
	a *remote.Matchings, largest float64, err error) {
	body, largest := q.body(m.costing(q.Profile), used, opts, limit)
	err = m.Send(ctx, &remote.Request{Path: "/trace_route", Body: body}, func(status int, body []byte) (err error) {
		a, err = parse(status, body, q.Request, used)
		return err
	})
	return a, largest, err
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	matcher valhalla <upstreams...> {
//	    costing       <name>
//	    ways          on|off
//	    timeout       <duration>
//	    max_response  <size>
//	    max_in_flight <number>
//	    max_calls     <number>
//	    <options of reverse_proxy>
//	}
//
// Example:
//
//	maps_match {
//	    matcher valhalla http://valhalla-1:8002 http://valhalla-2:8002 {
//	        costing         auto
//	        lb_retries      2
//	        fail_duration   10s
//	        health_uri      /status
//	        health_interval 5s
//	    }
//	}
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return m.UnmarshalBlock(d, "matcher",
		options.Option{Name: "costing", Args: "<name>", Read: options.Text(&m.Costing)},
		options.Option{Name: "ways", Args: "on|off", Read: options.OnOff(&m.Ways)},
	)
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Matcher)(nil)
	_ caddyfile.Unmarshaler = (*Matcher)(nil)
	_ matching.Matcher      = (*Matcher)(nil)
)
