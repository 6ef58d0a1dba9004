package routing

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_route", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_route", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler := new(Handler)
	if err := handler.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
		return nil, err
	}
	return handler, nil
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_route [<region...>] {
//	    prefix          <path>
//	    router          <module> [<arguments...>]
//	    max_elements    <number>
//	    max_coordinates <number>
//	    profile         car|bicycle|foot...
//	    speeds          <file>
//	    public
//	}
//
// `maps_route delaware` is short for `router local delaware`. `router` may be repeated. The first profile is for
// requests that name none. Each path needs the scope of its own. Example:
//
//	@routes path /api/v1/route /api/v1/isochrone
//	handle @routes {
//	    maps_auth DIRECTION
//	    maps_route delaware
//	}
//	handle /table/v1/* {
//	    maps_auth MATRIX
//	    maps_route delaware {
//	        max_elements 1000000
//	    }
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return h.unmarshal(d, nil) }

func (h *Handler) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	if regions := d.RemainingArgs(); len(regions) > 0 {
		h.RoutersRaw = append(h.RoutersRaw, local(regions))
		if err := known.CheckModule(&Local{Regions: regions}); err != nil {
			return options.WithLine(d, err)
		}
	}
	check := func() error {
		if len(h.RoutersRaw) == 0 {
			return errNoRouter
		}
		if _, err := profiles(h.Profile); err != nil {
			return err
		}
		limits := Handler{MaxElements: h.MaxElements, MaxCoordinates: h.MaxCoordinates}
		limits.setDefaults()
		return limits.validateLimits()
	}
	return options.Block(d, "maps_route", check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&h.Prefix)},
		options.Option{Name: "router", Args: "<module> [<arguments...>]", Repeats: true,
			Read: func(d *caddyfile.Dispenser) error {
				module, raw, err := options.Module(d, "maps.routers", "source")
				if err != nil {
					return err
				}
				h.RoutersRaw = append(h.RoutersRaw, raw)
				return known.CheckModule(module)
			}},
		options.Option{Name: "max_elements", Args: "<number>", Read: options.Number(&h.MaxElements)},
		options.Option{Name: "max_coordinates", Args: "<number>", Read: options.Number(&h.MaxCoordinates)},
		options.Option{Name: "profile", Args: "car|bicycle|foot...", Repeats: true,
			Read: options.Words((*[]string)(&h.Profile))},
		options.Option{Name: "speeds", Args: "<file>", Read: options.Text(&h.Speeds)},
		options.Option{Name: "public", Read: options.Flag(&h.Public)},
	)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
