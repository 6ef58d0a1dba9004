package schema

import (
	"maps"
	"slices"
	"strings"
)

func kindSet(kinds string) map[string]bool {
	set := make(map[string]bool)
	for kind := range strings.FieldsSeq(kinds) {
		set[kind] = true
	}
	return set
}

// poiKinds are the kinds of points of interest that the schema lists. The schema allows others; this map has none, so
// that styles know all of them.
var poiKinds = kindSet("aerodrome adult_gaming_centre airfield alpine_hut amusement_ride animal art artwork atm " +
	"attraction atv baby_hatch bakery bbq beach beauty bed_and_breakfast bench bicycle_parking bicycle_rental " +
	"bicycle_repair_station boat_storage bookmaker books bureau_de_change bus_stop butcher cafe camp_site car_parts " +
	"car_rental car_repair car_sharing car_wash car carousel cemetery chalet charging_station childcare clinic clothes " +
	"college computer convenience customs dentist district doctors dog_park drinking_water emergency_phone fashion " +
	"firepit fire_station fishing florist forest fuel gambling garden_centre gift golf_course golf greengrocer grocery " +
	"guest_house hairdresser hanami harbourmaster hifi hospital hostel hotel hunting_stand information jewelry " +
	"karaoke_box karaoke landmark library life_ring lottery marina maze memorial military mobile_phone money_transfer " +
	"motorcycle_parking motorcycle national_park nature_reserve naval_base newsagent optician park parking peak " +
	"perfumery picnic_site picnic_table pitch playground post_box post_office ranger_station recycling roller_coaster " +
	"sanitary_dump_station school scuba_diving shelter ship_chandler shower slipway snowmobile social_facility stadium " +
	"station stationery studio summer_toboggan supermarket swimming_area taxi telephone tobacco toilets townhall " +
	"trail_riding_station travel_agency university viewpoint waste_basket waste_disposal water_point water_slide " +
	"watering_place wayside_cross wilderness_hut zoo")

// kinds are the values that kind has in each layer.
var kinds = [layers]map[string]bool{
	Earth: kindSet("earth"),
	Landuse: kindSet("aerodrome attraction bare_rock beach cafe camp_site cemetery college commercial dog_park farmland " +
		"farmyard footway forest garden glacier golf_course grass grocery hospital hotel industrial kindergarten library " +
		"marina meadow military national_park nature_reserve neighbourhood orchard other park pedestrian pier pitch " +
		"platform playground post_office protected_area railway recreation_ground residential runway sand school scrub " +
		"stadium supermarket taxiway townhall university wetland wood zoo"),
	Water:      kindSet("water lake playa ocean other"),
	Boundaries: kindSet("country region county locality"),
	Buildings:  kindSet("building building_part"),
	Roads:      kindSet("highway major_road minor_road path aerialway ferry pier rail aeroway"),
	Places:     kindSet("country region locality macrohood neighbourhood"),
	Pois:       poiKinds,
}

// Kinds returns the values that the attribute kind may have in a layer, sorted.
func Kinds(l Layer) []string { return slices.Sorted(maps.Keys(kinds[l])) }
