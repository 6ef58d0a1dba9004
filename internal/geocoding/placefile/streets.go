package placefile

// RoadKind says whether houses can have their address on a highway.
type RoadKind uint8

const (
	NoStreet RoadKind = iota // nothing that a house has its address on
	OnlyRoad                 // nor that, but a road with a name, which is the street of its own address
	MainStreet
	ServiceStreet
	PathStreet
)

// RoadKindOf returns the kind of a value of highway. Motorways, their ramps, and proposed or unfinished roads have no
// houses.
func RoadKindOf(highway string) RoadKind {
	switch highway {
	case "trunk", "primary", "secondary", "tertiary", "unclassified", "residential", "living_street", "pedestrian",
		"road", "busway":
		return MainStreet
	case "motorway", "motorway_link", "trunk_link":
		return OnlyRoad
	case "service", "primary_link", "secondary_link", "tertiary_link":
		return ServiceStreet
	case "track", "footway", "path", "cycleway", "bridleway", "steps", "corridor", "byway":
		return PathStreet
	}
	return NoStreet
}
