package mapmatch

import (
	"strconv"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"

	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_match", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_match", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	handler := new(Handler)
	return handler, handler.UnmarshalCaddyfile(h.Dispenser)
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
//	}
//
// `matcher` may stand more than once. Of several profiles the first is for requests that name none. A GET path of many
// points needs a larger limit than Caddy's 16 KiB for the head of a request: `servers { max_header_size 512KiB }` in
// the global options. Example:
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
		case "matcher":
			if !d.NextArg() {
				return d.ArgErr()
			}
			name := d.Val()
			module, err := caddyfile.UnmarshalModule(d, "maps.matchers."+name)
			if err != nil {
				return err
			}
			h.MatchersRaw = append(h.MatchersRaw, caddyconfig.JSONModuleObject(module, "source", name, nil))
		case "profile":
			names := d.RemainingArgs()
			if len(names) == 0 {
				return d.ArgErr()
			}
			h.Profile = append(h.Profile, names...)
			// It is checked here, so that a mistake is reported with its line.
			if _, err := newOffer(h.Profile); err != nil {
				return d.Errf("%v", err)
			}
		case "max_points", "max_radius", "max_body":
			if err := h.unmarshalLimit(d, option); err != nil {
				return err
			}
		default:
			return d.Errf("unknown option of maps_match: %s", option)
		}
	}
	if len(h.MatchersRaw) == 0 {
		return d.Err("maps_match needs at least one matcher")
	}
	return nil
}

// unmarshalLimit reads an option that has one value. It is checked here, so that a mistake is reported with its line.
func (h *Handler) unmarshalLimit(d *caddyfile.Dispenser, option string) error {
	var text string
	if !d.AllArgs(&text) {
		return d.ArgErr()
	}
	// The limits that are not being set are valid.
	check := Handler{}
	check.setDefaults()
	var err error
	switch option {
	case "max_points":
		h.MaxPoints, err = strconv.Atoi(text)
		check.MaxPoints = h.MaxPoints
	case "max_radius":
		h.MaxRadius, err = strconv.ParseFloat(text, 64)
		check.MaxRadius = h.MaxRadius
	case "max_body":
		var size uint64
		size, err = humanize.ParseBytes(text)
		h.MaxBody = int64(size)
		check.MaxBody = h.MaxBody
	}
	if err != nil {
		return d.Errf("%s: %v", option, err)
	}
	if err := check.validateLimits(); err != nil {
		return d.Errf("%v", err)
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Handler)(nil)
