package tags

import "strings"

// The keys that the compiler asks for.
const (
	Access Key = iota + 1
	Motorcar
	MotorVehicle
	Vehicle
	Bicycle
	Foot
	AccessForward
	AccessBackward
	MotorcarForward
	MotorcarBackward
	MotorVehicleForward
	MotorVehicleBackward
	VehicleForward
	VehicleBackward
	BicycleForward
	BicycleBackward
	FootForward
	FootBackward
	AccessConditional
	MotorcarConditional
	MotorVehicleConditional
	VehicleConditional
	BicycleConditional
	FootConditional
	Oneway
	OnewayBicycle
	OnewayFoot
	OnewayMotorVehicle
	OnewayMotorcar
	OnewayVehicle
	OnewayConditional
	Cycleway
	CyclewayLeft
	CyclewayRight
	CyclewayBoth
	CyclewayLeftOneway
	CyclewayRightOneway
	Sidewalk
	SidewalkLeft
	SidewalkRight
	SidewalkBoth
	Footway
	Hov
	HovLanes
	HovLanesForward
	HovLanesBackward
	Motorroad
	Junction
	Lanes
	Service
	Tracktype
	Surface
	Smoothness
	Maxspeed
	MaxspeedForward
	MaxspeedBackward
	MaxspeedType
	MaxspeedAdvisory
	MaxspeedConditional
	Maxheight
	Maxweight
	Maxwidth
	Width
	Maxlength
	EstWidth
	Toll
	Locked
	Sensory
	Kerb
	Bollard
	Conveying
	Duration
	Construction
	TrafficSignals
	Crossing
	Stop
	GiveWay
	Direction
	TurnLanes
	TurnLanesForward
	TurnLanesBackward
	Destination
	DestinationForward
	DestinationBackward
	DestinationRef
	DestinationRefForward
	DestinationRefBackward
	DestinationStreet
	DestinationStreetForward
	DestinationStreetBackward
	DestinationLanes
	DestinationLanesForward
	DestinationLanesBackward
	JunctionRef
	ExitTo
	Restriction
	RestrictionVehicle
	RestrictionMotorVehicle
	RestrictionMotorcar
	RestrictionBicycle
	RestrictionFoot
	RestrictionConditional
	Except
	DayOn
	DayOff
	HourOn
	HourOff
	Hgv
	HgvForward
	HgvBackward
	HgvConditional
	CyclewayOneway
	CyclewayBothOneway
	WinterRoad
	IceRoad
	Impassable
	Status
	SacScale
	SourceMaxspeed
	ZoneMaxspeed
	ZoneTraffic
	MaxheightPhysical
	MaxwidthPhysical
	TrafficSignalsDirection
	RestrictionHgv
	RestrictionVehicleConditional
	RestrictionMotorVehicleConditional
	RestrictionMotorcarConditional
	RestrictionHgvConditional
	RestrictionBicycleConditional
	RestrictionFootConditional
	CrossingSignals
	Type
	Area
	Entrance
	Name
	Ref
	Layer
	Maritime
	AdminLevel
	BorderType
	AltName
	OldName
	ShortName
	OfficialName
	LocName
	IntName
	Amenity
	Shop
	Tourism
	Leisure
	Historic
	Office
	Craft
	Highway
	Railway
	Natural
	Landuse
	Place
	Boundary
	Building
	Aerialway
	Aeroway
	Attraction
	Barrier
	Bridge
	BuildingPart
	Cemetery
	Club
	Emergency
	Geological
	Golf
	Healthcare
	ManMade
	Military
	MountainPass
	Playground
	Power
	PublicTransport
	Route
	Ruins
	Telecom
	Tunnel
	Waterway
	PostalCode
	Capital
	Population
	Wikidata
	CountryCode
	CountryCodeISO31661Alpha2
	CountryCodeISO31661Alpha3
	IsIn
	ISO31661
	ISO31661Alpha2
	ISO31661Alpha3
	ISO31662
	AddrHousenumber
	AddrConscriptionnumber
	AddrStreetnumber
	AddrHousename
	AddrStreet
	AddrPlace
	AddrInterpolation
	AddrSuburb
	AddrQuarter
	AddrNeighbourhood
	AddrHamlet
	AddrCity
	AddrTown
	AddrVillage
	AddrMunicipality
	AddrCounty
	AddrState
	AddrProvince
	AddrPostcode
)

// names are the keys as they are written, in the order of their numbers.
var names = append([]string{""}, strings.Fields(`
	access motorcar motor_vehicle vehicle bicycle foot access:forward access:backward motorcar:forward
	motorcar:backward motor_vehicle:forward motor_vehicle:backward vehicle:forward vehicle:backward bicycle:forward
	bicycle:backward foot:forward foot:backward access:conditional motorcar:conditional motor_vehicle:conditional
	vehicle:conditional bicycle:conditional foot:conditional oneway oneway:bicycle oneway:foot oneway:motor_vehicle
	oneway:motorcar oneway:vehicle oneway:conditional cycleway cycleway:left cycleway:right cycleway:both
	cycleway:left:oneway cycleway:right:oneway sidewalk sidewalk:left sidewalk:right sidewalk:both footway hov
	hov:lanes hov:lanes:forward hov:lanes:backward motorroad junction lanes service tracktype surface smoothness
	maxspeed maxspeed:forward maxspeed:backward maxspeed:type maxspeed:advisory maxspeed:conditional maxheight
	maxweight maxwidth width maxlength est_width toll locked sensory kerb bollard conveying duration construction
	traffic_signals crossing stop give_way direction turn:lanes turn:lanes:forward turn:lanes:backward destination
	destination:forward destination:backward destination:ref destination:ref:forward destination:ref:backward
	destination:street destination:street:forward destination:street:backward destination:lanes
	destination:lanes:forward destination:lanes:backward junction:ref exit_to restriction restriction:vehicle
	restriction:motor_vehicle restriction:motorcar restriction:bicycle restriction:foot restriction:conditional except
	day_on day_off hour_on hour_off
	hgv hgv:forward hgv:backward hgv:conditional cycleway:oneway cycleway:both:oneway winter_road ice_road impassable
	status sac_scale source:maxspeed zone:maxspeed zone:traffic maxheight:physical maxwidth:physical
	traffic_signals:direction restriction:hgv restriction:vehicle:conditional restriction:motor_vehicle:conditional
	restriction:motorcar:conditional restriction:hgv:conditional restriction:bicycle:conditional
	restriction:foot:conditional crossing:signals
	type area entrance name ref layer maritime admin_level border_type alt_name
	old_name short_name official_name loc_name int_name amenity shop tourism leisure historic office craft highway
	railway natural landuse place boundary building aerialway aeroway attraction barrier bridge building:part cemetery
	club emergency geological golf healthcare man_made military mountain_pass playground power public_transport route
	ruins telecom tunnel waterway postal_code capital population wikidata country_code country_code_iso3166_1_alpha_2
	country_code_iso3166_1_alpha_3 is_in ISO3166-1 ISO3166-1:alpha2 ISO3166-1:alpha3 ISO3166-2 addr:housenumber
	addr:conscriptionnumber addr:streetnumber addr:housename addr:street addr:place addr:interpolation addr:suburb
	addr:quarter addr:neighbourhood addr:hamlet addr:city addr:town addr:village addr:municipality addr:county
	addr:state addr:province addr:postcode`)...)
