package extract

import "github.com/paulmach/osm"

// areaRule says which values of a key make a closed way an area.
type areaRule struct {
	only   map[string]bool // these
	except map[string]bool // all but these
}

// areaKeys is the convention of OpenStreetMap on closed ways that carry no area tag of their own: with these keys they
// are areas, with all others (barrier, power lines, waterways, …) lines.
var areaKeys = map[string]areaRule{
	"addr:housenumber":        {},
	"addr:conscriptionnumber": {},
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

// describesArea says whether a way with these tags is an area where it is closed. A closed way with highway is a line,
// a roundabout or a track, unless it says area=yes.
func describesArea(tags osm.Tags) bool {
	areal := false
	for i := range tags {
		key, value := tags[i].Key, tags[i].Value
		switch key {
		case "area":
			if value == "yes" || value == "no" {
				return value == "yes"
			}
		case "highway":
			return tags.Find("area") == "yes"
		}
		rule, ok := areaKeys[key]
		if !ok || value == "" || value == "no" {
			continue
		}
		switch {
		case rule.only != nil:
			areal = areal || rule.only[value]
		default:
			areal = areal || !rule.except[value]
		}
	}
	return areal
}
