package accounts

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_accounts", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_accounts", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	a := new(Accounts)
	return a, a.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_accounts [<matcher>] {
//	    prefix              <path>
//	    admin_access_tokens on|off
//	}
//
// The matcher has to name the collection with and without what follows it. Example:
//
//	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
//	handle @accounts {
//	    maps_accounts
//	}
func (a *Accounts) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		switch option := d.Val(); option {
		case "prefix":
			if err := mapsapp.Prefix(d, &a.Prefix); err != nil {
				return err
			}
		case "admin_access_tokens":
			var on bool
			if err := mapsapp.OnOff(d, &on); err != nil {
				return err
			}
			a.AdminAccessTokens = &on
		default:
			return d.Errf("unknown option of maps_accounts: %s", option)
		}
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Accounts)(nil)
