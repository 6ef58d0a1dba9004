package osm

import "github.com/mapsedge/caddy-maps/internal/compiler/tags"

// areaRule says which values of a key make a closed way an area.
type areaRule struct {
	only   map[string]bool // these
	except map[string]bool // all but these
}

// areaRules are the convention of OpenStreetMap on closed ways that carry no area tag of their own: with these keys
// they are areas, with all others (barrier, power lines, waterways, …) lines.
var areaRules = map[tags.Key]areaRule{
	tags.AddrHousenumber:        {},
	tags.AddrConscriptionnumber: {},
	tags.AddrHousename:          {},
	tags.AddrStreetnumber:       {},
	tags.Aeroway:                {except: valueSet("jet_bridge", "parking_position", "taxilane", "taxiway")},
	tags.Amenity:                {},
	tags.Attraction: {except: valueSet("dark_ride", "river_rafting", "summer_toboggan", "train", "water_slide",
		"roller_coaster")},
	tags.Boundary:     {},
	tags.Building:     {},
	tags.BuildingPart: {},
	tags.Bridge:       {only: valueSet("support")},
	tags.Cemetery:     {},
	tags.Club:         {},
	tags.Craft:        {},
	tags.Emergency:    {except: valueSet("designated", "destination", "no", "official", "private", "yes")},
	tags.Golf:         {except: valueSet("cartpath", "hole", "path")},
	tags.Healthcare:   {},
	tags.Historic:     {},
	tags.Landuse:      {},
	tags.Leisure:      {except: valueSet("slipway")},
	tags.ManMade:      {except: valueSet("cutline", "dyke", "embankment", "goods_conveyor", "pipeline")},
	tags.Military:     {except: valueSet("trench")},
	tags.Natural: {except: valueSet("arch", "arete", "cliff", "coastline", "earth_bank", "gully", "ridge",
		"tree_row", "valley")},
	tags.Office:     {},
	tags.Place:      {},
	tags.Playground: {except: valueSet("balancebeam", "rope_traverse", "stepping_stone", "zipwire")},
	tags.Power: {only: valueSet("compensator", "converter", "generator", "plant", "station", "sub_station",
		"substation", "switchgear", "transformer")},
	tags.PublicTransport: {except: valueSet("stop_position")},
	tags.Railway:         {only: valueSet("platform", "roundhouse", "station", "traverser", "turntable", "wash")},
	tags.Ruins:           {},
	tags.Shop:            {},
	tags.Telecom:         {},
	tags.Tourism:         {},
	tags.Waterway:        {only: valueSet("boatyard", "dam", "dock", "fuel", "riverbank")},
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
	for key, tag := range t.All {
		rule, ok := areaRules[key]
		if !ok || tag.Value == "no" {
			continue
		}
		if rule.only != nil && rule.only[tag.Value] || rule.only == nil && !rule.except[tag.Value] {
			return true
		}
	}
	return false
}

var anyAreaKey = func() *tags.Keys {
	set := new(tags.Keys)
	for key := range areaRules {
		set.Add(key)
	}
	return set
}()

func valueSet(values ...string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}
