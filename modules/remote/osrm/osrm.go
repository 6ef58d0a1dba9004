// Package osrm is the Caddy module `maps.matchers.osrm`: map matching by OSRM servers. It writes
// the requests of OSRM and reads its responses. Package remote sends them.
//
// Start with Matcher.Match, then request.go.
package osrm

import (
	"context"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/options"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

func init() { caddy.RegisterModule(new(Matcher)) }

// Matcher asks OSRM's `match` service (`match/v1`). It covers every place, so put it after local matchers.
//
// An OSRM server has one profile, so several need a matcher each. It takes 100 points unless started with
// `--max-matching-size`; more are InvalidInput.
//
// Each request has its own connection: on kept-alive ones, OSRM waits 40 ms for a delayed acknowledgement. `transport
// http { keepalive 2m }` keeps connections, for a proxy in front of OSRM.
type Matcher struct {
	remote.Service

	// The profile in OSRM's path. `driving` and `car` answer for cars, `cycling`, `bicycle` and `bike` for bicycles,
	// `walking` and `foot` for people on foot. Default: `driving`.
	Profile string `json:"profile,omitempty"`

	// The requests' profile that it answers: `car`, `bicycle` or `foot`. Default: what `profile` says.
	AnswersFor string `json:"answers_for,omitempty"`

	// What OSRM does at a pause in a trace with times, ten times the usual interval: `ignore` finds a route across,
	// `split` makes two parts and leaves out the shorter. Default: `ignore`.
	Gaps string `json:"gaps,omitempty"`

	answersFor matching.Profile
	limit      limit
}

const (
	gapsIgnore = "ignore"
	gapsSplit  = "split"
)

// CaddyModule returns the Caddy module information.
func (*Matcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.matchers.osrm", New: func() caddy.Module { return new(Matcher) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (m *Matcher) UnmarshalJSON(data []byte) error { return options.Decode(data, m) }

// Provision opens the proxy to the servers.
func (m *Matcher) Provision(ctx caddy.Context) error {
	if m.Gaps == "" {
		m.Gaps = gapsIgnore
	}
	if err := m.setProfile(); err != nil {
		return fmt.Errorf("matcher osrm: %w", err)
	}
	if err := m.Open(ctx, remote.Protocol{FreshConnections: true}); err != nil {
		return fmt.Errorf("matcher osrm: %w", err)
	}
	return nil
}

// Validate checks the configuration.
func (m *Matcher) Validate() error {
	return options.Wrap("gaps", options.OneOf(m.Gaps, gapsIgnore, gapsSplit))
}

// Match implements matching.Matcher. If there is no road near the points, it searches again as far as the request
// allows. If the drive has a gap, it tries without the points around it.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	ctx = m.WithCalls(ctx)
	sigma, _ := remote.Sigma(req, leastSigma, leastSigma)
	near := min(sigma, farthest(req))
	i := exchange{Matcher: m, req: req, first: remote.SearchOptions{Sigma: near}}
	search := remote.Search{
		Request: req, Sigma: near, CanWiden: true,
		Pause: m.pause(req), MaySend: func() bool { return m.MaySend(ctx) },
		Send: func(used []int, opts remote.SearchOptions) (*remote.Matchings, error) {
			return i.matchPoints(ctx, used, opts)
		},
	}
	a, err := search.Run(ctx)
	if err != nil {
		return nil, err
	}
	result, err := a.Result(req)
	if err == nil && req.Details {
		result.PlacePoints()
	}
	return result, err
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
// Example:
//
//	maps_match {
//	    matcher local delaware
//	    matcher osrm http://osrm-1:5000 http://osrm-2:5000 {
//	        timeout         5s
//	        lb_retries      2
//	        fail_duration   10s
//	        health_uri      /nearest/v1/driving/-75.52,39.16
//	        health_interval 5s
//	    }
//	}
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	err := m.UnmarshalBlock(d, "matcher",
		options.Option{Name: "profile", Args: "<name> [car|bicycle|foot]", Read: m.unmarshalProfile},
		options.Option{Name: "gaps", Args: "ignore|split", Read: options.Word(&m.Gaps, gapsIgnore, gapsSplit)},
	)
	if err != nil {
		return err
	}
	// maps_match calls Answers while it reads the Caddyfile, to report a profile without a matcher with its line. The
	// fields stay as they were written.
	known := Matcher{Profile: m.Profile, AnswersFor: m.AnswersFor}
	err = known.setProfile()
	m.answersFor = known.answersFor
	return err
}

// Interface guards
var (
	_ caddy.Provisioner     = (*Matcher)(nil)
	_ caddy.Validator       = (*Matcher)(nil)
	_ caddyfile.Unmarshaler = (*Matcher)(nil)
	_ matching.Matcher      = (*Matcher)(nil)
	_ matching.Answering    = (*Matcher)(nil)
)
