package boltstore

import "github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

// UnmarshalCaddyfile reads the store from a Caddyfile:
//
//	store bolt [<path>]
//
// Example:
//
//	{
//	    maps {
//	        store bolt ./data/accounts.db
//	    }
//	}
func (m *Module) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if d.NextArg() {
		if m.Path = d.Val(); m.Path == "" {
			return d.Err("the path is empty")
		}
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	if d.NextBlock(d.Nesting()) {
		return d.Errf("store bolt has no options, only a path: %q", d.Val())
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Module)(nil)
