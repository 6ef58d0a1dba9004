package extract

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// verdict is what a value of an access tag means to a mode. Of several the greatest counts.
type verdict uint8

const (
	unsaid verdict = iota // nothing that is known: the class of the road decides
	forbidden
	destination // open to those whose way begins or ends there
	allowed     // open
	invited     // open, because the value names the mode itself
)

// The values of access keys, other than those that name a class of vehicles; see docs/matching.md.
var accessValues = map[string]struct{ car, others verdict }{
	"yes": {allowed, allowed}, "permissive": {allowed, allowed}, "designated": {allowed, allowed},
	"public": {allowed, allowed}, "allowed": {allowed, allowed},

	"destination": {destination, destination}, "customers": {destination, destination},
	"customer": {destination, destination}, "visitors": {destination, destination},
	"guests": {destination, destination},

	// Who is on such a road in a car had the right to be there, and a trace shows it. To walkers and bicycles, for whom
	// there is nearly always another way, it is closed.
	"private": {destination, forbidden}, "permit": {destination, forbidden}, "residents": {destination, forbidden},
	"resident": {destination, forbidden}, "members": {destination, forbidden}, "employees": {destination, forbidden},
	"staff": {destination, forbidden}, "delivery": {destination, forbidden},

	"no": {forbidden, forbidden}, "none": {forbidden, forbidden}, "closed": {forbidden, forbidden},
	"restricted": {forbidden, forbidden}, "impassable": {forbidden, forbidden}, "use_sidepath": {forbidden, forbidden},
	"official": {forbidden, forbidden}, "dismount": {unsaid, forbidden},
}

// otherTraffic are the values that name somebody who is in none of the three modes: a car is no taxi, its driver no
// farmer.
const otherTraffic = `
	agricultural forestry agricultural_vehicles tractor trailer caravan motorhome goods hgv hgv_articulated lhv
	bdouble truck lorry hazmat tank psv bus coach tourist_bus school_bus minibus share_taxi taxi trolleybus tram
	train rail emergency emergency_vehicle emergency_vehicles police fire ambulance rescue military government
	maintenance service_vehicles disabled car_sharing carpool motorcycle moped mofa speed_pedelec
	small_electric_vehicle kick_scooter golf_cart atv ohv snowmobile snowcat horse carriage cycle_rickshaw hand_cart
	ski inline_skates dog`

// vehicleClasses are the values that name who may travel along a road, with the modes among them: access=foot is open
// to walkers and to nobody else.
var vehicleClasses = func() map[string]mapdata.Modes {
	classes := map[string]mapdata.Modes{
		"foot": mapdata.Foot, "pedestrian": mapdata.Foot, "pedestrians": mapdata.Foot, "wheelchair": mapdata.Foot,
		"bicycle":  mapdata.Bicycle,
		"bicycles": mapdata.Bicycle,
		"motorcar": mapdata.Car, "car": mapdata.Car, "cars": mapdata.Car, "motor_vehicle": mapdata.Car,
		"motor_vehicles": mapdata.Car, "vehicle": mapdata.Car | mapdata.Bicycle,
	}
	for value := range strings.FieldsSeq(otherTraffic) {
		classes[value] = 0
	}
	return classes
}()

func valueSet(values ...string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}

// firstValue returns the first of several values of one tag (a;b).
func firstValue(v string) string {
	v, _, _ = strings.Cut(v, ";")
	return strings.TrimSpace(v)
}

// verdictOf returns what the value of an access key says to a mode. Of several values (a;b) each lets in whom it lets
// in. own says that the key is one for the mode alone, where official means what designated does.
func verdictOf(value string, mode mapdata.Modes, own bool) (v verdict) {
	for value != "" {
		var one string
		one, value, _ = strings.Cut(value, ";")
		one = strings.TrimSpace(one)
		if modes, ok := vehicleClasses[one]; ok {
			if modes&mode != 0 {
				return invited
			}
			v = max(v, forbidden)
			continue
		}
		meaning := accessValues[one]
		switch {
		case mode == mapdata.Car && one == "hov": // whether there are passengers nobody knows
			v = max(v, destination)
		case one == "hov":
			v = max(v, forbidden)
		case mode != mapdata.Car && own && one == "official":
			v = max(v, allowed)
		case mode == mapdata.Car:
			v = max(v, meaning.car)
		case mode == mapdata.Foot && one == "dismount": // that is what walkers are
			v = max(v, allowed)
		default:
			v = max(v, meaning.others)
		}
	}
	return v
}
