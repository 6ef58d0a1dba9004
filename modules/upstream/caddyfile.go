package upstream

import (
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
//	    timeout      <duration>
//	    max_response <size>
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
			return d.Errf("%s cannot be used with %s: its answers are read here", option, name)
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
	if option != "timeout" && option != "max_response" {
		return false, nil
	}
	var text string
	if !d.AllArgs(&text) {
		return true, d.ArgErr()
	}
	positive := false
	if option == "timeout" {
		duration, parseErr := caddy.ParseDuration(text)
		s.Timeout, err, positive = caddy.Duration(duration), parseErr, duration > 0
	} else {
		size, parseErr := humanize.ParseBytes(text)
		s.MaxResponse, err = int64(size), parseErr
		positive = s.MaxResponse > 0
	}
	if err != nil {
		return true, d.Errf("%s: %v", option, err)
	}
	if !positive {
		return true, d.Errf("%s: %s is not positive", option, text)
	}
	return true, nil
}
