package matching

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/options"
)

// UnmarshalCaddyfile reads the matcher:
//
//	maps_region <name>|<south,west,north,east>... {
//	    max_body   <size>
//	    max_points <number>
//	}
//
// An argument with a comma is bounds, any other a region. In expressions: `maps_region('andorra',
// '39.4,-75.8,39.9,-75.4')`. Example:
//
//	@andorra maps_region andorra
//	@north maps_region 39.4,-75.8,39.9,-75.4 {
//	    max_points 5000
//	}
//	handle /api/route/matching/ {
//	    maps_auth DIRECTION {
//	        error_style routing
//	    }
//	    reverse_proxy @andorra node-1:8080
//	    reverse_proxy @north node-2:8080
//	    reverse_proxy node-1:8080 node-2:8080 {
//	        lb_try_duration 5s
//	        health_uri      /healthz
//	        health_interval 1s
//	    }
//	}
func (m *RegionMatcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() { // a set may have the matcher several times
		for d.NextArg() {
			if err := m.add(d.Val()); err != nil {
				return options.WithLine(d, err)
			}
		}
		check := func() error {
			written := RegionMatcher{Regions: m.Regions, Bounds: m.Bounds, MaxBody: m.MaxBody, MaxPoints: m.MaxPoints}
			written.setDefaults()
			return written.Validate()
		}
		if err := options.Block(d, "maps_region", check,
			options.Option{Name: "max_body", Args: "<size>", Read: options.Size(&m.MaxBody)},
			options.Option{Name: "max_points", Args: "<number>", Read: options.Number(&m.MaxPoints)},
		); err != nil {
			return err
		}
	}
	return nil
}

// add adds bounds or the name of a region.
func (m *RegionMatcher) add(place string) error {
	if !strings.Contains(place, ",") {
		m.Regions = append(m.Regions, place)
		return nil
	}
	numbers, err := parseBounds(place)
	if err != nil {
		return fmt.Errorf("maps_region %s: %w", place, err)
	}
	m.Bounds = append(m.Bounds, numbers)
	return nil
}
