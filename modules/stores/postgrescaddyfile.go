package stores

import (
	"errors"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// UnmarshalCaddyfile reads the store from a Caddyfile:
//
//	store postgres <dsn> {
//	    password <placeholder>
//	}
//
// Quote a connection string of keywords: `"host=db.example.com user=maps dbname=maps"`. Example:
//
//	{
//	    maps {
//	        store postgres postgres://maps@db.example.com/maps?sslmode=verify-full {
//	            password {file./run/secrets/db}
//	        }
//	    }
//	}
func (m *Postgres) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the module's name
	if d.NextArg() {
		m.DSN = d.Val()
	}
	if d.CountRemainingArgs() > 0 {
		return options.WithLine(d, errors.New("store postgres takes one connection string; put one with spaces in quotes"))
	}
	return options.Block(d, "store postgres", m.checkWritten,
		options.Option{Name: "password", Args: "<placeholder>", Read: options.Text(&m.Password)},
	)
}

var _ caddyfile.Unmarshaler = (*Postgres)(nil)
