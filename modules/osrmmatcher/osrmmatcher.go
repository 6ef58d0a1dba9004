// Package osrmmatcher is the guest module `maps.matchers.osrm`: map matching by OSRM servers.
package osrmmatcher

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

// Matcher matches traces by the `match` service of OSRM servers (`match/v1`). It covers every place, so in a chain it belongs
// behind local matchers.
//
// An OSRM server answers for the one profile that its data was prepared for, so a chain that offers several has a
// matcher for each. It takes traces of 100 points unless it is started with `--max-matching-size`; longer ones are
// InvalidInput.
type Matcher struct {
	upstream.Service

	// The profile that OSRM was prepared for, as it stands in the address of its service. The usual names tell which
	// requests it answers: `driving` and `car` those of cars, `cycling`, `bicycle` and `bike` those of bicycles, `walking`
	// and `foot` those of people on foot. Default: `driving`.
	Profile string `json:"profile,omitempty"`

	// The profile of the requests that it answers, `car`, `bicycle` or `foot`, where `profile` is another name. Default:
	// what
	// `profile` says.
	AnswersFor string `json:"answers_for,omitempty"`

	// What OSRM does at a pause of more than a minute in a trace with times: `ignore` looks for a route across it as
	// anywhere else, `split` makes two parts of it, of which the one with fewer points is left out. Default: `ignore`.
	Gaps string `json:"gaps,omitempty"`

	answersFor matching.Profile
}

const (
	gapsIgnore = "ignore"
	gapsSplit  = "split"
)

// CaddyModule returns the Caddy module information.
func (*Matcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.matchers.osrm", New: func() caddy.Module { return new(Matcher) }}
}

// Provision opens the proxy to the servers.
func (m *Matcher) Provision(ctx caddy.Context) error {
	if m.Gaps == "" {
		m.Gaps = gapsIgnore
	}
	if err := m.setProfile(); err != nil {
		return fmt.Errorf("matcher osrm: %w", err)
	}
	if err := m.Open(ctx, false); err != nil {
		return fmt.Errorf("matcher osrm: %w", err)
	}
	return nil
}

// Validate checks the configuration.
func (m *Matcher) Validate() error {
	if m.Gaps != gapsIgnore && m.Gaps != gapsSplit {
		return fmt.Errorf("gaps: %q is neither %s nor %s", m.Gaps, gapsIgnore, gapsSplit)
	}
	return nil
}

// Match implements matching.Matcher. Where no road is found near the points, it looks as far as the request allows.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	ctx = m.WithCalls(ctx)
	near, far := spread(req)
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

// drive finds the drive, at a spread of the points in metres. Where OSRM finds no route between parts of the trace, the part
// with the fewest points is left out, and those before and after it get the chance to be joined.
func (m *Matcher) drive(ctx context.Context, req *matching.Request, sigma float64) (*matching.Result, error) {
	used := make([]int, len(req.Points))
	for i := range used {
		used[i] = i
	}
	var last *answer
	for range maxRuns {
		a, err := m.ask(ctx, req, used, sigma)
		if err != nil {
			if last == nil || ctx.Err() != nil {
				return nil, err
			}
			break // what there was before stands
		}
		last = a
		if len(a.parts) <= 2 {
			break
		}
		used = a.without(a.least())
	}
	for len(last.parts) > 1 {
		last.leaveOut(last.least())
	}
	return last.result(req)
}

// ask sends the points in use to OSRM.
func (m *Matcher) ask(ctx context.Context, req *matching.Request, used []int, sigma float64) (*answer, error) {
	path, query := m.address(req, used, sigma)
	var a *answer
	err := m.Ask(ctx, &upstream.Request{Path: path, Query: query}, func(status int, body []byte) (err error) {
		a, err = parse(status, body, used)
		return err
	})
	return a, err
}

// UnmarshalCaddyfile reads the arguments behind the module's name:
//
//	matcher osrm <upstreams...> {
//	    profile       <name> [car|bicycle|foot]
//	    gaps          ignore|split
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
//	    matcher local delaware
//	    matcher osrm http://osrm-1:5000 http://osrm-2:5000 {
//	        timeout       5s
//	        lb_retries    2
//	        fail_duration 10s
//	    }
//	}
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return m.UnmarshalBlock(d, func(option string) (bool, error) {
		switch option {
		case "profile":
			return true, m.unmarshalProfile(d)
		case "gaps":
			if !d.AllArgs(&m.Gaps) {
				return true, d.ArgErr()
			}
			return true, nil
		}
		return false, nil
	})
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Matcher)(nil)
	_ caddy.Validator       = (*Matcher)(nil)
	_ caddyfile.Unmarshaler = (*Matcher)(nil)
	_ matching.Matcher      = (*Matcher)(nil)
	_ matching.Answering    = (*Matcher)(nil)
)
