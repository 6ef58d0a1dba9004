package osm

import (
	"maps"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// areaRule says which values of a key make a closed way an area.
type areaRule struct {
	only   map[string]bool // these
	except map[string]bool // all but these
}

// areaRules are the convention of OpenStreetMap on closed ways that carry no area tag of their own: with these keys
// they are areas, with all others (barrier, power lines, waterways, …) lines.
var areaRules = map[string]areaRule{
	"addr:housenumber":        {},
	"addr:conscriptionnumber": {},
	"addr:housename":          {},
	"addr:streetnumber":       {},
	"aeroway":                 {except: valueSet("jet_bridge", "parking_position", "taxilane", "taxiway")},
	"amenity":                 {},
	"attraction": {except: valueSet("dark_ride", "river_rafting", "summer_toboggan", "train", "water_slide",
		"roller_coaster")},
	"boundary":      {},
	"building":      {},
	"building:part": {},
	"bridge":        {only: valueSet("support")},
	"cemetery":      {},
	"club":          {},
	"craft":         {},
	"emergency":     {except: valueSet("designated", "destination", "no", "official", "private", "yes")},
	"golf":          {except: valueSet("cartpath", "hole", "path")},
	"healthcare":    {},
	"historic":      {},
	"landuse":       {},
	"leisure":       {except: valueSet("slipway")},
	"man_made":      {except: valueSet("cutline", "dyke", "embankment", "goods_conveyor", "pipeline")},
	"military":      {except: valueSet("trench")},
	"natural": {except: valueSet("arch", "arete", "cliff", "coastline", "earth_bank", "gully", "ridge",
		"tree_row", "valley")},
	"office":     {},
	"place":      {},
	"playground": {except: valueSet("balancebeam", "rope_traverse", "stepping_stone", "zipwire")},
	"power": {only: valueSet("compensator", "converter", "generator", "plant", "station", "sub_station",
		"substation", "switchgear", "transformer")},
	"public_transport": {except: valueSet("stop_position")},
	"railway":          {only: valueSet("platform", "roundhouse", "station", "traverser", "turntable", "wash")},
	"ruins":            {},
	"shop":             {},
	"telecom":          {},
	"tourism":          {},
	"waterway":         {only: valueSet("boatyard", "dam", "dock", "fuel", "riverbank")},
}

// IsArea says whether a way with these tags is an area where it is closed. A closed way with highway is a line, a
// roundabout or a track, unless it says area=yes.
func IsArea(t *tags.Set) bool {
	if area := t.Get(tags.Area); area == "yes" || area == "no" {
		return area == "yes"
	}
	if t.Has(tags.Highway) || !t.HasAny(anyAreaKey) {
		return false
	}
	for _, tag := range t.All {
		rule, ok := areaRules[tag.Key]
		if !ok || tag.Value == "no" {
			continue
		}
		if rule.only != nil && rule.only[tag.Value] || rule.only == nil && !rule.except[tag.Value] {
			return true
		}
	}
	return false
}

var anyAreaKey = tags.Named(strings.Join(slices.Sorted(maps.Keys(areaRules)), " "))

func valueSet(values ...string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}
