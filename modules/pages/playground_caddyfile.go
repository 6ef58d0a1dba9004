package pages

import (
	"cmp"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_playground", parsePlayground)
	httpcaddyfile.RegisterDirectiveOrder("maps_playground", httpcaddyfile.Before, "respond")
}

func parsePlayground(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	p := new(Playground)
	if err := p.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
		return nil, err
	}
	return p, app.Serves(h, cmp.Or(p.Prefix, defaultPlaygroundPrefix))
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_playground [<matcher>] <region> {
//	    guest     <account id>
//	    public
//	    prefix    <path>
//	    tiles     <path>
//	    matching  <path>
//	    geocoding <path>
//	    search    <path>|off
//	    routing   <path>|off
//	    profile   car|bicycle|foot...
//	}
//
// Example:
//
//	handle /playground/* {
//	    maps_playground delaware {
//	        guest   sa_01yPJmVVXZMTq8bL3KdWx5
//	        profile car bicycle foot
//	    }
//	}
func (p *Playground) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return p.unmarshal(d, nil)
}

func (p *Playground) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	if d.NextArg() {
		p.Region = d.Val()
	}
	check := func() error {
		if p.Region == "" {
			return errNoRegion
		}
		if err := p.Validate(); err != nil {
			return err
		}
		return known.Check(p.Region)
	}
	return options.Block(d, "maps_playground", check,
		options.Option{Name: "guest", Args: "<account id>", Read: func(d *caddyfile.Dispenser) error {
			if !d.AllArgs(&p.Guest) { // may be empty, from an environment variable, for no account
				return options.ErrCount
			}
			return nil
		}},
		options.Option{Name: "public", Read: options.Flag(&p.Public)},
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&p.Prefix)},
		options.Option{Name: "tiles", Args: "<path>", Read: options.Path(&p.Tiles)},
		options.Option{Name: "matching", Args: "<path>", Read: options.Path(&p.Matching)},
		options.Option{Name: "geocoding", Args: "<path>", Read: options.Path(&p.Geocoding)},
		options.Option{Name: "search", Args: "<path>|off", Read: options.Text(&p.Search)},
		options.Option{Name: "routing", Args: "<path>|off", Read: options.Text(&p.Routing)},
		options.Option{Name: "profile", Args: "car|bicycle|foot...", Read: options.Words(&p.Profile), Repeats: true},
	)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Playground)(nil)
