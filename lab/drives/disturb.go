package drives

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/paulmach/orb"
)

// Disturbance is something that happens to real traces beside noise.
type Disturbance struct {
	Name string
	// apply changes a trace at a position.
	apply func(d *Drive, at int, random *rand.Rand)
}

// What the disturbances are like.
const (
	outlierDistance = 90.0 // metres
	stopPositions   = 40
	stopSigma       = 12.0 // metres
)

// The disturbances.
var (
	// Outlier moves one position far off, to one side of the drive.
	Outlier = Disturbance{fmt.Sprintf("one position %.0f m off", outlierDistance), outlier}
	// Stop stays at a position for a while, where a cloud of positions arises.
	Stop = Disturbance{fmt.Sprintf("a stop of %d positions, σ %.0f m", stopPositions, stopSigma), stop}
)

func outlier(d *Drive, at int, random *rand.Rand) {
	before, after := d.Trace[max(at-1, 0)], d.Trace[min(at+1, len(d.Trace)-1)]
	side := outlierDistance * float64(1-2*random.IntN(2))
	d.Trace[at] = aside(d.Trace[at], before, after, side)
}

func stop(d *Drive, at int, random *rand.Rand) {
	var cloud orb.LineString
	for range stopPositions {
		cloud = append(cloud, Noisy(d.Trace[at], stopSigma, random))
	}
	d.Trace = slices.Insert(d.Trace, at+1, cloud...)
}

// At is a drive disturbed at a position of its trace. The drive itself stays as it is.
func (b Disturbance) At(d Drive, at int, random *rand.Rand) Drive {
	d.Trace = slices.Clone(d.Trace)
	b.apply(&d, at, random)
	return d
}

// All disturbs each of some drives at a random position, not the first or the last one.
func (b Disturbance) All(drives []Drive, seed uint64) []Drive {
	disturbed := make([]Drive, len(drives))
	for i, d := range drives {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		disturbed[i] = b.At(d, 1+random.IntN(len(d.Trace)-2), random)
	}
	return disturbed
}

// aside is a position at so many metres to the left of the direction from one position to another; of north where those
// are the same.
func aside(p, from, to orb.Point, metres float64) orb.Point {
	perLon := degree * math.Cos(p.Lat()*math.Pi/180)
	east, north := (to.Lon()-from.Lon())*perLon, (to.Lat()-from.Lat())*degree
	length := math.Hypot(east, north)
	if length == 0 {
		north, length = 1, 1
	}
	return orb.Point{p.Lon() - metres*north/length/perLon, p.Lat() + metres*east/length/degree}
}
