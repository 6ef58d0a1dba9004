package redact

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/logging"
	"github.com/dustin/go-humanize"
)

// UnmarshalCaddyfile reads the filter:
//
//	<field> maps_redact [<parameter>...] {
//	    max_length <size>
//	}
//
// The field `uri` is that of the lines that Caddy writes of rewrites at DEBUG. Example:
//
//	log {
//	    format filter {
//	        request      maps_redact apiKey
//	        resp_headers maps_redact apiKey
//	        uri          maps_redact apiKey
//	    }
//	}
func (f *Filter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the filter's name
	f.Parameters = d.RemainingArgs()
	for d.NextBlock(0) {
		switch option := d.Val(); option {
		case "max_length":
			var text string
			if !d.AllArgs(&text) {
				return d.ArgErr()
			}
			size, err := humanize.ParseBytes(text)
			if err != nil {
				return d.Errf("max_length: %v", err)
			}
			f.MaxLength = int(min(size, maxMaxLength+1))
			if err := f.Validate(); err != nil {
				return d.Err(err.Error())
			}
		default:
			return d.Errf("unknown option of maps_redact: %s", option)
		}
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner      = (*Filter)(nil)
	_ caddy.Validator        = (*Filter)(nil)
	_ caddyfile.Unmarshaler  = (*Filter)(nil)
	_ logging.LogFieldFilter = (*Filter)(nil)
)
