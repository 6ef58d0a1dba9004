package region

// Kind is the kind of an OSM object.
type Kind uint8

// The kinds of OSM objects, in the order in which they are compiled.
const (
	KindNode Kind = iota
	KindWay
	KindRelation
)

// Modes is a set of ways to travel.
type Modes uint8

// The modes of travel.
const (
	Car Modes = 1 << iota
	Bicycle
	Foot
)

// RoadClass is the value of highway, links folded into their class; a ferry has its own.
type RoadClass uint8

// Road classes, from the most important to the least.
const (
	Motorway RoadClass = iota
	Trunk
	Primary
	Secondary
	Tertiary
	Unclassified
	Residential
	LivingStreet
	Service
	Track
	BusWay
	Cycleway
	Footway // footway, path, pedestrian, steps, bridleway, …
	Ferry
)

// String returns the value of highway of the class, or "ferry".
func (c RoadClass) String() string {
	return [...]string{"motorway", "trunk", "primary", "secondary", "tertiary", "unclassified", "residential",
		"living_street", "service", "track", "busway", "cycleway", "footway", "ferry"}[c]
}
