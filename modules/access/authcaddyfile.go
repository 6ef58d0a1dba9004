package access

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_auth", parseAuth)
	// Before rewrites, which could drop the parameter, and before handlers that need to know the account.
	httpcaddyfile.RegisterDirectiveOrder("maps_auth", httpcaddyfile.Before, "method")
}

func parseAuth(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	a := new(Auth)
	return a, a.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_auth [<matcher>] <SCOPE> [<SCOPE>...] {
//	    api_key_query <name>...
//	    error_style   platform|routing
//	    forward_token
//	    cors          <origin>...
//	    units         <placeholder>
//	    limit         <events> <window> [<name>]
//	}
//
// It runs before `method`, `rewrite` and `uri`, which could drop the query parameter. Example:
//
//	handle /api/v1/route {
//	    maps_auth DIRECTION {
//	        api_key_query apiKey
//	        error_style   routing
//	        cors          https://app.example.com
//	    }
//	    reverse_proxy 127.0.0.1:5000 {
//	        header_up X-Account {http.auth.user.id}
//	    }
//	}
//
// A request counts 1 unit, in map matching its points. `units` names another number:
//
//	handle /api/v1/matrix {
//	    maps_auth MATRIX {
//	        units {http.response.header.X-Matrix-Elements}
//	    }
//	    reverse_proxy 127.0.0.1:5000
//	}
func (a *Auth) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	a.Scopes = d.RemainingArgs()
	return options.Block(d, "maps_auth", a.parse,
		options.Option{Name: "api_key_query", Args: "<name>...", Read: options.Words(&a.APIKeyQuery),
			Repeats: true},
		options.Option{Name: "error_style", Args: "platform|routing", Read: options.Text(&a.ErrorStyle)},
		options.Option{Name: "forward_token", Args: "[on|off]", Read: a.unmarshalForwardToken},
		options.Option{Name: "cors", Args: "<origin>...", Read: options.Words(&a.CORS), Repeats: true},
		options.Option{Name: "units", Args: "<placeholder>", Read: options.Text(&a.Units)},
		limitOption(&a.Limit),
	)
}

func limitOption(limit **app.RateLimit) options.Option {
	return options.Option{Name: "limit", Args: "<events> <window> [<name>]", Read: func(d *caddyfile.Dispenser) error {
		*limit = &app.RateLimit{Name: "account"}
		return (*limit).Unmarshal(d)
	}}
}

func (a *Auth) unmarshalForwardToken(d *caddyfile.Dispenser) error {
	on := new(true)
	if d.CountRemainingArgs() > 0 {
		if err := options.OnOff(&on)(d); err != nil {
			return err
		}
	}
	a.ForwardToken = *on
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Auth)(nil)
