package upstream

import (
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"github.com/dustin/go-humanize"
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
// own reads an option of the module itself, and says whether it is one.
func (s *Service) UnmarshalBlock(d *caddyfile.Dispenser, own func(option string) (known bool, err error)) error {
	d.Next() // the module's name
	name := d.Val()
	tokens := append([]caddyfile.Token{d.Token()}, d.RemainingArgsAsTokens()...)
	open := tokens[len(tokens)-1]
	open.Text = "{"
	tokens = append(tokens, open)
	for d.NextBlock(0) {
		option := d.Val()
		known, err := s.unmarshalOption(d, option)
		if !known && err == nil {
			known, err = own(option)
		}
		if err != nil {
			return err
		}
		if known {
			continue
		}
		if strings.HasPrefix(option, "@") || option == "handle_response" || option == "replace_status" {
			return d.Errf("%s cannot be used with %s: its responses are read here", option, name)
		}
		tokens = append(tokens, d.NextSegment()...)
	}
	end := tokens[len(tokens)-1]
	end.Text = "}"
	end.Line++
	tokens = append(tokens, end)

	h := new(reverseproxy.Handler)
	if err := h.UnmarshalCaddyfile(caddyfile.NewDispenser(tokens)); err != nil {
		return err
	}
	if err := check(h); err != nil {
		return d.Errf("%s: %v", name, err)
	}
	s.ProxyRaw = caddyconfig.JSON(h, nil)
	return nil
}

// unmarshalOption reads an option that every service has.
func (s *Service) unmarshalOption(d *caddyfile.Dispenser, option string) (known bool, err error) {
	switch option {
	case "timeout", "max_response", "max_in_flight", "max_calls":
	default:
		return false, nil
	}
	var text string
	if !d.AllArgs(&text) {
		return true, d.ArgErr()
	}
	positive := false
	switch option {
	case "timeout":
		duration, parseErr := caddy.ParseDuration(text)
		s.Timeout, err, positive = caddy.Duration(duration), parseErr, duration > 0
	case "max_response":
		size, parseErr := humanize.ParseBytes(text)
		s.MaxResponse, err = int64(size), parseErr
		positive = s.MaxResponse > 0
	case "max_in_flight":
		s.MaxInFlight, err = strconv.Atoi(text)
		positive = s.MaxInFlight > 0
	case "max_calls":
		s.MaxCalls, err = strconv.Atoi(text)
		positive = s.MaxCalls > 0
	}
	if err != nil {
		return true, d.Errf("%s: %v", option, err)
	}
	if !positive {
		return true, d.Errf("%s: %s is not positive", option, text)
	}
	return true, nil
}
