package playground

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("maps_playground", parseCaddyfile)
	httpcaddyfile.RegisterDirectiveOrder("maps_playground", httpcaddyfile.Before, "respond")
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	p := new(Playground)
	return p, p.UnmarshalCaddyfile(h.Dispenser)
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
//	    profile   car|bicycle|foot...
//	}
//
// Example:
//
//	handle /playground/* {
//	    maps_playground delaware {
//	        guest   sa_01J9ZC3AB2K5
//	        profile car bicycle foot
//	    }
//	}
func (p *Playground) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the directive's name
	if !d.AllArgs(&p.Region) {
		return d.ArgErr()
	}
	paths := map[string]*string{"prefix": &p.Prefix, "tiles": &p.Tiles, "matching": &p.Matching, "geocoding": &p.Geocoding}
	for d.NextBlock(0) {
		switch option := d.Val(); option {
		case "guest":
			if !d.AllArgs(&p.Guest) {
				return d.ArgErr()
			}
		case "public":
			p.Public = true
		case "prefix", "tiles", "matching", "geocoding":
			if err := mapsapp.Prefix(d, paths[option]); err != nil {
				return err
			}
		case "profile":
			names := d.RemainingArgs()
			if len(names) == 0 {
				return d.ArgErr()
			}
			for _, name := range names {
				if _, err := matching.ParseProfile(name); err != nil {
					return d.Errf("profile: %v", err)
				}
			}
			p.Profile = append(p.Profile, names...)
		default:
			return d.Errf("unknown option of maps_playground: %s", option)
		}
		if d.NextArg() {
			return d.ArgErr()
		}
	}
	return nil
}

// Interface guard
var _ caddyfile.Unmarshaler = (*Playground)(nil)
