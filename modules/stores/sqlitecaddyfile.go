package stores

import (
	"errors"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// UnmarshalCaddyfile reads the store from a Caddyfile:
//
//	store sqlite [<path>]
//
// Example:
//
//	{
//	    maps {
//	        store sqlite ./data/accounts.db
//	    }
//	}
func (m *SQLite) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if d.NextArg() {
		if m.Path = d.Val(); m.Path == "" {
			return options.WithLine(d, errors.New("the path is empty"))
		}
	}
	return options.Block(d, "store sqlite", nil)
}

var _ caddyfile.Unmarshaler = (*SQLite)(nil)
