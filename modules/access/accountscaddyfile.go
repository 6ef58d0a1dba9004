package access

import (
	"cmp"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_accounts", parseAccounts)
	httpcaddyfile.RegisterDirectiveOrder("maps_accounts", httpcaddyfile.Before, "respond")
}

func parseAccounts(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	a := new(Accounts)
	if err := a.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return a, app.Serves(h, cmp.Or(a.Prefix, defaultAccountsPrefix))
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_accounts [<matcher>] {
//	    prefix              <path>
//	    admin_access_tokens on|off
//	}
//
// Match the collection with and without what follows it. Example:
//
//	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
//	handle @accounts {
//	    maps_accounts
//	}
func (a *Accounts) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	return options.Block(d, "maps_accounts", nil,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&a.Prefix)},
		options.Option{Name: "admin_access_tokens", Args: "on|off", Read: options.OnOff(&a.AdminAccessTokens)},
	)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Accounts)(nil)
