package guidance

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// The thresholds of guidance. Lengths are metres, angles degrees.
const (
	// Turns of less than straight go straight on; those of less than slight are slight; those of more than sharp, sharp.
	// These are OSRM's.
	straight, slight, sharp = 20.0, 40.0, 120.0
	// bend is the most that a road turns where it obviously goes on. A larger turn is told unless only driveways leave
	// there: drivers slow down for it.
	bend = 60.0
	// distinct is how much more than the road that goes on another road has to turn not to be confused with it.
	distinct = 45.0
	// smaller is how many classes lower a road is that is not taken for the one that goes on.
	smaller = 2
	// forking is the most that a branch of a fork turns. More is a turn.
	forking = 50.0
	// crossing is the least that both sides of a T junction turn, and the most is 180° less that.
	crossing = 50.0
	// merging is the most that traffic turns on a road that others join.
	merging = 45.0
	// slipRoad is the length of a link that only cuts the corner of a junction: the whole is one turn.
	slipRoad = 80.0
	// oneManeuver is the width of a dual carriageway: two turns with less between them are one.
	oneManeuver = 30.0
	// turningBack is the least that two such turns to the same side add up to if they lead back.
	turningBack = 150.0
	// A ring with a radius up to miniature whose arms are at right angles, rightAngle more or less, is driven through
	// like a crossing; from rotaryRadius on it is a rotary.
	miniature, rightAngle, rotaryRadius = 15.0, 25.0, 60.0
	// ringEdges bounds the walk round a ring.
	ringEdges = 64
	// nameReach is how far along a nameless road its step takes a name: short links have none.
	nameReach = 50.0
	// beside is the least distance of a destination from the road for which its side is told: nearer ones are on it.
	beside = 5.0
	// summaryRoads is the most roads that a summary names; all but the first take at least summaryShare of the time.
	summaryRoads, summaryShare = 3, 0.1
)

// Types of maneuvers, in OSRM's words.
const (
	depart         = "depart"
	arrive         = "arrive"
	turn           = "turn"
	newName        = "new name"
	goOn           = "continue"
	merge          = "merge"
	onRamp         = "on ramp"
	offRamp        = "off ramp"
	fork           = "fork"
	endOfRoad      = "end of road"
	roundabout     = "roundabout"
	rotary         = "rotary"
	roundaboutTurn = "roundabout turn"
	exitRoundabout = "exit roundabout"
	exitRotary     = "exit rotary"
	notification   = "notification" // another mode of travel
)

// direction is a modifier of a maneuver.
type direction int8

const (
	noDirection direction = iota
	sharpLeft
	left
	slightLeft
	straightOn
	slightRight
	right
	sharpRight
	uTurn
)

// directions are OSRM's names.
var directions = [...]string{"", "sharp left", "left", "slight left", "straight", "slight right", "right",
	"sharp right", "uturn"}

// directionOf returns the direction of a turn.
func directionOf(angle float64) direction {
	by := direction(0)
	switch size := math.Abs(angle); {
	case size > sharp:
		by = 3
	case size > slight:
		by = 2
	case size > straight:
		by = 1
	}
	if angle < 0 {
		by = -by
	}
	return straightOn + by
}

// maneuver is what a traveller does at a junction.
type maneuver struct {
	count    int    // of roads
	kind     string // a type of OSRM's; empty if there is nothing to tell
	modifier direction
	exit     int // of a roundabout
	named    int // the state that has the name of the step
	signs    int // the state that has the signposts
	ring     int // the state on a rotary whose name is the rotary's; 0 for none
}

// classify finds the maneuver where state i begins, from the roads there.
func (d *describer) classify(i int) {
	j := &d.at[i]
	in, out := j.from(), j.to()
	j.named, j.signs, j.modifier = i, i, directionOf(out.angle)
	switch {
	case j.in == j.out:
		j.kind, j.modifier = goOn, uTurn
	case out.is(roadgraph.Ferry) != in.is(roadgraph.Ferry):
		if !out.is(roadgraph.Ferry) {
			d.turn(j, in, out)
		}
		if j.kind == "" {
			j.kind = notification
		}
	case out.is(roadgraph.Roundabout) != in.is(roadgraph.Roundabout):
		if j.kind = exitRoundabout; out.is(roadgraph.Roundabout) {
			j.kind = roundabout
		}
	case !in.is(roadgraph.Roundabout):
		d.turn(j, in, out)
	}
}

// turn finds the maneuver at a junction without a roundabout.
func (d *describer) turn(j *junction, in, out *road) {
	obvious, rivals, minor := true, 0, 0
	branches, before := 0, 0 // of a fork, and how many are left of the path's
	for i := range j.roads {
		r := &j.roads[i]
		if i == j.in || i == j.out || !r.allowed {
			continue
		}
		if rivals++; d.isMinor(r) {
			minor++
		}
		if d.competes(in, out, r) {
			obvious = false
			if math.Abs(r.angle) < forking {
				if branches++; r.angle < out.angle {
					before++
				}
			}
		}
	}
	by := math.Abs(out.angle)
	link := out.is(roadgraph.Link) && !in.is(roadgraph.Link)
	switch {
	case d.merges(j, in, out):
		j.kind = merge
	case obvious && (by < bend || len(j.roads) == 2 || rivals > 0 && rivals == minor && in.sameName(out)):
		if by >= straight && len(j.roads) > 2 && in.Name != 0 && out.Name != 0 && !in.sameName(out) {
			j.kind = newName
		}
	case d.Mode == Driving && link && (in.isHighway() || out.Class <= region.Trunk):
		if j.kind = onRamp; in.isHighway() {
			j.kind = offRamp
		}
		if branches > 0 && by < slight {
			j.modifier = side(before, branches)
		}
	case branches > 0 && branches < 3 && by < forking:
		j.kind, j.modifier = fork, side(before, branches)
	case endsRoad(j) && !in.sameName(out):
		j.kind = endOfRoad
	case in.sameName(out):
		j.kind = goOn
	default:
		j.kind = turn
	}
}

// side returns the direction of a branch that has some of the others on its left.
func side(before, others int) direction {
	switch before {
	case 0:
		return slightLeft
	case others:
		return slightRight
	}
	return straightOn
}

// competes reports whether a traveller might take another road for the one that goes on.
func (d *describer) competes(in, out, other *road) bool {
	a, b := math.Abs(out.angle), math.Abs(other.angle)
	isLink, otherIsLink := out.is(roadgraph.Link), other.is(roadgraph.Link)
	same, otherSame := in.sameName(out), in.sameName(other)
	switch {
	case isLink && !otherIsLink && d.Mode == Driving:
		return true
	case d.isMinor(other) && !d.isMinor(out):
		return false
	case otherIsLink && !isLink && !in.is(roadgraph.Link) && d.Mode == Driving:
		return false
	case other.Class == in.Class && d.isSmaller(out, other):
		return true // the larger road turns off
	case d.isSmaller(other, out) && a < slight:
		return false
	case a < straight && b >= slight || a < slight && b >= a+distinct:
		return otherSame && !same && b < bend
	case same && !otherSame && other.Class >= out.Class && a < slight:
		return a > b+straight/2
	}
	return true
}

// isMinor reports whether a road is one that does not count beside others.
func (d *describer) isMinor(r *road) bool {
	if d.Mode == Walking {
		return false
	}
	private := roadgraph.DestinationOnlyForward
	if r.Arc&1 == 1 {
		private = roadgraph.DestinationOnlyBackward
	}
	return r.Class == region.Service || r.Class == region.Track || r.is(private) ||
		d.Mode == Cycling && r.Class == region.Footway
}

// isSmaller reports whether a road is much smaller than another one.
func (d *describer) isSmaller(r, than *road) bool {
	return d.Mode == Driving && r.Class >= than.Class+smaller
}

// merges reports whether the path joins the traffic of another road, and sets on which side that is.
func (d *describer) merges(j *junction, in, out *road) bool {
	if d.Mode != Driving || out.is(roadgraph.Link) || math.Abs(out.angle) >= bend ||
		!in.is(roadgraph.Link) && (!in.isHighway() || !out.isHighway() || in.sameName(out)) {
		return false
	}
	for i := range j.roads {
		r := &j.roads[i]
		if i == j.in || i == j.out || !r.arrives() || r.leaves() || r.is(roadgraph.Link) {
			continue
		}
		if math.Abs(r.turnTo(out)) < merging {
			if j.modifier = slightRight; r.angle < 0 {
				j.modifier = slightLeft
			}
			return true
		}
	}
	return false
}

// endsRoad reports whether the path comes to a T junction.
func endsRoad(j *junction) bool {
	if len(j.roads) != 3 {
		return false
	}
	sum := 0.0
	for i := range j.roads {
		if a := j.roads[i].angle; i != j.in {
			if math.Abs(a) < crossing || math.Abs(a) > 180-crossing {
				return false
			}
			sum += math.Copysign(1, a)
		}
	}
	return sum == 0
}

// takeRoundabouts makes one maneuver of each roundabout, and a second one where the path leaves it.
func (d *describer) takeRoundabouts() {
	for i := 1; i < len(d.at); i++ {
		entry := &d.at[i]
		if entry.kind != roundabout {
			continue
		}
		ring, last := entry.to(), i
		exit, exits := (*junction)(nil), 0
		for k := i + 1; k < len(d.at) && exit == nil; k++ {
			if exits += d.exits(&d.at[k]); d.at[k].kind == exitRoundabout {
				exit, last = &d.at[k], k
			}
		}
		walk := d.walkRing(ring.Arc)
		if exit == nil {
			if walk.radius >= rotaryRadius {
				entry.kind = rotary
			}
			continue
		}
		entry.exit, entry.named, entry.signs = max(exits, 1), last, last
		named := ring.Name != 0 && !ring.sameName(entry.from()) && !ring.sameName(exit.to())
		switch {
		case walk.isCrossing && !named:
			entry.kind, exit.kind = roundaboutTurn, ""
			entry.modifier = directionOf(entry.from().turnTo(exit.to()))
			if exit.to().Arc == entry.from().Arc {
				entry.modifier = uTurn
			}
		case named || walk.radius >= rotaryRadius:
			entry.kind, exit.kind = rotary, exitRotary
			if named {
				entry.ring = i
			}
		}
	}
}

// exits returns the number of ways to leave a roundabout at a junction on it. Driveways do not count, unless the path
// takes one.
func (d *describer) exits(j *junction) (n int) {
	for i := range j.roads {
		if r := &j.roads[i]; i != j.in && r.allowed && !r.is(roadgraph.Roundabout) && (i == j.out || !d.isMinor(r)) {
			n++
		}
	}
	return n
}

// ringWalk is what a walk round a roundabout has found.
type ringWalk struct {
	radius     float64 // metres; 0 if the ring is not closed
	isCrossing bool    // four arms at right angles on a small ring
}

// walkRing walks round a roundabout, from the beginning of an arc back to there.
func (d *describer) walkRing(start uint32) (w ringWalk) {
	var arms [4]float64
	n, metres := 0, 0.0
	for state, edges := start, 0; edges < ringEdges; edges++ {
		metres += float64(d.Length(state)) / 1000
		d.turns = d.Turns(state, d.turns[:0])
		roads := d.junctions.Meeting(d.Graph, d.Arc(state).Head)
		next, found := uint32(0), false
		for _, t := range d.turns {
			arc := d.ArcOf(t.To)
			switch traits := d.Traits(arc >> 1); {
			case t.Angle == roadgraph.TurningBack:
			case traits.Flags.Has(roadgraph.Roundabout):
				next, found = arc, true
			case traits.Class != region.Service:
				if n < len(arms) {
					i := slices.IndexFunc(roads, func(l roadgraph.Leaving) bool { return l.Arc == arc })
					arms[n] = float64(roads[i].Bearing)
				}
				n++
			}
		}
		if !found {
			return w
		}
		if state = next; state == start {
			w.radius = metres / 2 / math.Pi
			slices.Sort(arms[:])
			w.isCrossing = n == len(arms) && w.radius <= miniature
			for i := range arms {
				gap := math.Mod(arms[(i+1)%len(arms)]-arms[i]+360, 360)
				w.isCrossing = w.isCrossing && math.Abs(gap-90) <= rightAngle
			}
			return w
		}
	}
	return w
}

// between returns the metres from where one state begins to where a later one does.
func (d *describer) between(i, k int) (metres float64) {
	for _, l := range d.lengths[i:k] {
		metres += l
	}
	return metres
}

// takeSlipRoads makes one turn of a link that cuts the corner of a junction.
func (d *describer) takeSlipRoads() {
	for i := 1; i < len(d.at); i++ {
		j := &d.at[i]
		if j.kind == "" || j.from().is(roadgraph.Link) || !j.to().is(roadgraph.Link) {
			continue
		}
		for k := i + 1; k < len(d.at) && d.between(i, k) <= slipRoad; k++ {
			end := &d.at[k]
			if end.to().is(roadgraph.Link) {
				continue
			}
			by := j.from().turnTo(end.to())
			if math.Abs(by) < slight || j.from().Class == region.Motorway || end.to().Class == region.Motorway ||
				end.kind == roundabout || end.kind == notification {
				break
			}
			if j.kind = turn; j.from().sameName(end.to()) {
				j.kind = goOn
			}
			j.modifier, j.named = directionOf(by), k
			d.silence(i+1, k)
			break
		}
	}
}

// silence removes the maneuvers from state i to state k.
func (d *describer) silence(i, k int) {
	for ; i <= k; i++ {
		d.at[i].kind = ""
	}
}

// isTurn reports whether a maneuver is a turn at a plain junction.
func (m *maneuver) isTurn() bool {
	switch m.kind {
	case turn, goOn, endOfRoad, newName, fork:
		return m.modifier != uTurn
	}
	return false
}

// join makes one maneuver of two turns that a driver takes as one: back on the other carriageway, straight on where
// the arms of a crossing are staggered, and turns around the islands of large junctions.
func (d *describer) join() {
	before := 0
	for k := 1; k < len(d.at); k++ {
		if d.at[k].kind == "" {
			continue
		}
		i := before
		before = k
		if i == 0 || !d.at[i].isTurn() || !d.at[k].isTurn() || d.between(d.at[i].named, k) > oneManeuver {
			continue
		}
		a, b := &d.at[i], &d.at[k]
		by := a.from().turnTo(b.to())
		first, second := a.to().angle, b.to().angle
		same := a.from().sameName(b.to())
		ofItsOwn := a.to().Name != 0 && !a.to().sameName(a.from()) && !a.to().sameName(b.to())
		switch {
		case same && math.Abs(by) >= turningBack && (first < 0) != d.LeftDriving && (second < 0) != d.LeftDriving:
			a.kind, a.modifier = goOn, uTurn
		case same && math.Abs(by) <= straight && first*second < 0:
			a.kind = ""
		case !ofItsOwn && math.Min(math.Abs(first), math.Abs(second)) <= slight && math.Abs(by) > straight:
			if a.kind == fork || a.kind == newName {
				a.kind = b.kind
			}
			a.modifier = directionOf(by)
		default:
			continue
		}
		a.named, b.kind, before = k, "", i
	}
}
