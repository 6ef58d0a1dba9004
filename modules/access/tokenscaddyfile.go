package access

import (
	"cmp"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_tokens", parseTokens)
	httpcaddyfile.RegisterDirectiveOrder("maps_tokens", httpcaddyfile.Before, "respond")
}

func parseTokens(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	t := new(Tokens)
	if err := t.UnmarshalCaddyfile(h.Dispenser); err != nil {
		return nil, err
	}
	return t, app.Serves(h, cmp.Or(t.Prefix, defaultTokensPrefix))
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_tokens [<matcher>] {
//	    prefix <path>
//	    refresh_requires_server_token
//	    refresh_rotation
//	    cors <origin>...
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
	check := func() error {
		_, err := request.NewCORS(t.CORS)
		return options.Wrap("cors", err)
	}
	return options.Block(d, "maps_tokens", check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&t.Prefix)},
		options.Option{Name: "refresh_requires_server_token", Read: options.Flag(&t.RefreshRequiresServerToken)},
		options.Option{Name: "refresh_rotation", Read: options.Flag(&t.RefreshRotation)},
		options.Option{Name: "cors", Args: "<origin>...", Read: options.Words(&t.CORS), Repeats: true},
	)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Tokens)(nil)
