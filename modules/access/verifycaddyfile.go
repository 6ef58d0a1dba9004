package access

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_verify", parseVerify)
	httpcaddyfile.RegisterDirectiveOrder("maps_verify", httpcaddyfile.Before, "respond")
}

func parseVerify(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	v := new(Verify)
	return v, v.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_verify [<matcher>] {
//	    api_key_query <name>...
//	    error_style   platform|routing
//	    limit         <events> <window> [<name>]
//	}
//
// Scopes come from the query of the request, such as `/verify?scope=TILE`. Example:
//
//	{
//	    servers {
//	        trusted_proxies static 10.0.0.0/8
//	        trusted_proxies_strict
//	    }
//	}
//	:8080 {
//	    handle /verify {
//	        maps_verify {
//	            api_key_query apiKey
//	        }
//	    }
//	}
func (v *Verify) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	check := func() error {
		auth := v.newAuth([]string{account.EveryScope})
		return auth.parse(nil)
	}
	return options.Block(d, "maps_verify", check,
		options.Option{Name: "api_key_query", Args: "<name>...", Read: options.Words(&v.APIKeyQuery),
			Repeats: true},
		options.Option{Name: "error_style", Args: "platform|routing", Read: options.Text(&v.ErrorStyle)},
		limitOption(&v.Limit),
	)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Verify)(nil)
