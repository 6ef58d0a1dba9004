// Package osrm is the Caddy module `maps.matchers.osrm`: map matching by OSRM servers. It writes OSRM's requests and reads its
// responses; package remote sends them. Start with Matcher.Match, then request.go.
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

// Matcher matches traces by the `match` service of OSRM servers (`match/v1`). It covers every place, so in a chain it
// belongs behind local matchers.
//
// An OSRM server answers for the one profile that its data was prepared for, so a chain that offers several has a
// matcher for each. It takes traces of 100 points unless it is started with `--max-matching-size`; longer ones are
// InvalidInput.
//
// Each request to OSRM has a connection of its own: on one that is kept alive, OSRM's sockets wait 40 ms for the
// acknowledgement that Linux delays. `transport http { keepalive 2m }` keeps connections all the same, for a proxy in
// front of OSRM whose sockets do not wait.
type Matcher struct {
	remote.Service

	// The profile that OSRM was prepared for, as it stands in the path of its service. The usual names tell which
	// requests it answers: `driving` and `car` those of cars, `cycling`, `bicycle` and `bike` those of bicycles, `walking`
	// and `foot` those of people on foot. Default: `driving`.
	Profile string `json:"profile,omitempty"`

	// The profile of the requests that it answers, `car`, `bicycle` or `foot`, where `profile` is another name.
	// Default: what `profile` says.
	AnswersFor string `json:"answers_for,omitempty"`

	// What OSRM does at a pause in a trace with times, which is ten times as long as the usual time from one point to the
	// next: `ignore` looks for a route across it as anywhere else, `split` makes two parts of it, of which the one with
	// fewer points is left out. Default: `ignore`.
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

// Match implements matching.Matcher. Where no road is found near the points, it looks as far as the request allows, and
// where OSRM finds no route between parts of the trace, they get the chance to be joined without the points between
// them.
func (m *Matcher) Match(ctx context.Context, req *matching.Request) (*matching.Result, error) {
	ctx = m.WithCalls(ctx)
	sigma, _ := remote.Sigma(req, leastSigma, leastSigma)
	near := min(sigma, farthest(req))
	i := inquiry{Matcher: m, req: req, first: remote.Terms{Sigma: near}}
	search := remote.Search{
		Request: req, Sigma: near, CanWiden: true,
		Pause: m.pause(req), MayAsk: func() bool { return m.MayAsk(ctx) },
		Ask: func(used []int, terms remote.Terms) (*remote.Matchings, error) {
			return i.ask(ctx, used, terms)
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
// `handle_response` and `replace_status` are the options of reverse_proxy that cannot be used. Example:
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
	// maps_match asks for whom this matcher answers, to tell the line of a profile that it lacks. What is written into
	// JSON stays as it was written here.
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
