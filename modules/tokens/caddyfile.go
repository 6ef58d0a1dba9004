package tokens

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_tokens", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_tokens", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	t := new(Tokens)
	return t, t.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_tokens [<matcher>] {
//	    prefix <path>
//	    refresh_requires_server_token
//	    refresh_rotation
//	}
//
// Example:
//
//	handle /api/v1/external/* {
//	    maps_tokens {
//	        refresh_rotation
//	    }
//	}
func (t *Tokens) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		switch option := d.Val(); option {
		case "prefix":
			if err := mapsapp.Prefix(d, &t.Prefix); err != nil {
				return err
			}
		case "refresh_requires_server_token":
			t.RefreshRequiresServerToken = true
		case "refresh_rotation":
			t.RefreshRotation = true
		default:
			return d.Errf("unknown option of maps_tokens: %s", option)
		}
		if d.NextArg() {
			return d.ArgErr()
		}
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Tokens)(nil)
