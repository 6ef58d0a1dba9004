package service_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/service"
	"github.com/mapsedge/caddy-maps/lab/service/servicetest"
)

// along is a line through places given as x, y, x, y, … in metres.
func along(xy ...float64) (line orb.LineString) {
	for i := 0; i+1 < len(xy); i += 2 {
		line = append(line, roadgraphtest.At(xy[i], xy[i+1]))
	}
	return line
}

// town has two streets, of which one is nearer, and a road between them.
func town(t *testing.T) *matching.Local {
	town := &roadgraphtest.Town{}
	south, corner, north := town.Node(0, 0), town.Node(500, 0), town.Node(500, 60)
	town.Road("South", south, corner, town.Node(1000, 0))
	town.Road("North", town.Node(0, 60), north, town.Node(1000, 60))
	town.Road("Rung", corner, north)
	return matching.New(town.Open(t), matching.Options{})
}

// The answers of an engine behind an endpoint are its own, as exact as the API has them.
func TestMatch(t *testing.T) {
	engine := town(t)
	behind := service.New(servicetest.Start(t, engine))
	drive := along(100, 3, 200, -4, 300, 5, 400, 2, 510, 40, 600, 55, 700, 900, 800, 62)
	timed := drives.Points(drive)
	for i := range timed {
		timed[i].Time = 1.7e9 + 10.5*float64(i)
	}
	for name, req := range map[string]*matching.Request{
		"plain":              {Points: drives.Points(drive), Details: true},
		"a radius":           {Points: drives.Points(drive), Details: true, Radius: 25},
		"times":              {Points: timed, Details: true},
		"far from all roads": {Points: drives.Points(along(100, 9000, 700, 9000)), Details: true},
	} {
		t.Run(name, func(t *testing.T) {
			want, failed := engine.Match(context.Background(), req)
			got, err := behind.Match(context.Background(), req)
			if failed != nil {
				if !errors.Is(failed, matching.ErrNoRoute) || !errors.Is(err, matching.ErrNoRoute) {
					t.Errorf("%v, want %v", err, failed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]orb.Point(want.Path), []orb.Point(got.Path), cmp.Comparer(near)); diff != "" {
				t.Errorf("path (-want +got):\n%s", diff)
			}
			if math.Abs(got.Distance-want.Distance) > 0.006 || math.Abs(got.Duration-want.Duration) > 0.06 ||
				math.Abs(got.Confidence-want.Confidence) > 6e-5 {
				t.Errorf("%v m, %v s, confidence %v, want %v, %v, %v", got.Distance, got.Duration, got.Confidence,
					want.Distance, want.Duration, want.Confidence)
			}
			matched := cmp.Comparer(func(a, b matching.Tracepoint) bool { return a.Matched == b.Matched })
			if diff := cmp.Diff(want.Tracepoints, got.Tracepoints, matched); diff != "" {
				t.Errorf("tracepoints (-want +got):\n%s", diff)
			}
		})
	}
}

// near reports whether positions are the same in seven decimals.
func near(a, b orb.Point) bool { return math.Abs(a[0]-b[0]) < 1e-7 && math.Abs(a[1]-b[1]) < 1e-7 }

type matcherFunc func(req *matching.Request) (*matching.Result, error)

func (f matcherFunc) Match(_ context.Context, req *matching.Request) (*matching.Result, error) {
	return f(req)
}

// What is asked for arrives, and an answer without a confidence has none.
func TestRequest(t *testing.T) {
	points := drives.Points(along(0, 0, 100, 0))
	points[1].Time = 12.25
	want := &matching.Request{Points: points, Profile: matching.Foot, Radius: 12.5, Details: true}
	var asked *matching.Request
	behind := service.New(servicetest.Start(t, matcherFunc(func(req *matching.Request) (*matching.Result, error) {
		asked = req
		return &matching.Result{Path: along(0, 0, 100, 0), Confidence: math.NaN()}, nil
	})))
	got, err := behind.Match(context.Background(), want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, asked, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if !math.IsNaN(got.Confidence) {
		t.Errorf("confidence %v", got.Confidence)
	}
}

// What is not an answer about the trace is an error that tells what it is, and no drive that was lost.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   string
	}{
		{422, `{"error":{"code":"InvalidInput","message":"path: no","status":422}}`, "status 422: InvalidInput: path: no"},
		{502, `{"error":{"code":"BadGateway","message":"bad gateway","status":502}}`, "status 502: BadGateway: bad gateway"},
		{404, `<html>`, "status 404: "},
		{200, `{"coordinates":[`, "status 200: "},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		}))
		req := &matching.Request{Points: drives.Points(along(0, 0, 100, 0))}
		_, err := service.New(server.URL).Match(context.Background(), req)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || errors.Is(err, matching.ErrNoRoute) {
			t.Errorf("%d %s: %v", tt.status, tt.body, err)
		}
		server.Close()
		if _, err := service.New(server.URL).Match(context.Background(), req); err == nil {
			t.Error("a server that is not there answers")
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	behind := service.New(servicetest.Start(t, town(t)))
	req := &matching.Request{Points: drives.Points(along(0, 0, 100, 0))}
	if _, err := behind.Match(ctx, req); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
