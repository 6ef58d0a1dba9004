package matching

import (
	"cmp"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_match", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_match", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler := new(Handler)
	if err := handler.unmarshal(h.Dispenser, app.RegionNamesOf(h)); err != nil {
		return nil, err
	}
	return handler, app.Serves(h, cmp.Or(handler.Prefix, defaultPrefix))
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_match [<matcher>] {
//	    prefix     <path>
//	    matcher    <module> [<arguments...>]
//	    max_points <number>
//	    max_radius <metres>
//	    max_body   <size>
//	    profile    car|bicycle|foot...
//	    public
//	}
//
// `matcher` may be repeated. The first profile is for requests that name none. Long GET paths need `servers {
// max_header_size 512KiB }`; Caddy's default is 16 KiB. Example:
//
//	@matching path /api/route/matching /api/route/matching/
//	handle @matching {
//	    maps_auth DIRECTION {
//	        api_key_query apiKey
//	        error_style   routing
//	    }
//	    maps_match {
//	        matcher    local delaware
//	        matcher    osrm http://osrm-1:5000
//	        max_points 5000
//	        profile    car bicycle foot
//	    }
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return h.unmarshal(d, nil)
}

func (h *Handler) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	var matchers []matching.Matcher
	check := func() error {
		if len(h.MatchersRaw) == 0 {
			return errNoMatcher
		}
		offered, err := newOffer(h.Profile)
		if err != nil {
			return err
		}
		if err := offered.assign(matchers); err != nil {
			return err
		}
		limits := Handler{MaxPoints: h.MaxPoints, MaxRadius: h.MaxRadius, MaxBody: h.MaxBody}
		limits.setDefaults()
		return limits.validateLimits()
	}
	return options.Block(d, "maps_match", check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&h.Prefix)},
		options.Option{Name: "matcher", Args: "<module> [<arguments...>]", Repeats: true,
			Read: func(d *caddyfile.Dispenser) error {
				module, raw, err := options.Module(d, "maps.matchers", "source")
				if err != nil {
					return err
				}
				h.MatchersRaw = append(h.MatchersRaw, raw)
				if matcher, ok := module.(matching.Matcher); ok {
					matchers = append(matchers, matcher)
				}
				return known.CheckModule(module)
			}},
		options.Option{Name: "max_points", Args: "<number>", Read: options.Number(&h.MaxPoints)},
		options.Option{Name: "max_radius", Args: "<metres>", Read: options.Metres(&h.MaxRadius)},
		options.Option{Name: "max_body", Args: "<size>", Read: options.Size(&h.MaxBody)},
		options.Option{Name: "profile", Args: "car|bicycle|foot...", Repeats: true,
			Read: options.Words((*[]string)(&h.Profile))},
		options.Option{Name: "public", Read: options.Flag(&h.Public)},
	)
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
