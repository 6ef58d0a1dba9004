// Package guidance describes a route on a road graph as steps: what a traveller does where, as OSRM's API names it,
// and in sentences. Start with Steps.
package guidance

import (
	"sync"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Options say for whom Steps describes a path.
type Options struct {
	Mode        Mode   // Driving, Cycling or Walking
	Language    string // "de", "pt-BR", …; English, if there are no sentences in it
	LeftDriving bool   // whether vehicles drive on the left
	Final       bool   // whether the route ends where the path ends
	// Destination is the place to arrive at, which may be beside the road. Zero means the end of the line.
	Destination orb.Point
}

// Path is a route between two waypoints.
type Path struct {
	// States are the states that the route travels, one after the other; at least one. The route begins on the first one
	// and ends on the last one, not necessarily at their ends.
	States []uint32
	// Line is the geometry. It may be part of a longer one. The first coordinate of state i is Line[First[i]]; the last
	// coordinate of the last state is Line[First[len(States)]].
	Line  orb.LineString
	First []int
	// Durations are the seconds that each state takes, with the turn into it.
	Durations []float64
}

// Step is a part of a leg that begins with a maneuver.
type Step struct {
	Distance, Duration float64
	First, Last        int // indexes into Path.Line. The next step begins at Last
	Name, Ref          string
	Destinations       string // where signposts lead: "A 1, A 2: Hamburg, Berlin"
	Exits              string // numbers of motorway exits
	RotaryName         string
	Mode               Mode
	LeftDriving        bool // whether vehicles drive on the left
	Maneuver           Maneuver
	Instruction        string         // one sentence in the language of the request
	Intersections      []Intersection // at least one, the maneuver's
}

// Mode is how a step is travelled, in OSRM's words.
type Mode string

// The modes of steps.
const (
	Driving Mode = "driving"
	Cycling Mode = "cycling"
	Walking Mode = "walking"
	OnFerry Mode = "ferry"
	OnTrain Mode = "train"
)

// Maneuver is what a traveller does at the beginning of a step, in OSRM's vocabulary.
type Maneuver struct {
	Type     string // "depart", "turn", "fork", "roundabout", …, "arrive"
	Modifier string // "uturn", "sharp right", "right", "slight right", "straight", …; may be empty
	// BearingBefore and BearingAfter are degrees clockwise from north, 0 to 359.
	BearingBefore, BearingAfter int
	Exit                        int // of a roundabout, from 1 on; 0 for none
}

// Intersection is a place where roads meet on a step.
type Intersection struct {
	Index    int   // into Path.Line
	Bearings []int // of all roads there, ascending, degrees clockwise from north
	Entry    []bool
	In, Out  int // indexes into Bearings of the roads by which the route comes and goes; -1 for none
	Lanes    []Lane
	Classes  []string // of the road that follows: "toll", "ferry", "motorway", "tunnel"
}

// Lane is a lane of the road before an intersection, from left to right.
type Lane struct {
	Indications []string // "left", "straight", …
	Valid       bool     // whether the route may use it
}

// Steps describes a path: at least two steps, the first of which departs and the last of which arrives. It reads the
// region file.
func Steps(g *roadgraph.Graph, p *Path, o Options) []Step {
	d := describers.Get().(*describer)
	d.Graph, d.path, d.Options, d.signs = g, p, o, signs{}
	d.survey()
	for i := 1; i < len(p.States); i++ {
		d.classify(i)
	}
	d.takeRoundabouts()
	if o.Mode == Driving {
		d.takeSlipRoads()
	}
	if o.Mode != Walking {
		d.join()
	}
	steps := d.steps()
	d.Graph, d.path = nil, nil
	describers.Put(d) // not after a panic, which may leave it in any state
	return steps
}

var describers = sync.Pool{New: func() any { return new(describer) }}

// describer describes one path. Its memory is used again.
type describer struct {
	*roadgraph.Graph
	Options
	path *Path

	at      []junction // at[i] is where state i begins; at[0] is not used
	roads   []road     // of all junctions
	lengths []float64  // metres of each state
	signs   signs

	junctions roadgraph.Junctions
	turns     []roadgraph.Turn
	sentence  []byte
}
