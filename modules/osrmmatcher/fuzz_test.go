package osrmmatcher

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Whatever an upstream sends, it is refused, or it makes a drive on the globe with a tracepoint for every point.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../internal/testkit/testdata/osrm/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add([]byte(modulestest.ReadRecorded(f, file).Body), uint8(12))
	}
	const points = `"tracepoints":[{"matchings_index":0,"location":[-8,41]},{"matchings_index":0,"location":[-8,42]}]}`
	f.Add([]byte(`{"code":"Ok","matchings":[{"geometry":"_p~iF~ps|U_ulLnnqC"}],`+points), uint8(2))
	f.Add([]byte(`{"code":"Ok","matchings":[{"geometry":{"coordinates":[[-8,41],[-8,42]]}}],`+points), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		req := &matching.Request{Details: true, MaxRadius: 4e7}
		var used []int
		for i := range int(n) {
			req.Points = append(req.Points, trace.At(41, -8))
			used = append(used, i)
		}
		a, err := parse(200, body, req, used)
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
			if !(v >= 0 && v < math.MaxFloat64) {
				t.Errorf("%+v", result)
			}
		}
		if c := result.Confidence; c < 0 || c > 1 { // NaN where the service says nothing
			t.Errorf("confidence %v", c)
		}
	})
}
