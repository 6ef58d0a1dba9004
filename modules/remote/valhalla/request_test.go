package valhalla

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

type traceOptions struct {
	SearchRadius          *float64 `json:"search_radius"`
	TurnPenaltyFactor     float64  `json:"turn_penalty_factor"`
	InterpolationDistance float64  `json:"interpolation_distance"`
}

// What is asked for in the first request for a trace of six points.
func TestBody(t *testing.T) {
	unlimited, none := math.Inf(1), math.NaN()
	radius := func(metres float64) *float64 { return &metres }
	for _, tt := range []struct {
		name           string
		step           float64 // degrees of latitude between points, 0.001 being 111.2 m
		radius, max    float64
		limit          float64
		accuracies     []float64 // of the first points
		wide           bool
		want           traceOptions
		wantAccuracies []float64 // of all points, 0 where none is sent
		asked          float64
	}{
		{"nothing is said", 0.001, 0, 0, unlimited, nil, false, traceOptions{radius(50), 100, 0}, nil, 50},
		{"wide", 0.001, 0, 0, unlimited, nil, true, traceOptions{radius(100), 100, 0}, nil, 100},
		{"exact points", 0.001, 1, 0, unlimited, nil, false, traceOptions{radius(50), 50, 0}, nil, 50},
		{"a radius", 0.002, 20, 0, unlimited, nil, false, traceOptions{radius(80), 200, 0}, nil, 80},
		{"a radius and dense points", 0.0002, 10, 0, unlimited, nil, false, traceOptions{radius(50), 100, 55}, nil, 50},
		{"the longest interpolation", 0.0001, 40, 0, unlimited, nil, false, traceOptions{radius(100), 400, 120}, nil, 100},
		{"as far as the request allows", 0.001, 0, 30, unlimited, nil, true, traceOptions{radius(30), 100, 0}, nil, 30},
		{"as far as the service allows", 0.001, 0, 300, 100, nil, true, traceOptions{radius(100), 100, 0}, nil, 100},
		{"no radius for the service", 0.001, 0, 300, 0, []float64{60}, true, traceOptions{nil, 100, 0}, nil, 0},
		{"one inexact point", 0.001, 0, 300, unlimited, []float64{60}, false, traceOptions{radius(50), 100, 0},
			[]float64{240, 0, 0, 0, 0, 0}, 240},
		{"one inexact point, as far as the request allows", 0.001, 0, 0, unlimited, []float64{none, 60, 5}, false,
			traceOptions{radius(50), 100, 0}, []float64{0, 100, 0, 0, 0, 0}, 100},
		{"one inexact point, as far as the service allows", 0.001, 0, 300, 150, []float64{60}, false,
			traceOptions{radius(50), 100, 0}, []float64{150, 0, 0, 0, 0, 0}, 150},
		{"half of the points say how exact they are", 0.001, 0, 300, unlimited, []float64{20, 20, 20}, false,
			traceOptions{radius(50), 100, 0}, []float64{80, 80, 80, 0, 0, 0}, 80},
		{"most of the points say how exact they are", 0.002, 0, 300, unlimited, []float64{30, 20, 40, 20}, false,
			traceOptions{radius(120), 300, 0}, []float64{0, 0, 160, 0, 0, 0}, 160},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := &matching.Request{Radius: tt.radius, MaxRadius: tt.max}
			var used []int
			for i := range 6 {
				used = append(used, i)
				p := trace.At(41+tt.step*float64(i), -8)
				p.Time = float64(i)
				if i < len(tt.accuracies) {
					p.Accuracy = tt.accuracies[i]
				}
				req.Points = append(req.Points, p)
			}
			q, sigma := newQuestion(req)
			body, asked := q.body("auto", used, remote.Terms{Sigma: sigma, Wide: tt.wide}, tt.limit)
			var got struct {
				Shape        []struct{ Lat, Lon, Accuracy float64 }
				TraceOptions traceOptions `json:"trace_options"`
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if diff := cmp.Diff(tt.want, got.TraceOptions); diff != "" || asked != tt.asked {
				t.Errorf("asked for %v m, want %v (-want +got):\n%s", asked, tt.asked, diff)
			}
			accuracies := make([]float64, 0, len(used))
			for _, p := range got.Shape {
				accuracies = append(accuracies, p.Accuracy)
			}
			if tt.wantAccuracies == nil {
				tt.wantAccuracies = make([]float64, len(used))
			}
			if diff := cmp.Diff(tt.wantAccuracies, accuracies); diff != "" {
				t.Errorf("accuracies (-want +got):\n%s", diff)
			}
		})
	}
}

// A wide search is worth asking for where it looks farther than the first one.
func TestCanWiden(t *testing.T) {
	for _, tt := range []struct {
		sigma, max, limit float64
		want              bool
	}{
		{10, 0, math.Inf(1), true}, {25, 0, math.Inf(1), false}, {25, 300, math.Inf(1), true}, {10, 50, math.Inf(1), false},
		{10, 300, 100, true}, {25, 300, 100, false}, {10, 0, 50, false}, {10, 0, 0, false},
	} {
		q, _ := newQuestion(&matching.Request{MaxRadius: tt.max})
		if got := q.canWiden(tt.sigma, tt.limit); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// A limit only falls, and says so once.
func TestLimit(t *testing.T) {
	var l limit
	if !math.IsInf(l.get(), 1) {
		t.Errorf("%v m at first", l.get())
	}
	for _, tt := range []struct {
		refused, known float64
		news           bool
	}{{100, 100, true}, {100, 100, false}, {50, 50, true}, {100, 50, false}, {0, 0, true}, {0, 0, false}} {
		if news := l.lower(tt.refused); news != tt.news || l.get() != tt.known {
			t.Errorf("%+v: %v, %v m", tt, news, l.get())
		}
	}
}

// Dense points that are said to be exact are not taken for that where their drive has a gap.
func TestGapSigma(t *testing.T) {
	for _, tt := range []struct{ step, sigma, want float64 }{{12, 5, 10}, {12, 20, 20}, {35, 5, 10}, {37, 5, 5}} {
		if got := (&question{step: tt.step}).gapSigma(tt.sigma); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
