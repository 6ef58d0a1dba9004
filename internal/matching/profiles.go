package matching

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Profile is how those who recorded a trace travelled, which decides what network the trace is matched on and how
// people move there. The zero value is Car.
type Profile uint8

// The profiles. Their numbers are indexes.
const (
	Car Profile = iota
	Bicycle
	Foot
	profiles
)

// profileNames are the words for profiles in configurations and requests.
var profileNames = [profiles]string{Car: "car", Bicycle: "bicycle", Foot: "foot"}

// String is the profile's name in configurations and requests.
func (p Profile) String() string { return profileNames[p] }

// Profiles are all profiles, in their order.
func Profiles() []Profile { return []Profile{Car, Bicycle, Foot} }

// ParseProfile finds a profile by its name. The error lists the names that there are.
func ParseProfile(name string) (Profile, error) {
	if i := slices.Index(profileNames[:], name); i >= 0 {
		return Profile(i), nil
	}
	return 0, fmt.Errorf("%q is not known; there are %s", name, strings.Join(profileNames[:], ", "))
}

// Answering is what a Matcher implements that does not answer for every profile.
type Answering interface {
	// Answers reports whether the matcher has a network for a profile.
	Answers(p Profile) bool
}

// Answers reports whether a Matcher answers for a profile. One that does not say so answers for all.
func Answers(m Matcher, p Profile) bool {
	some, ok := m.(Answering)
	return !ok || some.Answers(p)
}

// travelMode is how people move in one profile, as far as the model goes by it.
type travelMode struct {
	// network is whose sections of a region file the profile reads.
	network region.Modes
	// maxSpeedFactor is how many times faster than the network's free speed people move at most.
	maxSpeedFactor float64
	// timeSpeed is the speed in metres per second at which time and length count the same in a route. Where all roads of a
	// network are equally fast this has to be their speed: time then says nothing that the length does not.
	timeSpeed float64
	// A route between two points is longer than the straight line between them by a difference that is exponentially
	// distributed. Its mean is baseDetour, in metres, and shareDetour of the distance: between points that are far apart a
	// road has more bends. Paths lie closer together than streets, so that a detour of some metres is another path.
	baseDetour, shareDetour float64
	// turnBack is what turning round on a road costs, in nats. Walkers turn round anywhere.
	turnBack float64
	// deadEnd is what it costs where the road ends.
	deadEnd float64
}

// travelModes are the constants of each profile.
var travelModes = [profiles]travelMode{
	Car: {network: region.Car, maxSpeedFactor: 1.6, timeSpeed: 26, baseDetour: 35, shareDetour: 0.13, turnBack: 15,
		deadEnd: 4},
	// The network says 16 km/h. Downhill, or with a motor, it is 45.
	Bicycle: {network: region.Bicycle, maxSpeedFactor: 2.8, timeSpeed: 16 / 3.6, baseDetour: 30, shareDetour: 0.13,
		turnBack: 15, deadEnd: 4},
	// The network says 5 km/h. Those who run are on foot, too, at 15.
	Foot: {network: region.Foot, maxSpeedFactor: 3, timeSpeed: 5 / 3.6, baseDetour: 16, shareDetour: 0.2, turnBack: 6,
		deadEnd: 0},
}

// Networks are the road graphs of a region by Profile; nil where there is none.
type Networks [profiles]*roadgraph.Graph

// OpenNetworks finds the networks of all profiles in a region file. It costs the same whatever the region's size, and
// no memory but what requests read.
func OpenNetworks(f *region.File) (n Networks, err error) {
	for p := range n {
		if n[p], err = roadgraph.OpenMode(f, travelModes[p].network); err != nil {
			return Networks{}, err
		}
	}
	return n, nil
}
