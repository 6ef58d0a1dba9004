package remote_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// memory is a transport that answers itself, without a network.
type memory struct{}

func init() { caddy.RegisterModule(memory{}) }

func (memory) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.reverse_proxy.transport.memory", New: func() caddy.Module { return new(memory) }}
}

func (*memory) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

// inMemory is what transports in memory answer, in turn; the last one goes on.
var inMemory atomic.Pointer[[]modulestest.Recorded]

func (*memory) RoundTrip(r *http.Request) (*http.Response, error) {
	answers := *inMemory.Load()
	if len(answers) > 1 {
		rest := answers[1:]
		inMemory.Store(&rest)
	}
	return &http.Response{
		StatusCode: answers[0].Status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(answers[0].Body)), ContentLength: int64(len(answers[0].Body)),
	}, nil
}

var (
	placeIDs     = regexp.MustCompile(`^(node|way|relation):[1-9][0-9]*$`)
	countryCodes = regexp.MustCompile(`^([A-Z]{3})?$`)
)

// Every response of an engine is refused, or makes a valid response of the API.
func FuzzEngines(f *testing.F) {
	all := engines(f)
	for i, e := range all {
		files, err := filepath.Glob("../../internal/testkit/testdata/" + e.name + "/*.json")
		if err != nil || len(files) == 0 {
			f.Fatal(err)
		}
		f.Add(uint8(i), 200, []byte(e.good), []byte(nil), "", uint8(4))
		for _, file := range files {
			r := modulestest.ReadRecorded(f, file)
			f.Add(uint8(i), r.Status, []byte(r.Body), []byte(r.Body), "amenity", uint8(20))
		}
	}
	f.Add(uint8(1), 200, []byte(matchings("-ab-bb")), []byte(`{"edges":[{"way_id":7,"begin_shape_index":0,`+
		`"end_shape_index":1},{"way_id":7,"begin_shape_index":1,"end_shape_index":1,"names":[]},{"way_id":8,"names":["A"],`+
		`"begin_shape_index":1,"end_shape_index":2}],"shape":"a"}`), "", uint8(6))
	f.Add(uint8(2), 200, []byte(`{"osm_type":"way","osm_id":1,"lat":"1","lon":"1","category":"a","type":"b;c","name":"x",`+
		`"geojson":{"coordinates":[[1,1],[2,2]],"type":"LineString"}}`), []byte(nil), "c", uint8(0))
	f.Add(uint8(3), 200, []byte(`{"features":[{"properties":{"osm_type":"R","osm_id":1,"osm_key":"place",`+
		`"osm_value":"city","name":"x","type":"city"},"geometry":{"type":"Point","coordinates":[1,2]}}]}`),
		[]byte(nil), "city", uint8(0))

	sites := ""
	for _, e := range all {
		sites += e.site("/"+e.name, "http://127.0.0.1:1", "transport memory")
	}
	s := modulestest.Start(f, modulestest.Config{Site: sites, Level: "ERROR", NoAccessLog: true})
	f.Fuzz(func(t *testing.T, engine uint8, status int, body, next []byte, category string, n uint8) {
		if status < 200 || status > 599 {
			return
		}
		e := all[int(engine)%len(all)]
		query := fmt.Sprintf("?lat=%v&lon=%v&size=5&category=%s", float64(n)/4, float64(n)/2, strings.Map(letter, category))
		points := 2 + int(n)%30
		if e.match {
			query = "?details=true&path=" + path(row(points, 0))
		}
		inMemory.Store(&[]modulestest.Recorded{{Status: status, Body: body}, {Status: status, Body: next}})
		a := s.With(t).Do(http.MethodGet, "/"+e.name+query, "", "")
		switch a.Status {
		case 404, 422, 502, 503, 504:
			if !json.Valid([]byte(a.Body)) {
				t.Errorf("not JSON: %s", a.Body)
			}
		case 200:
			if e.match {
				checkDrive(t, readDrive(t, a), points, e.name)
			} else {
				checkPlaces(t, a)
			}
		default:
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func letter(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}

func checkDrive(t *testing.T, d *drive, points int, name string) {
	t.Helper()
	if len(d.Coordinates) < 2 || len(d.Tracepoints) != points || !(d.Distance >= 0 && d.Duration >= 0) ||
		d.Confidence != nil && (name == "valhalla" || !(*d.Confidence >= 0 && *d.Confidence <= 1)) {
		t.Errorf("%+v", d)
	}
	for _, c := range d.Coordinates {
		if !(math.Abs(c[0]) <= 90 && math.Abs(c[1]) <= 180) {
			t.Errorf("a coordinate off the globe: %v", c)
		}
	}
	for i, p := range d.Tracepoints {
		if p.Matched && (p.Index == nil || *p.Index < 0 || *p.Index >= len(d.Coordinates)) {
			t.Errorf("tracepoint %d: %+v", i, p)
		}
	}
	at := 0
	for i, w := range d.Ways {
		if w.From != at || w.To <= at || w.ID <= 0 || i > 0 && w.ID == d.Ways[i-1].ID {
			t.Errorf("way %d: %+v", i, w)
		}
		at = w.To
	}
	if len(d.Ways) > 0 && at != len(d.Coordinates)-1 {
		t.Errorf("the ways of %d coordinates end at %d", len(d.Coordinates), at)
	}
}

func checkPlaces(t *testing.T, a modulestest.Response) {
	t.Helper()
	var places []struct {
		ID, Name, Category, Type string
		DisplayName              string `json:"display_name"`
		Distance                 float64
		Location                 struct{ Lat, Lng float64 }
		Address                  struct {
			CountryCode string `json:"country_code"`
		}
	}
	if err := json.Unmarshal([]byte(results(t, a)), &places); err != nil || len(places) > 5 {
		t.Fatalf("%v: %s", err, a.Body)
	}
	for i, p := range places {
		if !placeIDs.MatchString(p.ID) || !countryCodes.MatchString(p.Address.CountryCode) || p.Name == "" ||
			p.DisplayName == "" || p.Category == "" || p.Type == "" || !(p.Distance >= 0 && p.Distance < 2.1e7) ||
			!(math.Abs(p.Location.Lat) <= 90 && math.Abs(p.Location.Lng) <= 180) {
			t.Errorf("%+v", p)
		}
		if i > 0 && p.Distance < places[i-1].Distance {
			t.Errorf("%v m after %v m", p.Distance, places[i-1].Distance)
		}
	}
}
