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

// Matcher matches traces by the `match` service of OSRM servers (`match/v1`). It covers every place, so put it after
// local matchers.
//
// An OSRM server has data for one profile, so several profiles need a matcher each. It accepts traces of up to 100
// points unless it is started with `--max-matching-size`; longer ones are InvalidInput.
//
// Each request to OSRM uses a new connection: on a connection that is kept alive, OSRM's responses wait 40 ms for a
// delayed acknowledgement of Linux. For a proxy in front of OSRM, `transport http { keepalive 2m }` turns keep-alive
// on.
type Matcher struct {
	remote.Service

	// The profile in the path of OSRM's service. The usual names tell whose requests it answers: `driving` and `car` mean
	// `car`; `cycling`, `bicycle` and `bike` mean `bicycle`; `walking` and `foot` mean `foot`. Default: `driving`.
	Profile string `json:"profile,omitempty"`

	// The profile of the requests that it answers, `car`, `bicycle` or `foot`, if `profile` is another name.
	// Default: by `profile`.
	AnswersFor string `json:"answers_for,omitempty"`

	// What OSRM does at a pause in a trace, which is ten times as long as the median time between points: `ignore` looks
	// for a route across it, `split` splits the drive there, and the part with fewer points is left out. Default:
	// `ignore`.
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
	return options.Of("gaps", options.OneOf(m.Gaps, gapsIgnore, gapsSplit))
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
		Pause: m.pause(req), MayAsk: func() bool { return m.MayAsk(ctx) },
		Ask: func(used []int, opts remote.SearchOptions) (*remote.Matchings, error) {
			return i.ask(ctx, used, opts)
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
// All options of reverse_proxy can be used except `handle_response` and `replace_status`. Example:
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
		options.Option{Name: "profile", Takes: "<name> [car|bicycle|foot]", Read: m.unmarshalProfile},
		options.Option{Name: "gaps", Takes: "ignore|split", Read: options.Word(&m.Gaps, gapsIgnore, gapsSplit)},
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
