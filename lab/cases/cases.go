// Package cases finds drives on a map that are hard to match, each for one reason, such as parallel roads or
// roundabouts. It does not match them. Start with Find.
package cases

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/lab/drives"
)

// Case is a drive, and the place of it that shows what is hard.
type Case struct {
	Name  string // of a file, without its ending
	Title string
	drives.Drive
	Center orb.Point
}

// kind is a kind of hard cases.
type kind struct {
	name, title string
	cell        drives.Cell
	// find is a place of the kind on a route; ok is false where it has none.
	find func(f *finder, arcs []uint32) (center orb.Point, ok bool)
	// disturbance makes the case where noise alone does not.
	disturbance *drives.Disturbance
}

var kinds = []kind{
	{"outlier", "One position 90 m off", drives.Cell{Sigma: 5, Interval: 5}, (*finder).crowded, &drives.Outlier},
	{"stop", "A stop: forty positions at one place", drives.Cell{Sigma: 6, Interval: 5}, (*finder).crowded, &drives.Stop},
	{"parallel", "Roads side by side", drives.Cell{Sigma: 10, Interval: 5}, (*finder).parallel, nil},
	{"roundabout", "A roundabout", drives.Cell{Sigma: 8, Interval: 5}, (*finder).roundabout, nil},
	{"dense", "A position each second, with 20 m of noise", drives.Cell{Sigma: 20, Interval: 1}, (*finder).crowded, nil},
	{"one-way", "A one-way street that noise seems to ride back", drives.Cell{Sigma: 10, Interval: 1},
		(*finder).oneWay, nil},
}

// attempts is the number of random routes that are looked at for each kind.
const attempts = 2000

// Find finds a case of each kind: the first random route that has such a place, matched correctly or not. The
// same graph and seed give the same cases.
func Find(g *roadgraph.Graph, seed uint64) ([]Case, error) {
	var found []Case
	for i, k := range kinds {
		f := &finder{graph: g, random: rand.New(rand.NewPCG(seed, uint64(i)))}
		c, ok := f.first(&k)
		if !ok {
			return nil, fmt.Errorf("no case %q on this map", k.name)
		}
		found = append(found, c)
	}
	return found, nil
}

// finder looks for cases of one kind.
type finder struct {
	graph  *roadgraph.Graph
	random *rand.Rand
}

func (f *finder) first(k *kind) (Case, bool) {
	router := drives.NewRouter(f.graph)
	for range attempts {
		route, ok := router.RandomRoute(1, f.random)
		if !ok || len(route.Arcs) < 8 {
			continue
		}
		center, ok := k.find(f, route.Arcs[3:len(route.Arcs)-3]) // away from its ends
		if !ok {
			continue
		}
		c := Case{Name: k.name, Title: k.title, Center: center}
		c.Drive = router.Record(route, k.cell, f.random)
		if k.disturbance != nil {
			at := nearestTo(c.Trace, center)
			c.Center = c.Trace[at]
			c.Drive = k.disturbance.At(c.Drive, at, f.random)
		}
		return c, true
	}
	return Case{}, false
}

// around are the roads within a number of metres of a place.
func (f *finder) around(p orb.Point, metres float64) []roadgraph.Hit {
	return f.graph.Near(p.Lat(), p.Lon(), metres, nil)
}

// middle is the middle of an arc, and the direction there in radians, counted from east to north.
func (f *finder) middle(arc uint32) (at orb.Point, direction float64) {
	edge, forward := f.graph.EdgeOf(arc)
	length := float64(f.graph.Edge(edge).Length) / 1000
	at, direction = f.along(edge, length/2)
	if !forward {
		direction += math.Pi
	}
	return at, direction
}

// along is a place on an edge, and the edge's direction there.
func (f *finder) along(edge uint32, metres float64) (at orb.Point, direction float64) {
	a, b := f.graph.At(edge, metres-2), f.graph.At(edge, metres+2)
	east := (b.Lon() - a.Lon()) * math.Cos(a.Lat()*math.Pi/180)
	return f.graph.At(edge, metres), math.Atan2(b.Lat()-a.Lat(), east)
}
