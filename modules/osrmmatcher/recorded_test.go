package osrmmatcher_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// The geometry as it is asked for; the recorded answers have it as GeoJSON.
func TestPolyline(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	for text, want := range map[string]string{
		"_p~iF~ps|U_ulLnnqC_mqNvxq`@": `{"coordinates":[[3.8500000,-12.0200000],[4.0700000,-12.0950000],` +
			`[4.3252000,-12.6453000]],"distance":`,
		`_p~iF~ps|`: `{"error":{"code":"BadGateway",`,
		``:          `{"error":{"code":"BadGateway",`,
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"code":"Ok","matchings":[{"geometry":%q}],"tracepoints":[`+
				`{"matchings_index":0,"location":[-12.02,3.85]},{"matchings_index":0,"location":[-12.6453,4.3252]}]}`, text)
		})
		a := s.Do(http.MethodGet, matchPath+"?path=[{3.85,-12.02},{4.3252,-12.6453}]", "", "")
		if !strings.HasPrefix(a.Body, want) {
			t.Errorf("%q: %d %s, want %s", text, a.Status, a.Body, want)
		}
	}
}

// The recorded answers of OSRM 6.0.0, each with the request that it belongs to.
func TestRecordedDrives(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	for _, name := range []string{"ok_1", "ok_2", "ok_3", "gap_split"} {
		t.Run(name, func(t *testing.T) {
			r := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_"+name+".json")
			var sent atomic.Pointer[http.Request]
			u.Answer(func(w http.ResponseWriter, req *http.Request) {
				sent.Store(req)
				w.WriteHeader(r.Status)
				w.Write(r.Body)
			})
			target, points := question(t, r)
			a := s.With(t).Do(http.MethodGet, target+"&details=true", "", "")
			if a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			var line string
			_ = json.Unmarshal(r.Request, &line)
			// What is asked for is shorter, and as exact.
			line = strings.Replace(line, "geometries=geojson", "geometries=polyline6&generate_hints=false", 1)
			if got := "GET " + sent.Load().RequestURI; got != line {
				t.Errorf("sent\n%s, want\n%s", got, line)
			}
			got := modulestest.ReadDrive(t, a)
			var want struct {
				Matchings []struct {
					Confidence, Duration, Distance float64
					Geometry                       struct{ Coordinates [][2]float64 }
				}
				Tracepoints []struct {
					Location [2]float64
					Distance float64
					Name     string
				}
			}
			if err := json.Unmarshal(r.Body, &want); err != nil {
				t.Fatal(err)
			}
			m := want.Matchings[0]
			if got.Confidence == nil {
				t.Fatal("no confidence")
			}
			if len(got.Coordinates) != len(m.Geometry.Coordinates) {
				t.Fatalf("%d coordinates, want %d", len(got.Coordinates), len(m.Geometry.Coordinates))
			}
			for i, c := range m.Geometry.Coordinates {
				if got.Coordinates[i] != [2]float64{c[1], c[0]} {
					t.Errorf("coordinate %d: %v, want %v turned round", i, got.Coordinates[i], c)
				}
			}
			if math.Abs(got.Distance-m.Distance) > m.Distance/200 {
				t.Errorf("distance %v, want about %v", got.Distance, m.Distance)
			}
			if math.Abs(*got.Confidence-m.Confidence) > 1e-4 || got.Duration != m.Duration {
				t.Errorf("confidence %v, duration %v, want %v, %v", *got.Confidence, got.Duration, m.Confidence, m.Duration)
			}
			if len(got.Tracepoints) != points {
				t.Fatalf("%d tracepoints, want %d", len(got.Tracepoints), points)
			}
			for i, p := range want.Tracepoints {
				g := got.Tracepoints[i]
				if !g.Matched || *g.Location != [2]float64{p.Location[1], p.Location[0]} || g.Name != p.Name ||
					math.Abs(*g.Distance-p.Distance) > 0.2+p.Distance/100 {
					t.Errorf("tracepoint %d: %+v, want %+v", i, g, p)
				}
			}
		})
	}
}

func TestRecordedErrors(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	ok := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json")
	target, _ := question(t, ok)
	for name, want := range map[string]struct {
		status int
		code   string
	}{
		"nomatch":        {404, "NoRoute"},
		"nosegment":      {404, "NoRoute"},
		"toobig":         {422, "InvalidInput"},
		"invalidquery":   {502, "BadGateway"},
		"invalidoptions": {502, "BadGateway"},
	} {
		t.Run(name, func(t *testing.T) {
			u.Replay(modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_"+name+".json"))
			check(t, u, s.With(t).Do(http.MethodGet, target, "", ""), want.status, want.code)
		})
	}
	for _, status := range []int{413, 414, 431} {
		u.Send(status, "too long")
		check(t, u, s.Do(http.MethodGet, target, "", ""), 422, "InvalidInput")
	}
}
