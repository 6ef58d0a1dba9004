package tiles

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_tiles", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_tiles", httpcaddyfile.Before, "respond")
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
//	maps_tiles [<matcher>] <region...> {
//	    prefix   <path>
//	    max_zoom <zoom>
//	    cache    <size>
//	    public
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
	return h.unmarshal(d, nil)
}

func (h *Handler) unmarshal(d *caddyfile.Dispenser, known app.RegionNames) error {
	d.Next() // the directive's name
	h.Regions = d.RemainingArgs()
	check := func() error {
		written := Handler{Regions: h.Regions, MaxZoom: h.MaxZoom, Cache: h.Cache}
		if err := written.check(); err != nil {
			return err
		}
		return known.Check(h.Regions...)
	}
	return options.Block(d, "maps_tiles", check,
		options.Option{Name: "prefix", Args: "<path>", Read: options.Path(&h.Prefix)},
		options.Option{Name: "max_zoom", Args: "<zoom>", Read: h.unmarshalMaxZoom},
		options.Option{Name: "cache", Args: "<size>", Read: options.Size(&h.Cache)},
		options.Option{Name: "public", Read: options.Flag(&h.Public)},
	)
}

func (h *Handler) unmarshalMaxZoom(d *caddyfile.Dispenser) error {
	var text string
	if !d.AllArgs(&text) {
		return options.ErrCount
	}
	zoom, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return fmt.Errorf("%s is not a whole number from 0 to %d", text, maxMaxZoom)
	}
	h.MaxZoom = new(uint8(zoom))
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
