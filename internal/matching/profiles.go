package matching

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Profile is the mode of travel: it selects the network that a trace is matched on, and how people move there. The zero
// value is Car.
type Profile uint8

// The profiles. Their numbers are indexes.
const (
	Car Profile = iota
	Bicycle
	Foot
	profiles
)

var profileNames = [profiles]string{Car: "car", Bicycle: "bicycle", Foot: "foot"}

// String returns the profile's name in configurations and requests.
func (p Profile) String() string { return profileNames[p] }

// Profiles returns all profiles.
func Profiles() []Profile { return []Profile{Car, Bicycle, Foot} }

// ParseProfile finds a profile by its name. The error lists the known names.
func ParseProfile(name string) (Profile, error) {
	if i := slices.Index(profileNames[:], name); i >= 0 {
		return Profile(i), nil
	}
	return 0, fmt.Errorf("%q is not known; there are %s", name, strings.Join(profileNames[:], ", "))
}

// Answering is implemented by a Matcher that does not answer for every profile.
type Answering interface {
	// Answers reports whether the matcher has a network for a profile.
	Answers(p Profile) bool
}

// Answers reports whether a Matcher answers for a profile. One that is not Answering answers for all.
func Answers(m Matcher, p Profile) bool {
	some, ok := m.(Answering)
	return !ok || some.Answers(p)
}

// travelMode has the model's constants of a profile.
type travelMode struct {
	// network is the mode whose network the profile uses.
	network region.Modes
	// maxSpeedFactor is how many times faster than the network's free speed people move at most.
	maxSpeedFactor float64
	// timeSpeed is the speed in metres per second at which time and length count the same in a route. Where all roads of a
	// network are equally fast it has to be their speed.
	timeSpeed float64
	// A route is longer than the straight line between its points by an exponentially distributed difference. Its mean is
	// baseDetour, in metres, plus shareDetour times the distance. Paths lie closer together than streets: a detour of a
	// few metres may be another path.
	baseDetour, shareDetour float64
	// turnBack is the cost of a U-turn on a road, in nats. Walkers turn round anywhere.
	turnBack float64
	// deadEnd is the cost of a U-turn where the road ends, in nats.
	deadEnd float64
}

// travelModes are the constants of each profile.
var travelModes = [profiles]travelMode{
	Car: {network: region.Car, maxSpeedFactor: 1.6, timeSpeed: 26, baseDetour: 35, shareDetour: 0.13, turnBack: 15,
		deadEnd: 4},
	// The network says 16 km/h. Downhill, or with a motor, bicycles reach 45.
	Bicycle: {network: region.Bicycle, maxSpeedFactor: 2.8, timeSpeed: 16 / 3.6, baseDetour: 30, shareDetour: 0.13,
		turnBack: 15, deadEnd: 4},
	// The network says 5 km/h. Runners reach 15.
	Foot: {network: region.Foot, maxSpeedFactor: 3, timeSpeed: 5 / 3.6, baseDetour: 16, shareDetour: 0.2, turnBack: 6,
		deadEnd: 0},
}

// Networks are the road graphs of a region by Profile; nil where there is none.
type Networks [profiles]*roadgraph.Graph

// OpenNetworks finds the networks of all profiles in a region file. Its cost does not depend on the size of the region.
func OpenNetworks(f *region.File) (n Networks, err error) {
	for p := range n {
		if n[p], err = roadgraph.OpenMode(f, travelModes[p].network); err != nil {
			return Networks{}, err
		}
	}
	return n, nil
}
