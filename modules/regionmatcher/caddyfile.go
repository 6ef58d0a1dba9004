package regionmatcher

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"
)

// UnmarshalCaddyfile reads the matcher:
//
//	maps_region <name>|<south,west,north,east>... {
//	    max_body   <size>
//	    max_points <number>
//	}
//
// An argument with a comma is bounds, any other the name of a region. In expressions it is
// `maps_region('andorra', '39.4,-75.8,39.9,-75.4')`. Example:
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
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() { // the same matcher may stand several times in a set
		for d.NextArg() {
			if err := m.add(d.Val()); err != nil {
				return d.Err(err.Error())
			}
		}
		for nesting := d.Nesting(); d.NextBlock(nesting); {
			if err := m.unmarshalLimit(d); err != nil {
				return err
			}
		}
	}
	if len(m.Regions) == 0 && len(m.Bounds) == 0 {
		return d.Err(errNoPlace.Error())
	}
	return nil
}

// add adds a place: bounds, or the name of a region.
func (m *Matcher) add(place string) error {
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

func (m *Matcher) unmarshalLimit(d *caddyfile.Dispenser) error {
	option := d.Val()
	if option != "max_body" && option != "max_points" {
		return d.Errf("unknown option of maps_region: %s", option)
	}
	var text string
	if !d.AllArgs(&text) {
		return d.ArgErr()
	}
	var err error
	if option == "max_body" {
		var size uint64
		size, err = humanize.ParseBytes(text)
		if m.MaxBody = int64(size); err == nil && m.MaxBody < 1 {
			err = fmt.Errorf("%s is not a positive number of bytes", text)
		}
	} else {
		m.MaxPoints, err = strconv.Atoi(text)
		if err == nil && (m.MaxPoints < 2 || m.MaxPoints > maxMaxPoints) {
			err = fmt.Errorf("%s is not between 2 and %d", text, maxMaxPoints)
		}
	}
	if err != nil {
		return d.Errf("%s: %v", option, err)
	}
	return nil
}
