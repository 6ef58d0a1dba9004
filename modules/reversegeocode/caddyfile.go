package reversegeocode

import (
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/endpoint"
	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_reverse_geocode", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_reverse_geocode", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler := new(Handler)
	return handler, handler.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_reverse_geocode [<matcher>] {
//	    prefix       <path>
//	    coverage     <path>
//	    geocoder     <module> [<arguments...>]
//	    max_distance <metres>
//	}
//
// `geocoder` may stand more than once. Example:
//
//	@reverse path /v2/search/reverse-geocoding /v2/search/coverage
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
	d.Next() // the directive's name
	if d.NextArg() {
		return d.ArgErr()
	}
	for d.NextBlock(0) {
		switch option := d.Val(); option {
		case "prefix":
			if err := mapsapp.Prefix(d, &h.Prefix); err != nil {
				return err
			}
		case "coverage":
			if !d.AllArgs(&h.Coverage) {
				return d.ArgErr()
			}
			if _, err := endpoint.ParsePrefix(h.Coverage); err != nil {
				return d.Errf("coverage: %v", err)
			}
		case "geocoder":
			if !d.NextArg() {
				return d.ArgErr()
			}
			name := d.Val()
			module, err := caddyfile.UnmarshalModule(d, "maps.geocoders."+name)
			if err != nil {
				return err
			}
			h.GeocodersRaw = append(h.GeocodersRaw, caddyconfig.JSONModuleObject(module, "source", name, nil))
		case "max_distance":
			var text string
			if !d.AllArgs(&text) {
				return d.ArgErr()
			}
			metres, err := strconv.ParseFloat(text, 64)
			if err != nil || !(metres > 0 && metres <= maxMaxDistance) {
				return d.Errf("max_distance: %s is not a number of metres, more than 0 and at most %d", text, maxMaxDistance)
			}
			h.MaxDistance = metres
		default:
			return d.Errf("unknown option of maps_reverse_geocode: %s", option)
		}
	}
	if len(h.GeocodersRaw) == 0 {
		return d.Err("maps_reverse_geocode needs at least one geocoder")
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
