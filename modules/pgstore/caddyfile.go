package pgstore

import "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

// UnmarshalCaddyfile reads the store from a Caddyfile:
//
//	store postgres <dsn> {
//	    password <placeholder>
//	    listen   on|off
//	}
//
// A connection string of keywords has spaces, and stands in quotes: `"host=db.example.com user=maps dbname=maps"`. Example:
//
//	{
//	    maps {
//	        store postgres postgres://maps@db.example.com/maps?sslmode=verify-full {
//	            password {file./run/secrets/db}
//	        }
//	    }
//	}
func (m *Module) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if !d.Args(&m.DSN) {
		return d.ArgErr()
	}
	if d.NextArg() {
		return d.Err("store postgres takes one connection string; put one with spaces into quotes")
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch option := d.Val(); option {
		case "password":
			if !d.AllArgs(&m.Password) {
				return d.ArgErr()
			}
		case "listen":
			var text string
			if !d.AllArgs(&text) {
				return d.ArgErr()
			}
			if text != "on" && text != "off" {
				return d.Errf("listen is on or off, not %s", text)
			}
			on := text == "on"
			m.Listen = &on
		default:
			return d.Errf("unknown option of store postgres: %s", option)
		}
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Module)(nil)
