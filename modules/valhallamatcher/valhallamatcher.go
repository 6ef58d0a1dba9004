// Package valhallamatcher is the guest module `maps.matchers.valhalla`: map matching by Valhalla servers.
package valhallamatcher

import (
	"context"
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

func init() { caddy.RegisterModule(new(Matcher)) }

// Matcher matches traces by the `trace_attributes` action of Valhalla servers. It covers every place, so in a chain it belongs
// behind local matchers.
//
// A Valhalla server limits the points and the length of a trace (`service_limits.trace`); what is beyond is InvalidInput.
type Matcher struct {
	upstream.Service

	// Valhalla's costing model for requests of the profile `car`. For `bicycle` and `foot` it is `bicycle` and
	// `pedestrian`. Default: `auto`.
	Costing string `json:"costing,omitempty"`
}

const defaultCosting = "auto"

// costing is Valhalla's costing model for a profile.
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

// Provision opens the proxy to the servers.
func (m *Matcher) Provision(ctx caddy.Context) error {
	if m.Costing == "" {
		m.Costing = defaultCosting
	}
	if err := m.Open(ctx, true); err != nil {
		return fmt.Errorf("matcher valhalla: %w", err)
	}
	return nil
}

// Match implements matching.Matcher. Where no road is found near the points, it looks as far as the request allows.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	ctx = m.WithCalls(ctx)
	near, far := searchRadius(req)
	result, err := m.drive(ctx, req, near)
	if !errors.Is(err, matching.ErrNoRoute) || near >= far {
		return result, err
	}
	wider, again := m.drive(ctx, req, far)
	if again == nil {
		return wider, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, err
}

// maxRuns is how often one search asks for a trace again, without the parts that do not fit.
const maxRuns = 4

// drive finds the drive. Where Valhalla's has a gap, the part with the most points is asked for alone: if it is too small for
// an answer, so are the others.
func (m *Matcher) drive(ctx context.Context, req *matching.Request, radius float64) (*matching.Result, error) {
	first, last := 0, len(req.Points)
	for range maxRuns {
		var a *answer
		err := m.Ask(ctx, &upstream.Request{Path: "/trace_attributes", Body: m.body(req, first, last, radius)}, func(status int, body []byte) (err error) {
			a, err = parse(status, body, last-first)
			return err
		})
		if err != nil {
			return nil, err
		}
		from, to, whole := a.largest()
		if whole {
			return a.result(req, first)
		}
		if 2*(to-from) < len(req.Points) {
			return nil, matching.ErrNoRoute
		}
		first, last = first+from, first+to
	}
	return nil, matching.ErrNoRoute
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	matcher valhalla <upstreams...> {
//	    costing       <name>
//	    timeout       <duration>
//	    max_response  <size>
//	    max_in_flight <number>
//	    max_calls     <number>
//	    <options of reverse_proxy>
//	}
//
// `handle_response` and `replace_status` are the options of reverse_proxy that cannot be used. Example:
//
//	maps_match {
//	    matcher valhalla https://valhalla.example.com {
//	        costing         auto
//	        health_uri      /status
//	        health_interval 5s
//	    }
//	}
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return m.UnmarshalBlock(d, func(option string) (bool, error) {
		if option != "costing" {
			return false, nil
		}
		if !d.AllArgs(&m.Costing) {
			return true, d.ArgErr()
		}
		return true, nil
	})
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Matcher)(nil)
	_ caddyfile.Unmarshaler = (*Matcher)(nil)
	_ matching.Matcher      = (*Matcher)(nil)
)
