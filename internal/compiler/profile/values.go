package profile

import "strings"

// verdict is what a value of an access tag means to a mode. Of several the greatest counts.
type verdict uint8

const (
	unsaid verdict = iota // nothing that is known: the kind of the way decides
	forbidden
	private     // open to those whose way begins or ends there, and who have the right to be there
	destination // open to those whose way begins or ends there
	allowed     // open
	invited     // open, because the value names the mode itself
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
			ski inline_skates dog`, // access=foot is open to walkers alone, and a car is no taxi, its driver no farmer
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

// verdict returns what the value of an access key says. Of several values (a;b) each lets in whom it lets in. own says
// that the key is one for the mode alone.
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

// isPrivate says whether a value is private and nothing that lets in more: private;customers is not.
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
