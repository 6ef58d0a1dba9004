package tiles

import (
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/tiles/network"
)

// address is what a path below the prefix asks for.
type address struct {
	region string
	what   resource
	kind   uint8 // of tiles: kindMap, or kindNetwork plus the profile
	z      uint8
	x, y   uint32
}

type resource uint8

const (
	tileOf resource = iota
	descriptionOf
	styleOf
)

// The kinds of tiles: kindMap, and kindNetwork plus the number of a profile.
const (
	kindMap     = 0
	kindNetwork = 1
)

// profile returns the profile of a network.
func (a *address) profile() matching.Profile { return matching.Profile(a.kind - kindNetwork) }

// parse reads a path below the prefix:
//
//	/{region}.json
//	/{region}/style.json
//	/{region}/{z}/{x}/{y}.mvt
//	/{region}/network/{profile}.json
//	/{region}/network/{profile}/{z}/{x}/{y}.mvt
//
// ok is false for any other. exists checks zoom, column and row.
func parse(path string) (a address, ok bool) {
	if path == "" {
		return a, false
	}
	region, rest, below := strings.Cut(path[1:], "/")
	if !below {
		a.region, ok = strings.CutSuffix(region, ".json")
		a.what = descriptionOf
		return a, ok && a.region != ""
	}
	if a.region = region; region == "" {
		return a, false
	}
	if rest == "style.json" {
		a.what = styleOf
		return a, true
	}
	if name, is := strings.CutPrefix(rest, "network/"); is {
		name, rest, below = strings.Cut(name, "/")
		if !below {
			name, ok = strings.CutSuffix(name, ".json")
			a.what = descriptionOf
		}
		profile, err := matching.ParseProfile(name)
		a.kind = kindNetwork + uint8(profile)
		if err != nil || !below {
			return a, err == nil && ok
		}
	}
	return a, a.parseTile(rest)
}

// parseTile reads zoom, column and row: decimal numbers without a sign or leading zeros.
func (a *address) parseTile(path string) bool {
	z, rest, _ := strings.Cut(path, "/")
	x, rest, _ := strings.Cut(rest, "/")
	y, named := strings.CutSuffix(rest, ".mvt")
	var zoom uint32
	for _, number := range []struct {
		text  string
		value *uint32
	}{{z, &zoom}, {x, &a.x}, {y, &a.y}} {
		n, err := strconv.ParseUint(number.text, 10, 32)
		if err != nil || number.text[0] == '0' && len(number.text) > 1 {
			return false
		}
		*number.value = uint32(n)
	}
	a.z = uint8(min(zoom, maxMaxZoom+1))
	return named
}

// exists reports whether an address has a tile if the highest zoom is maxZoom.
func (a *address) exists(maxZoom uint8) bool {
	if a.kind != kindMap && a.z < network.MinZoom {
		return false
	}
	return a.z <= maxZoom && a.x>>a.z == 0 && a.y>>a.z == 0
}
