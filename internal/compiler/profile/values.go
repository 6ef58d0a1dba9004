package profile

import "strings"

// verdict is the meaning of an access value for a mode. Of several values the greatest counts.
type verdict uint8

const (
	unsaid verdict = iota // unknown: the kind of the way decides
	forbidden
	private     // destination-only access, with a permission
	destination // destination-only access
	allowed     // open
	invited     // open, since the value names the mode
)

// accessValues are the values of access keys; see docs/internals/algorithms.md.
var accessValues = func() map[string]verdict {
	all := make(map[string]verdict)
	for v, values := range [...]string{
		forbidden: `no none closed restricted impassable use_sidepath official hov
			foot pedestrian pedestrians wheelchair bicycle bicycles motorcar car cars motor_vehicle motor_vehicles vehicle
			agricultural forestry agricultural_vehicles tractor trailer caravan motorhome goods hgv hgv_articulated lhv
			bdouble truck lorry hazmat tank psv bus coach tourist_bus school_bus minibus share_taxi taxi trolleybus tram
			train rail emergency emergency_vehicle emergency_vehicles police fire ambulance rescue military government
			maintenance service_vehicles disabled car_sharing carpool motorcycle moped mofa speed_pedelec
			small_electric_vehicle kick_scooter golf_cart atv ohv snowmobile snowcat horse carriage cycle_rickshaw hand_cart
			ski inline_skates dog`, // access=foot is open only to walkers; a car is not a taxi, and its driver not a farmer
		private:     "private permit residents resident members employees staff delivery",
		destination: "destination customers customer visitors guests",
		allowed:     "yes permissive designated public allowed",
	} {
		for value := range strings.FieldsSeq(values) {
			all[value] = verdict(v)
		}
	}
	return all
}()

// verdict returns the verdict of the value of an access key, which may be a list (a;b). own says that the key is
// specific to the mode.
func (p *profile) verdict(value string, own bool) (v verdict) {
	for value != "" {
		var one string
		one, value, _ = strings.Cut(value, ";")
		one = strings.TrimSpace(one)
		if v = max(v, p.meanings[one]); own && one == "official" && !p.motor {
			v = allowed // as designated
		}
	}
	return v
}

// isPrivate reports whether a value is private, without a value that admits more: private;customers is not.
func isPrivate(value string) (is bool) {
	for one := range strings.SplitSeq(value, ";") {
		switch one = strings.TrimSpace(one); {
		case one == "private":
			is = true
		case accessValues[one] > forbidden:
			return false
		}
	}
	return is
}

// firstValue returns the first of several values of one tag (a;b).
func firstValue(v string) string {
	v, _, _ = strings.Cut(v, ";")
	return strings.TrimSpace(v)
}
