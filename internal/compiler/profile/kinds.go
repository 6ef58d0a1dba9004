package profile

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// way is the kind of a way by its tags, without access.
type way struct {
	*kind
	area  bool // the outline of an area, which people walk along in both directions and no one drives along
	works bool // under construction: closed, unless a mode's own key opens it
}

// kind is a kind of ways.
type kind struct {
	number int // its index among the kinds
	class  region.RoadClass
	link   bool
}

// kinds are the kinds of ways that some mode may travel: values of highway, and other tags.
var kinds = func() map[string]*kind {
	all := make(map[string]*kind)
	for class, names := range [...]string{
		region.Motorway: "motorway motorway_link", region.Trunk: "trunk trunk_link",
		region.Primary: "primary primary_link", region.Secondary: "secondary secondary_link",
		region.Tertiary:     "tertiary tertiary_link",
		region.Unclassified: "unclassified road winter_road ice_road " + unknownKind,
		region.Residential:  "residential", region.LivingStreet: "living_street", region.Service: "service",
		region.Track: "track", region.BusWay: "busway bus_guideway", region.Cycleway: "cycleway",
		region.Footway: `path footway pedestrian bridleway steps corridor platform elevator man_made=pier leisure=track`,
		region.Ferry:   "route=ferry route=shuttle_train",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = &kind{len(all), region.RoadClass(class), strings.HasSuffix(name, "_link")}
		}
	}
	return all
}()

// noRoads are values of highway that are never roads: roads that do not exist (yet, or any more), and places.
var noRoads = setOf(`no none construction proposed planned abandoned disused razed demolished removed dismantled
	destroyed historic bus_stop services rest_area emergency_bay escape passing_place traffic_island toll_gantry
	street_lamp trailhead`)

// unknownKind is for other values of highway: closed, unless an access key opens it.
const unknownKind = "?"

var unknown = kinds[unknownKind]

// otherKinds are kinds of ways without a highway tag.
var otherKinds = map[tags.Key]map[string]*kind{
	tags.ManMade: {"pier": kinds["man_made=pier"]}, tags.Railway: {"platform": kinds["platform"]},
	tags.PublicTransport: {"platform": kinds["platform"]}, tags.Leisure: {"track": kinds["leisure=track"]},
	tags.Route: {"ferry": kinds["route=ferry"], "shuttle_train": kinds["route=shuttle_train"]},
}

// wayKeys are the keys of which a road has at least one.
var wayKeys = tags.Named("highway route man_made railway public_transport leisure")

// wayOf returns the kind of a way or of the outline of a multipolygon, or false if it is no road.
func wayOf(t *tags.Set) (w way, ok bool) {
	if !t.HasAny(wayKeys) {
		return w, false
	}
	value := t.Get(tags.Highway)
	if w.works = isBeingBuilt(t); w.works && value == "construction" {
		value = t.Get(tags.Construction)
	}
	if value == "" {
		w.kind = otherKind(t)
	} else if w.kind = kinds[value]; w.kind == nil && !noRoads[value] {
		w.kind = unknown
	}
	if w.kind == nil || isClosed(t) {
		return w, false
	}
	isOutline := t.Is(tags.Type, "multipolygon") && !t.Has(tags.Area)
	w.area = w.class != region.Ferry && (isOutline || t.Is(tags.Area, "yes"))
	return w, true
}

// otherKind returns the kind of a way without a highway tag, or nil if it is no road.
func otherKind(t *tags.Set) *kind {
	for key, tag := range t.All {
		of := otherKinds[key]
		if of == nil {
			continue
		}
		for value := range strings.SplitSeq(tag.Value, ";") {
			if k := of[strings.TrimSpace(value)]; k != nil {
				return k
			}
		}
	}
	return nil
}

// harmlessWorks are values of construction that leave a road open.
var harmlessWorks = setOf("no none minor widening completed")

func isBeingBuilt(t *tags.Set) bool {
	return t.Has(tags.Construction) && !harmlessWorks[t.Get(tags.Construction)]
}

// isClosed reports whether a way is closed to all: it is impassable, or a winter road that is not tagged as such in
// highway.
func isClosed(t *tags.Set) bool {
	return t.Is(tags.Impassable, "yes") || t.Is(tags.Status, "impassable") ||
		(t.Is(tags.WinterRoad, "yes") || t.Is(tags.IceRoad, "yes")) &&
			!t.Is(tags.Highway, "winter_road", "ice_road")
}

// IsOutOfUse reports whether a way is under construction or impassable. A way with proposed is not: the road exists,
// and is to become another kind.
func IsOutOfUse(t *tags.Set) bool { return isBeingBuilt(t) || isClosed(t) }
