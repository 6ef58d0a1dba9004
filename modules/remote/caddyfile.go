package remote

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// UnmarshalBlock reads a module's name, its upstreams and its block:
//
//	<name> <upstreams...> {
//	    timeout       <duration>
//	    max_response  <size>
//	    max_in_flight <number>
//	    max_calls     <number>
//	    <options of reverse_proxy>
//	}
//
// own is the module's own options.
func (s *Service) UnmarshalBlock(d *caddyfile.Dispenser, kind string, own ...options.Option) error {
	d.Next() // the module's name
	name := kind + " " + d.Val()
	head := *d
	known := append(own,
		options.Option{Name: "timeout", Args: "<duration>", Read: options.Duration(&s.Timeout)},
		options.Option{Name: "max_response", Args: "<size>", Read: options.Size(&s.MaxResponse)},
		options.Option{Name: "max_in_flight", Args: "<number>", Read: options.Number(&s.MaxInFlight)},
		options.Option{Name: "max_calls", Args: "<number>", Read: options.Number(&s.MaxCalls)},
	)
	start := d.Token()
	// All other options are those of reverse_proxy, and become a block of their own.
	ours := []caddyfile.Token{start, brace(start, "{", start.Line)}
	proxys := append([]caddyfile.Token{start}, d.RemainingArgsAsTokens()...)
	proxys = append(proxys, brace(start, "{", start.Line))
	end := start.Line + 1
	var names []string
	for _, o := range known {
		names = append(names, o.Name)
	}
	var mistyped error // used if reverse_proxy has no such option either
	for d.NextBlock(0) {
		option := d.Val()
		at := *d
		segment := d.NextSegment()
		last := segment[len(segment)-1]
		end = last.Line + 1 + strings.Count(last.Text, "\n")
		switch {
		case slices.ContainsFunc(known, func(o options.Option) bool { return o.Name == option }):
			ours = append(ours, segment...)
		case strings.HasPrefix(option, "@") || option == "handle_response" || option == "replace_status":
			return options.WithLine(&at, fmt.Errorf("%s cannot be used with %s: its responses are read here", option, name))
		default:
			if meant, found := text.Closest(option, names); found && mistyped == nil {
				mistyped = options.WithLine(&at, fmt.Errorf("unknown option of %s: %s; did you mean %s?", name, option, meant))
			}
			proxys = append(proxys, segment...)
		}
	}
	ours, proxys = append(ours, brace(start, "}", end)), append(proxys, brace(start, "}", end))

	block := caddyfile.NewDispenser(ours)
	block.Next()
	if err := options.Block(block, name, nil, known...); err != nil {
		return err
	}
	h := new(reverseproxy.Handler)
	if err := h.UnmarshalCaddyfile(caddyfile.NewDispenser(proxys)); err != nil {
		if mistyped != nil && strings.Contains(err.Error(), "unrecognized subdirective") {
			return mistyped
		}
		return err
	}
	if err := check(h); err != nil {
		return options.WithLine(&head, fmt.Errorf("%s: %w", name, err))
	}
	s.ProxyRaw = caddyconfig.JSON(h, nil)
	return nil
}

// brace is a token in the same file as another.
func brace(like caddyfile.Token, text string, line int) caddyfile.Token {
	like.Text, like.Line = text, line
	return like
}
