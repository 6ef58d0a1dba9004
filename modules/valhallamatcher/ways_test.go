package valhallamatcher_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// The ways of the recorded drive are those of the recorded walk along it, all the way.
func TestWays(t *testing.T) {
	f := newFake(t, "ok_route_osrm")
	s := start(t, f.URL, "")
	got := modulestest.ReadDrive(t, post(t, s, &f.drives[0], ""))
	asked := f.requests(attributes)
	if len(asked) != 1 {
		t.Fatalf("asked %d times", len(asked))
	}
	recorded := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/valhalla/ok_route_ways.json")
	var want, sent any
	_ = json.Unmarshal(recorded.Request, &want)
	text, _ := json.Marshal(asked[0].members)
	_ = json.Unmarshal(text, &sent)
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (+), recorded (-):\n%s", diff)
	}
	var walk struct {
		Edges []struct {
			ID    int64 `json:"way_id"`
			Names []string
			End   int `json:"end_shape_index"`
		}
	}
	if err := json.Unmarshal(recorded.Body, &walk); err != nil {
		t.Fatal(err)
	}
	line := f.drives[0].line(t, 0)
	at, n := 0, 0
	for i, e := range walk.Edges {
		if i+1 < len(walk.Edges) && walk.Edges[i+1].ID == e.ID {
			continue
		}
		if n >= len(got.Ways) {
			t.Fatalf("%d ways: %+v", n, got.Ways)
		}
		w := got.Ways[n]
		if end := line[e.End]; w.ID != e.ID || w.From != at || w.To <= at || w.Name != strings.Join(e.Names, "") ||
			got.Coordinates[w.To] != [2]float64{end.Lat(), end.Lon()} {
			t.Errorf("way %d is %+v, want %+v from %d", n, w, e, at)
		}
		at, n = w.To, n+1
	}
	if n != len(got.Ways) || at != len(got.Coordinates)-1 {
		t.Errorf("the ways end at %d of %d: %+v", at, len(got.Coordinates), got.Ways)
	}
}

// Where the ways cannot be had, or are not wanted, the drive is answered without them.
func TestNoWays(t *testing.T) {
	f := newFake(t, "ok_route_osrm")
	s := start(t, f.URL, "")
	good := string(modulestest.ReadRecorded(t, "../../internal/testkit/testdata/valhalla/ok_route_ways.json").Body)
	send := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	edges := func(list string) http.HandlerFunc {
		_, shape, _ := strings.Cut(good, `"shape":"`)
		shape, _, _ = strings.Cut(shape, `"`)
		return send(fmt.Sprintf(`{"shape":"%s","edges":[%s]}`, shape, list))
	}
	for _, tt := range []struct {
		name string
		walk http.HandlerFunc
		ways int
	}{
		{"one way", edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":57}`), 1},
		{"another line", send(strings.Replace(good, `"shape":"u`, `"shape":"v`, 1)), 0},
		{"no line", send(`{"edges":[{"way_id":1,"begin_shape_index":0,"end_shape_index":57}]}`), 0},
		{"a gap", edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":20},` +
			`{"way_id":2,"begin_shape_index":21,"end_shape_index":57}`), 0},
		{"it begins late", edges(`{"way_id":1,"begin_shape_index":1,"end_shape_index":57}`), 0},
		{"it ends early", edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":56}`), 0},
		{"it ends late", edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":58}`), 0},
		{"back", edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":57},` +
			`{"way_id":2,"begin_shape_index":57,"end_shape_index":0}`), 0},
		{"no way", edges(`{"begin_shape_index":0,"end_shape_index":57}`), 0},
		{"half a response", send(good[:len(good)/2]), 0},
		{"an error", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, ownError(443))
		}, 0},
		{"it hangs", func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Second):
			}
		}, 0},
		{"it hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.set(func() { f.walk = tt.walk })
			a := post(t, s, &f.drives[0], "")
			got := modulestest.ReadDrive(t, a)
			got.CheckLine(t, f.drives[0].line(t, 0))
			if len(got.Ways) != tt.ways || strings.Contains(a.Body, `"ways"`) != (tt.ways > 0) {
				t.Errorf("ways: %+v", got.Ways)
			}
		})
	}
	f.set(func() { f.walk, f.asked = nil, nil })
	if err := s.Load(site(f.URL, "ways off", "")); err != nil {
		t.Fatal(err)
	}
	if got := modulestest.ReadDrive(t, post(t, s, &f.drives[0], "")); len(got.Ways) != 0 {
		t.Errorf("ways off: %+v", got.Ways)
	}
	if asked := f.requests(attributes); len(asked) != 0 {
		t.Errorf("ways off: asked %+v", asked)
	}
	if err := s.Load(site(f.URL, "ways maybe", "")); err == nil || !strings.Contains(err.Error(), "ways") {
		t.Errorf("ways maybe: %v", err)
	}
}
