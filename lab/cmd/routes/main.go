// Command routes compares routes between random places of a region file with those of a Valhalla server that has the
// same map, for each profile: the durations, and how many routes are the same road.
//
//	routes -valhalla http://localhost:8002 delaware.region
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
)

// sameRoad is the share of two lines that they have in common if they are the same road.
const sameRoad = 0.95

// costings are Valhalla's names of the profiles.
var costings = [...]string{"auto", "bicycle", "pedestrian"}

func main() {
	server := flag.String("valhalla", "http://localhost:8002", "`address` of Valhalla")
	pairs := flag.Int("pairs", 200, "`number` of pairs for each profile")
	seed := flag.Uint64("seed", 1, "of the pairs")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := compare(flag.Arg(0), *server, *pairs, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "routes:", err)
		os.Exit(1)
	}
}

func compare(path, server string, pairs int, seed uint64) error {
	file, err := region.Open(path)
	if err != nil {
		return err
	}
	defer file.Release()
	networks, err := matching.OpenNetworks(file)
	if err != nil {
		return err
	}
	engine := routing.NewEngine(file, networks[:]...)
	for i, name := range matching.Profiles() {
		mode := region.Modes(1) << i
		if !engine.Routes(mode) {
			continue
		}
		edges := slices.Collect(networks[i].Edges())
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		place := func() orb.Point { return networks[i].At(edges[r.IntN(len(edges))], 0) }
		var t tally
		for range pairs {
			if err := t.add(engine, mode, server, costings[i], place(), place()); err != nil {
				return err
			}
		}
		fmt.Println(name, t.String())
	}
	return nil
}

// tally is what pairs of routes have in common.
type tally struct {
	ratios       []float64 // of the durations
	ours, theirs float64   // seconds
	same         int
	missing      [2]int // routes that only the other engine has
}

func (t *tally) String() string {
	n := len(t.ratios)
	if n == 0 {
		return "no routes"
	}
	slices.Sort(t.ratios)
	return fmt.Sprintf("%d pairs: durations of Valhalla's: sum %.3f, median %.3f, 80%% within %.3f and %.3f; "+
		"same road %.1f%%; without a route: ours %d, Valhalla's %d", n, t.ours/t.theirs, t.ratios[n/2], t.ratios[n/10],
		t.ratios[n*9/10], 100*float64(t.same)/float64(n), t.missing[0], t.missing[1])
}

// add compares the routes between two places.
func (t *tally) add(engine *routing.Engine, mode region.Modes, server, costing string, from, to orb.Point) error {
	result, err := engine.Route(context.Background(), &routing.Request{Costs: routing.Costs{Profile: mode},
		Waypoints: []routing.Waypoint{routing.At(from), routing.At(to)}})
	if err != nil && !errors.Is(err, routing.ErrNoRoute) {
		return err
	}
	seconds, line, err := valhalla(server, costing, from, to)
	switch {
	case err != nil:
		return err
	case result == nil && line != nil:
		t.missing[0]++
	case result != nil && line == nil:
		t.missing[1]++
	case result != nil:
		ours := &result.Routes[0]
		if mismatch.Of(line, ours.Line).Right() >= sameRoad {
			t.same++
		}
		t.ours, t.theirs = t.ours+ours.Duration, t.theirs+seconds
		t.ratios = append(t.ratios, ours.Duration/max(seconds, 1))
	}
	return nil
}

// valhalla asks for a route. The line is nil if there is none.
func valhalla(server, costing string, from, to orb.Point) (seconds float64, line orb.LineString, err error) {
	body := fmt.Appendf(nil, `{"costing":%q,"directions_type":"none",
		"locations":[{"lat":%f,"lon":%f},{"lat":%f,"lon":%f}]}`, costing, from[1], from[0], to[1], to[0])
	resp, err := http.Post(server+"/route", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, nil, nil // there is none
	}
	var answer struct {
		Trip struct {
			Summary struct{ Time float64 }
			Legs    []struct{ Shape string }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, nil, err
	}
	if len(answer.Trip.Legs) != 1 {
		return 0, nil, fmt.Errorf("a route of Valhalla has %d legs", len(answer.Trip.Legs))
	}
	line, err = geo.DecodePolyline([]byte(answer.Trip.Legs[0].Shape), 1e6)
	return answer.Trip.Summary.Time, line, err
}
