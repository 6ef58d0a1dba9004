package valhallamatcher

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Whatever an upstream sends, it is refused, or it makes a drive on the globe with a tracepoint for every point.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../internal/testkit/testdata/valhalla/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		r := modulestest.ReadRecorded(f, file)
		var request struct{ Shape []struct{} }
		if err := json.Unmarshal(r.Request, &request); err != nil {
			f.Fatal(err)
		}
		f.Add(r.Status, []byte(r.Body), uint8(len(request.Shape)))
	}
	for _, parts := range []string{"aa", "-ab-bb", "abc"} {
		f.Add(200, []byte(modulestest.Matchings(parts)), uint8(len(parts)))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, n uint8) {
		req := &matching.Request{Details: true, MaxRadius: 4e7}
		var used []int
		for i := range int(n) {
			req.Points = append(req.Points, trace.At(41, -8))
			used = append(used, i)
		}
		a, err := parse(status, body, req, used)
		if err != nil {
			return
		}
		result, err := a.Result(req)
		if err != nil {
			return
		}
		result.PlacePoints()
		if len(result.Path) < 2 || len(result.Tracepoints) != len(used) {
			t.Errorf("%d positions, %d tracepoints of %d points", len(result.Path), len(result.Tracepoints), n)
		}
		for i, p := range result.Tracepoints {
			if p.Index < 0 || p.Index >= len(result.Path) || !p.Matched && p.Index != 0 {
				t.Errorf("tracepoint %d: %+v", i, p)
			}
		}
		for _, v := range []float64{result.Distance, result.Duration} {
			if !(v >= 0 && v <= math.MaxFloat64) {
				t.Errorf("%+v", result)
			}
		}
		if !math.IsNaN(result.Confidence) {
			t.Errorf("confidence %v", result.Confidence)
		}
	})
}

// Whatever an upstream says of a line, there are no ways, or they are on all of it, one after the other.
func FuzzWays(f *testing.F) {
	r := modulestest.ReadRecorded(f, "../../internal/testkit/testdata/valhalla/ok_route_ways.json")
	var question struct {
		Line string `json:"encoded_polyline"`
	}
	if err := json.Unmarshal(r.Request, &question); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(r.Body), []byte(question.Line), uint8(58))
	f.Add([]byte(`{"edges":[{"way_id":7,"begin_shape_index":0,"end_shape_index":1},`+
		`{"way_id":7,"begin_shape_index":1,"end_shape_index":1,"names":[]},`+
		`{"way_id":8,"names":["A"],"begin_shape_index":1,"end_shape_index":2}],"shape":"a"}`), []byte("a"), uint8(3))
	f.Fuzz(func(t *testing.T, body, line []byte, points uint8) {
		ways := readWays(body, line, int(points))
		at := 0
		for i, w := range ways {
			if w.From != at || w.To <= at || w.ID <= 0 || i > 0 && w.ID == ways[i-1].ID {
				t.Errorf("way %d: %+v", i, w)
			}
			at = w.To
		}
		if ways != nil && at != int(points)-1 {
			t.Errorf("the ways of %d points end at %d", points, at)
		}
	})
}
