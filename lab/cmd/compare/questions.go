package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/lab/dataset"
	"github.com/mapsedge/caddy-maps/lab/drives"
)

// question is one request.
type question struct {
	name string // in reports
	path string // and query
	body []byte // of a POST; nil for a GET
}

// kind is the questions of a kind.
type kind struct {
	name      string
	questions []question
}

// Streams of random numbers, each of which is a kind's own.
const (
	randomStream = iota
	roadsideStream
)

// randomPoints are positions anywhere in a box.
func randomPoints(box orb.Bound, n int, seed uint64) []orb.Point {
	random := rand.New(rand.NewPCG(seed, randomStream))
	points := make([]orb.Point, n)
	for i := range points {
		points[i] = orb.Point{
			box.Min.Lon() + random.Float64()*(box.Max.Lon()-box.Min.Lon()),
			box.Min.Lat() + random.Float64()*(box.Max.Lat()-box.Min.Lat()),
		}
	}
	return points
}

// roadside is how far from its road a position is at most, in metres.
const roadside = 30.0

// roadsidePoints are positions beside roads of all modes, each mode in turn.
func roadsidePoints(networks matching.Networks, n int, seed uint64) (points []orb.Point) {
	random := rand.New(rand.NewPCG(seed, roadsideStream))
	var edges [len(matching.Networks{})][]uint32
	any := false
	for p, g := range networks {
		if g != nil {
			edges[p] = slices.Collect(g.Edges())
		}
		any = any || len(edges[p]) > 0
	}
	for i := 0; any && len(points) < n; i++ {
		p := i % len(networks)
		if len(edges[p]) == 0 {
			continue
		}
		edge := edges[p][random.IntN(len(edges[p]))]
		length := float64(networks[p].Edge(edge).Length) / 1000
		on := networks[p].At(edge, random.Float64()*length)
		away, angle := random.Float64()*roadside, random.Float64()*2*math.Pi
		points = append(points, drives.Moved(on, away*math.Cos(angle), away*math.Sin(angle)))
	}
	return points
}

// reverseQuestions ask what is at positions.
func reverseQuestions(points []orb.Point) []question {
	questions := make([]question, len(points))
	for i, p := range points {
		at := fmt.Sprintf("lat=%.6f&lon=%.6f", p.Lat(), p.Lon())
		questions[i] = question{name: at, path: "/v2/search/reverse-geocoding?" + at + "&size=5"}
	}
	return questions
}

// geometryQuestions are one in ten of those questions again, for the geometries of the places, which may be long.
func geometryQuestions(kinds ...kind) []question {
	var questions []question
	for _, k := range kinds {
		for i := 0; i < len(k.questions); i += 10 {
			q := k.questions[i]
			q.path += "&geometry=true"
			questions = append(questions, q)
		}
	}
	return questions
}

// trace is a recorded drive.
type trace struct {
	name   string
	points orb.LineString
	times  []float64
	radius float64
}

// given are the traces of the files that the flags name.
func (s *settings) given() (traces []trace, err error) {
	if s.trips != "" {
		trips, err := drives.ReadTrips(s.trips)
		if err != nil {
			return nil, err
		}
		for i, trip := range trips {
			traces = append(traces, trace{name: fmt.Sprintf("trip %d", i), points: trip})
		}
	}
	if s.drives != "" {
		given, err := drives.ReadDrives(s.drives)
		if err != nil {
			return nil, err
		}
		traces = append(traces, named("drive", given)...)
	}
	return traces, nil
}

// simulated are drives on a network.
func (s *settings) simulated(ctx context.Context, n *dataset.Network) ([]trace, error) {
	if s.simulate == 0 {
		return nil, nil
	}
	made, err := drives.Recipe{}.Simulate(ctx, n.Graph, s.simulate, s.seed)
	return named("simulated drive", made), err
}

func named(name string, made []drives.Drive) (traces []trace) {
	for i, d := range made {
		traces = append(traces, trace{name: fmt.Sprintf("%s %d (σ %v m, %v s)", name, i, d.Sigma, d.Interval),
			points: d.Trace, times: d.Times, radius: d.Sigma})
	}
	return traces
}

// within are the traces that come into a box.
func within(box orb.Bound, traces []trace) []trace {
	return slices.DeleteFunc(slices.Clone(traces), func(t trace) bool { return !t.points.Bound().Intersects(box) })
}

// matchQuestions ask for the drives behind traces, by each profile.
func matchQuestions(traces []trace) (kinds []kind) {
	for _, profile := range matching.Profiles() {
		k := kind{name: "matches by " + profile.String()}
		for i := range traces {
			k.questions = append(k.questions, question{name: traces[i].name,
				path: "/api/route/matching/", body: traces[i].request(profile.String())})
		}
		kinds = append(kinds, k)
	}
	return kinds
}

// request is the body of a request to match a trace.
func (t *trace) request(profile string) []byte {
	type position struct {
		Lat  float64  `json:"lat"`
		Lng  float64  `json:"lng"`
		Time *float64 `json:"time,omitempty"`
	}
	body := struct {
		Path    []position `json:"path"`
		Radius  float64    `json:"radius,omitempty"`
		Details bool       `json:"details"`
		Profile string     `json:"profile"`
	}{Radius: t.radius, Details: true, Profile: profile}
	for i, p := range t.points {
		at := position{Lat: p.Lat(), Lng: p.Lon()}
		if t.times != nil {
			at.Time = &t.times[i]
		}
		body.Path = append(body.Path, at)
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // it has only numbers and text
	}
	return text
}
