package schema

import (
	"strconv"
	"strings"
)

// placeKind is the schema's view of a value of place.
type placeKind struct {
	kind, detail string
	zoom         uint8
	// population is the default population; 0 if it is not a settlement.
	population int64
}

// placeKinds are the values of place that are shown.
var placeKinds = map[string]placeKind{
	"country":            {"country", "country", 3, 0},
	"state":              {"region", "state", 5, 0},
	"province":           {"region", "province", 5, 0},
	"city":               {"locality", "city", 8, 50_000},
	"town":               {"locality", "town", 9, 10_000},
	"village":            {"locality", "village", 11, 2000},
	"hamlet":             {"locality", "hamlet", 12, 200},
	"locality":           {"locality", "locality", 13, 1000},
	"isolated_dwelling":  {"locality", "isolated_dwelling", 14, 100},
	"farm":               {"locality", "farm", 14, 50},
	"allotments":         {"locality", "allotments", 14, 1000},
	"scientific_station": {"locality", "scientific_station", 12, 100},
	"suburb":             {"neighbourhood", "neighbourhood", 11, 0},
	"borough":            {"macrohood", "quarter", 10, 0},
	"quarter":            {"macrohood", "quarter", 12, 0},
	"neighbourhood":      {"neighbourhood", "neighbourhood", 12, 0},
}

// populationRanks are the least populations of the ranks from 1 on.
var populationRanks = [...]int64{0, 200, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
	1_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 1_000_000_000}

// largePlaces are the zooms from which localities of a population are shown.
var largePlaces = [...]struct {
	population int64
	zoom       uint8
}{{1_000_000, 4}, {500_000, 5}, {200_000, 6}, {100_000, 7}, {30_000, 8}}

func (v *values) places(classes []Class) []Class {
	p, ok := placeKinds[v.place]
	if !ok || !v.name {
		return classes
	}
	population, err := strconv.ParseInt(strings.NewReplacer(",", "", " ", "", ".", "").Replace(v.population), 10, 64)
	counted := err == nil && population >= 0
	if !counted {
		population = p.population
	}
	rank := int64(0)
	for rank < int64(len(populationRanks)) && population >= populationRanks[rank] {
		rank++
	}
	zoom := p.zoom
	if p.kind == "locality" {
		for _, l := range largePlaces {
			if counted && population >= l.population {
				zoom = min(zoom, l.zoom)
			}
		}
		switch v.capital {
		case "yes", "2":
			zoom = min(zoom, 4)
		case "3", "4":
			zoom = min(zoom, 6)
		}
	}
	a := make(attrs, 0, 6)
	a.text("kind", p.kind, 0)
	a.text("kind_detail", p.detail, 0)
	a.add("min_zoom", int64(zoom)+1, 0)
	a.text("capital", v.capital, 0)
	if population > 0 {
		a.add("population", population, 0)
	}
	a.add("population_rank", rank, 0)
	return append(classes, Class{Layer: Places, Geometry: Point, MinZoom: zoom, NameZoom: zoom, Attrs: a.sorted()})
}

// poiZooms are the zooms of points of interest that differ from poiZoom.
var poiZooms = map[string]uint8{
	"national_park": 11, "hospital": 12, "peak": 13, "golf_course": 13, "marina": 13, "stadium": 13, "library": 13,
	"post_office": 13, "townhall": 13, "aerodrome": 13, "station": 13, "zoo": 13, "military": 13, "nature_reserve": 13,
	"forest": 13, "park": 14, "cemetery": 14, "university": 14, "college": 14, "grocery": 14, "supermarket": 14,
	"beach": 14, "fire_station": 15, "school": 15, "hotel": 15, "attraction": 15, "camp_site": 15, "bus_stop": 17,
}

// latePois are shown later if they have no name.
var latePois = kindSet("atm bbq bench bicycle_parking bicycle_rental bicycle_repair_station boat_storage " +
	"bureau_de_change car_rental car_sharing car_wash charging_station customs drinking_water fuel harbourmaster " +
	"hunting_stand karaoke_box life_ring money_transfer motorcycle_parking parking picnic_table post_box " +
	"ranger_station recycling sanitary_dump_station shelter shower taxi telephone toilets waste_basket " +
	"waste_disposal water_point watering_place landmark wayside_cross dog_park firepit fishing pitch playground " +
	"slipway swimming_area alpine_hut information picnic_site viewpoint wilderness_hut artwork memorial")

const (
	poiZoom     = 15
	latePoiZoom = 16
)

// pois adds a point of interest. Of several matching keys the most specific one counts.
func (v *values) pois(classes []Class) []Class {
	kind := v.poi()
	if kind == "" {
		return classes
	}
	zoom := poiZooms[kind]
	switch {
	case kind == "aerodrome" && v.iata != "":
		zoom = 11
	case zoom != 0:
	case !v.name && latePois[kind]:
		zoom = latePoiZoom
	default:
		zoom = poiZoom
	}
	a := make(attrs, 0, 6)
	a.text("kind", kind, 0)
	a.add("min_zoom", int64(zoom)+1, 0)
	a.text("sport", v.sport, fullZoom)
	a.text("cuisine", v.cuisine, fullZoom)
	a.text("religion", v.religion, fullZoom)
	a.text("iata", v.iata, 0)
	zoom = min(zoom, fullZoom)
	return append(classes, Class{Layer: Pois, Geometry: Point, MinZoom: zoom, NameZoom: zoom, Attrs: a.sorted()})
}

func (v *values) poi() string {
	switch {
	case v.landuse == "military" && (v.military == "naval_base" || v.military == "airfield"):
		return v.military
	case v.aeroway == "aerodrome":
		return v.aeroway
	case v.landuse == "cemetery" || v.landuse == "military":
		return v.landuse
	}
	for _, value := range [...]string{v.amenity, v.attraction, v.craft, v.leisure, v.shop, v.tourism, v.historic} {
		if value != "" && poiKinds[value] {
			return value
		}
	}
	switch {
	case v.landuse == "forest" || v.boundary == "national_park":
		if v.landuse == "forest" {
			return "forest"
		}
		return "national_park"
	case v.natural == "peak" || v.natural == "beach":
		return v.natural
	case v.railway == "station":
		return "station"
	case v.highway == "bus_stop":
		return "bus_stop"
	}
	return ""
}
