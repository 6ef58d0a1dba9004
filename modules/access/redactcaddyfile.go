package access

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/logging"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// UnmarshalCaddyfile reads the filter:
//
//	<field> maps_redact [<parameter>...] {
//	    max_length <size>
//	}
//
// Caddy logs rewrites at DEBUG with the field `uri`. Example:
//
//	log {
//	    format filter {
//	        request      maps_redact apiKey
//	        resp_headers maps_redact apiKey
//	        uri          maps_redact apiKey
//	    }
//	}
func (f *RedactFilter) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the filter's name
	f.Parameters = d.RemainingArgs()
	check := func() error {
		written := RedactFilter{MaxLength: f.MaxLength}
		_ = written.Provision(caddy.Context{}) // sets the default
		return written.Validate()
	}
	return options.Block(d, "maps_redact", check,
		options.Option{Name: "max_length", Args: "<size>", Read: func(d *caddyfile.Dispenser) error {
			var size int64
			err := options.Size(&size)(d)
			f.MaxLength = int(min(size, maxMaxLength+1))
			return err
		}},
	)
}

// Interface guards
var (
	_ caddy.Provisioner      = (*RedactFilter)(nil)
	_ caddy.Validator        = (*RedactFilter)(nil)
	_ caddyfile.Unmarshaler  = (*RedactFilter)(nil)
	_ logging.LogFieldFilter = (*RedactFilter)(nil)
)
