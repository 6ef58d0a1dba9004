package access

import (
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterDirective("maps_auth", parseAuth)
	// Before rewrites, which could drop the parameter, and before handlers that need to know the account.
	httpcaddyfile.RegisterDirectiveOrder("maps_auth", httpcaddyfile.Before, "method")
}

func parseAuth(h httpcaddyfile.Helper) (routes []httpcaddyfile.ConfigValue, err error) {
	var matcher caddy.ModuleMap
	h.Next() // the directive's name
	// Caddy takes a first argument * for a matcher. As the only one, it is the scope.
	if args := h.RemainingArgs(); !slices.Equal(args, []string{account.EveryScope}) {
		h.Reset()
		h.Next()
		if matcher, err = h.ExtractMatcherSet(); err != nil {
			return nil, err
		}
	}
	h.Reset()
	a := new(Auth)
	if err := a.unmarshal(h.Dispenser, app.ScopeNamesOf(h)); err != nil {
		return nil, err
	}
	return h.NewRoute(matcher, a), nil
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_auth [<matcher>] <SCOPE>...|* {
//	    api_key_query <name>...
//	    error_style   platform|routing
//	    forward_token
//	    cors          <origin>...
//	    units         <placeholder>
//	    limit         <events> <window> [<name>]
//	}
//
// It runs before `method`, `rewrite` and `uri`, which could drop the query parameter. `*` accepts a token with any
// scope: as the only argument it is no matcher. Example:
//
//	handle /api/v1/route {
//	    maps_auth DIRECTION {
//	        api_key_query apiKey
//	        error_style   routing
//	        cors          https://app.example.com
//	    }
//	    reverse_proxy 127.0.0.1:5000 {
//	        header_up X-Maps-Account {http.auth.user.id}
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
	return a.unmarshal(d, nil)
}

func (a *Auth) unmarshal(d *caddyfile.Dispenser, known []string) error {
	d.Next() // the directive's name
	a.Scopes = d.RemainingArgs()
	return options.Block(d, "maps_auth", func() error { return a.parse(known) },
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
