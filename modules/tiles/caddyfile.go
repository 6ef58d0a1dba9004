package tiles

import (
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_tiles", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_tiles", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler := new(Handler)
	return handler, handler.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	maps_tiles [<matcher>] <region...> {
//	    prefix   <path>
//	    max_zoom <zoom>
//	    cache    <size>
//	}
//
// Example:
//
//	handle /tiles/* {
//	    maps_auth TILE {
//	        api_key_query apiKey
//	    }
//	    maps_tiles delaware andorra {
//	        max_zoom 15
//	        cache    256MiB
//	    }
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if h.Regions = d.RemainingArgs(); len(h.Regions) == 0 {
		return d.Err("maps_tiles needs the name of at least one region")
	}
	for d.NextBlock(0) {
		switch option := d.Val(); option {
		case "prefix":
			if err := mapsapp.Prefix(d, &h.Prefix); err != nil {
				return err
			}
		case "max_zoom":
			var text string
			if !d.AllArgs(&text) {
				return d.ArgErr()
			}
			zoom, err := strconv.ParseUint(text, 10, 8)
			if err != nil || zoom > maxMaxZoom {
				return d.Errf("max_zoom: %s is not a whole number from 0 to %d", text, maxMaxZoom)
			}
			h.MaxZoom = new(uint8(zoom))
		case "cache":
			if err := mapsapp.Size(d, &h.Cache); err != nil {
				return err
			}
		default:
			return d.Errf("unknown option of maps_tiles: %s", option)
		}
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
