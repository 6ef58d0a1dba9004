package valhallamatcher

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/upstream/upstreamtest"
)

// Whatever an upstream sends, it is refused, or it makes a drive on the globe with a tracepoint for every point.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		f.Add([]byte(upstreamtest.Read(f, file).Body), uint8(12))
	}
	f.Add([]byte(`{"shape":"_gjnmA?_ibE_ibE","edges":[{"names":["A"]}],"matched_points":[{"lat":41,"lon":-8,"type":"matched","edge_index":0},{"lat":41,"lon":-8,"type":"matched","edge_index":0}]}`), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, n uint8) {
		req := &matching.Request{Details: true}
		var used []int
		for i := range int(n) {
			req.Points = append(req.Points, trace.At(41, -8))
			used = append(used, i)
		}
		a, err := parse(200, body, len(used))
		if err != nil {
			return
		}
		result, err := a.result(req, 0)
		if err != nil {
			return
		}
		if len(result.Path) < 2 || len(result.Tracepoints) != len(used) {
			t.Errorf("%d positions, %d tracepoints of %d points", len(result.Path), len(result.Tracepoints), n)
		}
		for i, p := range result.Tracepoints {
			if p.Index < 0 || p.Index >= len(result.Path) || !p.Matched && p.Index != 0 {
				t.Errorf("tracepoint %d: %+v", i, p)
			}
		}
		at := 0
		for _, w := range result.Ways {
			if w.From != at || w.To <= at || w.To >= len(result.Path) {
				t.Errorf("%+v", result.Ways)
			}
			at = w.To
		}
		for _, v := range []float64{result.Distance, result.Duration, result.Confidence} {
			if !(v >= 0 && v < math.MaxFloat64) {
				t.Errorf("%+v", result)
			}
		}
	})
}
