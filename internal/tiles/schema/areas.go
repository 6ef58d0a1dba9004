package schema

import (
	"math"
	"strconv"
	"strings"
)

// The zooms from which areas are shown, if they are large enough: see MinArea.
const (
	landuseZoom      = 2
	waterZoom        = 0
	waterLabelZoom   = 3
	buildingZoom     = 13
	buildingPartZoom = 14
)

// The ranks order overlapping areas for clients.
const (
	landuseRank int64 = 189
	waterRank   int64 = 200
)

// MinArea returns the least area of features of the class, in square pixels of tiles of 256 pixels. A label needs more
// than a surface. Lines, and points other than labels of water, have no limit.
func (c Class) MinArea() float64 {
	switch {
	case c.Geometry == Polygon:
		return 4
	case c.Geometry == Point && c.Layer == Water:
		return 1024
	}
	return 0
}

// Land is the class of the land between the coasts.
func Land() Class { return surface(Earth, "earth") }

// Ocean is the class of the sea outside the coasts.
func Ocean() Class { return surface(Water, "ocean") }

// IsOcean reports whether features of a class are ocean.
func (c Class) IsOcean() bool {
	return c.Layer == Water && len(c.Attrs) == 1 && c.Attrs[0] == Ocean().Attrs[0]
}

func surface(layer Layer, kind string) Class {
	return Class{Layer: layer, Geometry: Polygon, NameZoom: NoNames, Attrs: []Attr{{Key: "kind", Value: kind}}}
}

func (v *values) buildings(classes []Class) []Class {
	kind, zoom := "building", uint8(buildingZoom)
	switch {
	case v.building != "":
	case v.part != "":
		kind, zoom = "building_part", buildingPartZoom
	default:
		return classes
	}
	a := make(attrs, 0, 4)
	a.text("kind", kind, 0)
	height, ok := metres(v.height)
	if !ok {
		var levels float64
		if levels, ok = metres(v.levels); ok {
			height = math.Max(levels, 1)*3 + 2
		}
	}
	if ok {
		a.add("height", int64(math.Round(height)), 0)
	}
	if low, ok := metres(v.minHeight); ok {
		a.add("min_height", int64(math.Round(low)), 0)
	}
	a.int("layer", v.layer, 0)
	return append(classes, Class{Layer: Buildings, Geometry: Polygon, MinZoom: zoom, NameZoom: NoNames, Attrs: a.sorted()})
}

// metres reads a height of less than a kilometre.
func metres(value string) (float64, bool) {
	if value == "" {
		return 0, false
	}
	m, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(value, "m")), 64)
	return m, err == nil && m > 0 && m < 1000
}

// waterDetails maps values of water=* to those of the schema.
var waterDetails = map[string]string{
	"basin": "basin", "canal": "canal", "ditch": "ditch", "drain": "drain", "lake": "lake", "reservoir": "reservoir",
	"river": "river", "stream": "stream", "lagoon": "lake", "oxbow": "lake", "pond": "lake", "wastewater": "basin",
	"harbour": "dock", "dock": "dock",
}

func (v *values) waterArea(classes []Class) []Class {
	kind, detail, zoom := "water", "", uint8(waterZoom)
	switch {
	case v.natural == "water":
		if detail = waterDetails[v.water]; v.water == "lake" {
			kind = "lake"
		}
	case v.waterway == "riverbank" || v.waterway == "dock":
		detail = v.waterway
	case waterLines[v.waterway] != 0: // a river mapped as an area with area=yes
		detail = v.waterway
	case v.landuse == "reservoir" || v.landuse == "basin":
		detail = v.landuse
	case v.leisure == "swimming_pool" || v.amenity == "fountain":
		kind, zoom = "other", fullZoom
	default:
		return v.waterLabel(classes, "other", v.natural == "bay" || v.natural == "strait" || v.natural == "fjord")
	}
	a := make(attrs, 0, 6)
	a.text("kind", kind, 0)
	a.text("kind_detail", detail, 0)
	a.is("reservoir", detail == "reservoir", 0)
	a.is("alkaline", v.salt == "yes" || v.water == "lagoon", 0)
	a.is("intermittent", v.intermittent == "yes", 0)
	a.add("sort_rank", waterRank, 0)
	classes = append(classes, Class{Layer: Water, Geometry: Polygon, MinZoom: zoom, NameZoom: NoNames, Attrs: a.sorted()})
	return v.waterLabel(classes, kind, true)
}

// waterLabel adds the label of an area of water.
func (v *values) waterLabel(classes []Class, kind string, is bool) []Class {
	if !is || !v.name {
		return classes
	}
	return append(classes, Class{Layer: Water, Geometry: Point, MinZoom: waterLabelZoom, NameZoom: waterLabelZoom,
		Attrs: []Attr{{Key: "kind", Value: kind}}})
}

// waterLines are the waterways that are lines, and the zooms from which they are shown.
var waterLines = map[string]uint8{"river": 9, "canal": 11, "stream": 13, "ditch": fullZoom, "drain": fullZoom}

func (v *values) waterLine(classes []Class) []Class {
	zoom := waterLines[v.waterway]
	if zoom == 0 {
		return classes
	}
	a := make(attrs, 0, 6)
	a.text("kind", "water", 0)
	a.text("kind_detail", v.waterway, 0)
	a.is("intermittent", v.intermittent == "yes", 0)
	a.text("bridge", v.bridge, 12)
	a.text("tunnel", v.tunnel, 12)
	a.int("layer", v.layer, 12)
	return append(classes, Class{Layer: Water, Geometry: Line, MinZoom: zoom, NameZoom: max(zoom, 11), Attrs: a.sorted()})
}

// landuseKinds maps values of keys to kinds. The keys are tried in the order of landuse.
var landuseKinds = map[string]map[string]string{
	"aeroway": {"aerodrome": "aerodrome", "runway": "runway", "taxiway": "taxiway", "taxilane": "taxiway"},
	"amenity": {"college": "college", "hospital": "hospital", "kindergarten": "kindergarten", "library": "library",
		"post_office": "post_office", "school": "school", "townhall": "townhall", "university": "university",
		"cafe": "cafe"},
	"leisure": {"dog_park": "dog_park", "garden": "garden", "golf_course": "golf_course", "marina": "marina",
		"nature_reserve": "nature_reserve", "park": "park", "pitch": "pitch", "playground": "playground",
		"stadium": "stadium", "common": "park", "recreation_ground": "recreation_ground"},
	"landuse": {"allotments": "garden", "brownfield": "industrial", "cemetery": "cemetery", "commercial": "commercial",
		"farm": "farmland", "farmland": "farmland", "farmyard": "farmyard", "flowerbed": "garden", "forest": "forest",
		"grass": "grass", "greenhouse_horticulture": "farmland", "industrial": "industrial", "meadow": "meadow",
		"military": "military", "orchard": "orchard", "plant_nursery": "farmland", "quarry": "industrial",
		"railway":           "railway",
		"recreation_ground": "recreation_ground", "residential": "residential", "retail": "commercial",
		"village_green": "park", "vineyard": "orchard", "winter_sports": "recreation_ground"},
	"military": {"airfield": "military", "base": "military", "naval_base": "military", "barracks": "military",
		"range": "military", "training_area": "military", "danger_area": "military"},
	"natural": {"bare_rock": "bare_rock", "beach": "beach", "fell": "grass", "glacier": "glacier", "grass": "grass",
		"grassland": "grass", "heath": "scrub", "sand": "sand", "dune": "sand", "scree": "bare_rock", "scrub": "scrub",
		"shingle": "beach", "wetland": "wetland", "wood": "wood"},
	"tourism": {"attraction": "attraction", "camp_site": "camp_site", "caravan_site": "camp_site", "hotel": "hotel",
		"theme_park": "attraction", "zoo": "zoo"},
	"shop":     {"supermarket": "supermarket", "grocery": "grocery"},
	"man_made": {"bridge": "pedestrian", "pier": "pier"},
	"railway":  {"platform": "platform"},
	"highway":  {"pedestrian": "pedestrian", "footway": "footway", "platform": "platform"},
	"place":    {"neighbourhood": "neighbourhood"},
	"boundary": {"national_park": "national_park", "protected_area": "protected_area"},
}

func (v *values) landuses(classes []Class) []Class {
	if v.building != "" {
		return classes // the use of a building is not a land use
	}
	for _, from := range [...]struct{ key, value string }{
		{"aeroway", v.aeroway}, {"leisure", v.leisure}, {"landuse", v.landuse}, {"natural", v.natural},
		{"amenity", v.amenity}, {"military", v.military}, {"tourism", v.tourism}, {"shop", v.shop},
		{"man_made", v.manMade}, {"railway", v.railway}, {"highway", v.highway}, {"place", v.place},
		{"boundary", v.boundary},
	} {
		if from.value == "" {
			continue
		}
		kind := landuseKinds[from.key][from.value]
		if kind == "" {
			continue
		}
		a := make(attrs, 0, 3)
		a.text("kind", kind, 0)
		a.add("sort_rank", landuseRank, 0)
		if kind == "pitch" {
			a.text("sport", v.sport, 0)
		}
		return append(classes, Class{Layer: Landuse, Geometry: Polygon, MinZoom: landuseZoom, NameZoom: NoNames,
			Attrs: a.sorted()})
	}
	return classes
}
