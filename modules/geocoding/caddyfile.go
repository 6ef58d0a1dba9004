package geocoding

import (
	"cmp"
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_reverse_geocode", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_reverse_geocode", httpcaddyfile.Before, "respond")
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
//	maps_reverse_geocode [<matcher>] {
//	    prefix       <path>
//	    coverage     <path>
//	    simple       <path>
//	    geocoder     <module> [<arguments...>]
//	    max_distance <metres>
//	    public
//	}
//
// `geocoder` may be repeated. Example:
//
//	@reverse path /v2/search/reverse-geocoding /v2/search/coverage /api/v1/route/revgeocoding
//	handle @reverse {
//	    maps_auth REVERSEGEOCODING {
//	        api_key_query apiKey
//	    }
//	    maps_reverse_geocode {
//	        geocoder     local delaware
//	        max_distance 500
//	    }
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	return h.unmarshal(d, nil)
}

func (h *Handler) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	check := func() error {
		if len(h.GeocodersRaw) == 0 {
			return errNoGeocoder
		}
		written := Handler{Prefix: h.Prefix, Coverage: h.Coverage, Simple: h.Simple, MaxDistance: h.MaxDistance}
		return written.check()
	}
	return options.Block(d, "maps_reverse_geocode", check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&h.Prefix)},
		options.Option{Name: "coverage", Args: "<path>", Read: options.Path(&h.Coverage)},
		options.Option{Name: "simple", Args: "<path>", Read: options.Path(&h.Simple)},
		geocoderOption(&h.GeocodersRaw, known),
		options.Option{Name: "max_distance", Args: "<metres>", Read: options.Metres(&h.MaxDistance)},
		options.Option{Name: "public", Read: options.Flag(&h.Public)},
	)
}

func geocoderOption(list *[]json.RawMessage, known app.RegionNames) options.Option {
	return options.Option{Name: "geocoder", Args: "<module> [<arguments...>]", Repeats: true,
		Read: func(d *caddyfile.Dispenser) error {
			module, raw, err := options.Module(d, "maps.geocoders", "source")
			if err != nil {
				return err
			}
			*list = append(*list, raw)
			return known.CheckModule(module)
		}}
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
