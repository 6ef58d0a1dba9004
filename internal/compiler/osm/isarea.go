package osm

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// The convention of OpenStreetMap for closed ways without an area tag. They are areas if they have one of areaKeys, a
// key of areaOnly with one of its values, or a key of areaExcept with another value. All others, such as barriers, are
// lines.
var (
	areaKeys = `
		addr:housenumber addr:conscriptionnumber addr:housename addr:streetnumber amenity boundary building building:part
		cemetery club craft healthcare historic landuse office place ruins shop telecom tourism`
	areaOnly = [][2]string{
		{"bridge", "support"},
		{"power", "compensator converter generator plant station sub_station substation switchgear transformer"},
		{"railway", "platform roundhouse station traverser turntable wash"},
		{"waterway", "boatyard dam dock fuel riverbank"},
	}
	areaExcept = [][2]string{
		{"aeroway", "jet_bridge parking_position taxilane taxiway"},
		{"attraction", "dark_ride river_rafting summer_toboggan train water_slide roller_coaster"},
		{"emergency", "designated destination no official private yes"},
		{"golf", "cartpath hole path"},
		{"leisure", "slipway"},
		{"man_made", "cutline dyke embankment goods_conveyor pipeline"},
		{"military", "trench"},
		{"natural", "arch arete cliff coastline earth_bank gully ridge tree_row valley"},
		{"playground", "balancebeam rope_traverse stepping_stone zipwire"},
		{"public_transport", "stop_position"},
	}
)

// areaRules tell for each key which values make a closed way an area.
var areaRules = func() (rules [256]func(value string) bool) {
	add := func(key, values string, only bool) {
		named := map[string]bool{"no": !only}
		for value := range strings.FieldsSeq(values) {
			named[value] = true
		}
		rules[tags.Number(key)] = func(value string) bool { return named[value] == only }
	}
	for key := range strings.FieldsSeq(areaKeys) {
		add(key, "", false)
	}
	for _, rule := range areaExcept {
		add(rule[0], rule[1], false)
	}
	for _, rule := range areaOnly {
		add(rule[0], rule[1], true)
	}
	return rules
}()

// IsArea reports whether a way with these tags is an area if it is closed. A closed way with highway is a line, such as
// a roundabout, unless it has area=yes.
func IsArea(t *tags.Set) bool {
	if area := t.Get(tags.Area); area == "yes" || area == "no" {
		return area == "yes"
	}
	if t.Has(tags.Highway) {
		return false
	}
	for key, tag := range t.All {
		if is := areaRules[key]; is != nil && is(tag.Value) {
			return true
		}
	}
	return false
}
