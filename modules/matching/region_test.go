package matching_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/geocoding"
	"github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	reverse = "/v2/search/reverse-geocoding"
	route   = "/api/v1/route"

	delaware = "38.4,-75.8,39.9,-75"
	world    = "-90,-180,90,180"

	inside  = `{"path":[{"lat":39.16,"lng":-75.525},{"lat":39.16,"lng":-75.522}]}`
	outside = `{"path":[{"lat":42.5,"lng":1.5},{"lat":42.51,"lng":1.5}]}`
)

// cleaner is a test, or a run of a property.
type cleaner interface {
	Cleanup(func())
	Fatal(...any)
}

// region makes a matcher of bounds. change may set its options before it is provisioned.
func region(t cleaner, bounds string, change func(*matching.RegionMatcher)) *matching.RegionMatcher {
	m := new(matching.RegionMatcher)
	err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(`maps_region "` + bounds + `"`))
	if change != nil {
		change(m)
	}
	if err = errors.Join(err, m.Provision(caddy.Context{}), m.Validate()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Cleanup() })
	return m
}

// request makes a request whose context ends with the test, as a server's ends after the response.
func request(t cleaner, method, target string, body io.Reader) *http.Request {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := httptest.NewRequestWithContext(ctx, method, "/", body)
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(target, "?")
	return r
}

func matches(t cleaner, m *matching.RegionMatcher, r *http.Request) bool {
	matched, err := m.MatchWithError(r)
	if err != nil {
		t.Fatal(err)
	}
	return matched
}

// Edges are inside, and the antimeridian is at 180 and at -180.
func TestRegionBounds(t *testing.T) {
	const fiji = "-20,177,-15,-178"
	for _, test := range []struct {
		bounds   string
		lat, lon float64
		want     bool
	}{
		{delaware, 39.15, -75.52, true}, {delaware, 39.15, -74.99, false}, {delaware, 39.91, -75.52, false},
		{delaware, 38.4, -75.8, true}, {delaware, 39.9, -75, true},
		{fiji, -17, 179, true}, {fiji, -17, -179, true}, {fiji, -17, 180, true}, {fiji, -17, -180, true},
		{fiji, -17, 176.9, false}, {fiji, -17, 0, false},
		{world, 90, 180, true}, {world, -90, -180, true},
		{"60,170,70,180", 65, -180, true}, {"60,-180,70,-170", 65, 180, true}, {"60,170,70,180", 65, -179.9, false},
	} {
		r := request(t, http.MethodGet, fmt.Sprintf("%s?lat=%v&lon=%v", reverse, test.lat, test.lon), nil)
		if got := matches(t, region(t, test.bounds, nil), r); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	normal := func(lon float64) float64 {
		for lon > 180 {
			lon -= 360
		}
		for lon < -180 {
			lon += 360
		}
		return lon
	}
	// A rectangle contains what lies at most its width east of its west side, also across the antimeridian.
	rapid.Check(t, func(t *rapid.T) {
		// quarters of a degree, which floating point has exactly
		quarter := func(name string, low, high int) float64 { return float64(rapid.IntRange(low, high).Draw(t, name)) / 4 }
		west, width, south := quarter("west", -719, 719), quarter("width", 1, 1439), quarter("south", -360, 359)
		north := quarter("north", int(4*south)+1, 360)
		m := region(t, fmt.Sprintf("%v,%v,%v,%v", south, west, north, normal(west+width)), nil)
		east, lat := quarter("eastward", 0, 1439), quarter("lat", -360, 360)
		r := request(t, http.MethodGet, fmt.Sprintf("%s?lat=%v&lon=%v", reverse, lat, normal(west+east)), nil)
		if got, want := matches(t, m, r), east <= width && lat >= south && lat <= north; got != want {
			t.Errorf("%+v has %v,%v: %v", m.Bounds, lat, normal(west+east), got)
		}
	})
}

// Every form of a request, inside and outside. The body is left unchanged, and matching twice gives the same.
func TestRegionRequests(t *testing.T) {
	const match = endpoint
	m := region(t, delaware, nil)
	esc := url.QueryEscape
	for _, test := range []struct {
		target            string
		contentType, body string // a POST if there is either
		want              bool
	}{
		{reverse + "?lat=39.15&lon=-75.52", "", "", true},
		{reverse + "?lat=42.5&lon=1.5", "", "", false},
		{reverse + "?size=5&lon=-75.52&category=a&apiKey=x&lat=39.15&path=x&origin=1,1", "", "", true},
		{reverse + "?l%61t=%2B39.15&lon=-75%2E52", "", "", true},
		{"/maps" + reverse + "?lat=39.15&lon=-75.52", "", "", true},
		{reverse + "?lat=39.15", "", "", false},
		{reverse + "?lat=39.15&lat=39.15&lon=-75.52", "", "", false},
		{reverse + "?lat=139.15&lon=-75.52", "", "", false},
		{reverse + "?lat=NaN&lon=Inf", "", "", false},

		{match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]"), "", "", true},
		{match + "?path=" + esc("[{42.5,1.5},{42.51,1.5}]"), "", "", false},
		{"/api/route/matching?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]"), "", "", true},
		{match + "?radius=20&path=" + esc(`[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]`), "", "", true},
		{match + "?path=[{39.15,+-75.52},%20{39.16,-75.53}]", "", "", true},
		{match + "?path=" + esc("[{39.15,-75.52}]"), "", "", false},
		{match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}"), "", "", false},
		{match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]") + "&path=[]", "", "", false},
		{match + "?lat=39.15&lon=-75.52&origin=39.15,-75.52", "", "", false},
		{match + "?path=" + esc("[{39.15,-75.52},{42.5,1.5}]"), "", "", true}, // half of it
		{match + "?path=" + esc("[{39.15,-75.52},{42.5,1.5},{42.5,1.5}]"), "", "", false},

		{match, jsonType, inside, true},
		{match, jsonType, outside, false},
		{match, jsonType + "; charset=utf-8", inside, true},
		{match, jsonType + "; charset=utf-16", inside, false},
		{match, jsonType, inside[:len(inside)-1], false},
		{match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]"), jsonType, inside, false},
		{match, gpxType, gpx, true},
		{match, gpxType, `<gpx><rte><rtept lat="42.5" lon="1.5"/><rtept lat="42.6" lon="1.5"/></rte></gpx>`, false},
		{match, geoType, geoJSON, true},
		{match, geoType, `{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1.5,42.5],[1.5,42.6]]}}`, false},
		{match, geoType, `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":` + geoJSON + `}]}`, true},
		{match, csvType, table, true},
		{match, csvType, "lat,lng\n42.5,1.5\n42.6,1.5\n", false},
		{match, csvType, "lat,lng\n39.15,-75.52\n39.16,\n", false},
		{match, "application/x-www-form-urlencoded", "path=[{39.15,-75.52},{39.16,-75.53}]", false},
		{match, jsonType, " ", false},

		{route + "?origin=39.15,-75.52&destination=42.5,1.5", "", "", true},
		{route + "?origin=42.5,1.5&destination=39.15,-75.52", "", "", false},
		{route + "?origin=39.15%2C+-75.52", "", "", true},
		{route + "?origin=39.15", "", "", false},
		{route + "?origin=%", "", "", false},
		{route + "?origin=39.15,-75.52,1", "", "", false},
		{route + "?origin=39.15,-75.52&origin=39.15,-75.52", "", "", false},
		{route + "?origin=&lat=39.15&lon=-75.52", "", "", false},
		{route + "?origin=39.15" + strings.Repeat("0", 2000) + ",-75.52", "", "", false},
		{"/tiles?lat=39.15&lon=-75.52", "", "", true},
		{"/tiles/1/2/3", "", "", false},
		{"/upload", jsonType, inside, false},
	} {
		method := http.MethodGet
		if test.contentType != "" {
			method = http.MethodPost
		}
		r := request(t, method, test.target, strings.NewReader(test.body))
		r.Header.Set("Content-Type", test.contentType)
		for range 2 {
			if got := matches(t, m, r); got != test.want {
				t.Errorf("%+v: %v", test, got)
			}
		}
		if left, err := io.ReadAll(r.Body); err != nil || string(left) != test.body {
			t.Errorf("%+v: of the body %q is left: %v", test, left, err)
		}
		if r.Method = http.MethodHead; test.contentType == "" && matches(t, m, r) != test.want {
			t.Errorf("HEAD %+v", test)
		}
	}
	for n, want := range map[int]bool{2: true, 3: true, 4: false} {
		m := region(t, world, func(m *matching.RegionMatcher) { m.MaxPoints = 3 })
		target := match + "?path=[" + strings.Repeat("{39.15,-75.52},", n-1) + "{39.15,-75.52}]"
		if got := matches(t, m, request(t, http.MethodGet, target, nil)); got != want {
			t.Errorf("%d of at most 3 points matched: %v", n, got)
		}
	}
}

// A trace that crosses the edge matches if at least half of it is inside, also if only some of its points are checked.
func TestHalfOfATrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 300).Draw(t, "points")
		in := rapid.IntRange(0, n).Draw(t, "inside")
		points := strings.Repeat(`,{"lat":39.15,"lng":-75.52}`, in) + strings.Repeat(`,{"lat":42.5,"lng":1.5}`, n-in)
		r := request(t, http.MethodPost, endpoint, strings.NewReader(`{"path":[`+points[1:]+`]}`))
		got := matches(t, region(t, delaware, nil), r)
		share := float64(in) / float64(n)
		const spread = 1.0 / 16 // of 32 points
		if want := share >= 0.5; got != want && (n <= 32 || share < 0.5-spread || share > 0.5+spread) {
			t.Errorf("%d of %d points inside matched: %v", in, n, got)
		}
	})
}

// Handlers after the matchers can read the whole body, valid or not.
func TestBodyIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(rapid.Just([]byte(inside)), rapid.SliceOfN(rapid.Byte(), 0, 200)).Draw(t, "body")
		media := rapid.SampledFrom([]string{jsonType, gpxType, geoType, csvType, "text/plain", ""}).Draw(t, "media")
		breaks := rapid.Bool().Draw(t, "is cut off")
		var in io.Reader = bytes.NewReader(body)
		if rapid.Bool().Draw(t, "in bytes") {
			in = iotest.OneByteReader(in)
		}
		broke := errors.New("cut off")
		if breaks {
			in = io.MultiReader(in, iotest.ErrReader(broke))
		}
		closed := 0
		r := request(t, http.MethodPost, endpoint, nil)
		r.Body = &closer{in, &closed}
		r.ContentLength = rapid.SampledFrom([]int64{int64(len(body)), -1}).Draw(t, "length")
		r.Header.Set("Content-Type", media)
		for _, limit := range rapid.SliceOfN(rapid.Int64Range(1, 250), 1, 4).Draw(t, "max_body") {
			m := region(t, world, func(m *matching.RegionMatcher) { m.MaxBody = limit })
			known := string(body) == inside && (media == jsonType || media == "") && !breaks && limit >= int64(len(body))
			if got := matches(t, m, r); got != known {
				t.Errorf("a body of %d bytes with a limit of %d matched: %v", len(body), limit, got)
			}
		}
		left, err := io.ReadAll(r.Body)
		if !bytes.Equal(left, body) || breaks != (err != nil) || breaks && !errors.Is(err, broke) {
			t.Errorf("%q is left of %q: %v", left, body, err)
		}
		if err := r.Body.Close(); err != nil || closed != 1 {
			t.Errorf("closed %d times: %v", closed, err)
		}
	})
}

type closer struct {
	io.Reader
	times *int
}

func (c *closer) Close() error {
	*c.times++
	return nil
}

// endless is a body without end.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	e.n += copy(p, bytes.Repeat([]byte(" "), len(p)))
	return len(p), nil
}

// A body is read once for all matchers of a request, up to the largest max_body. A body of which something else has
// read a part is no trace.
func TestBodyIsReadOnce(t *testing.T) {
	other, m := region(t, "42.4,1.4,42.7,1.8", nil), region(t, delaware, nil)
	r := request(t, http.MethodPost, endpoint, strings.NewReader(inside))
	first := matches(t, other, r)
	read := r.Body
	if first || !matches(t, m, r) || r.Body != read {
		t.Error("the body was read again, or not understood")
	}
	if _, err := r.Body.Read(make([]byte, 1)); err != nil || matches(t, m, r) {
		t.Errorf("what is left is no trace: %v", err)
	}
	small := region(t, delaware, func(m *matching.RegionMatcher) { m.MaxBody = 100 })
	for length, most := range map[int64]int{-1: 4096, 101: 0} {
		body := new(endless)
		r := request(t, http.MethodPost, endpoint, body)
		r.ContentLength = length
		if matches(t, small, r) || body.n > most {
			t.Errorf("%d bytes of a body of length %d were read", body.n, length)
		}
	}
}

func FuzzRegionMatcher(f *testing.F) {
	f.Add(reverse, "lat=39.15&lon=-75.52", "", []byte(nil))
	f.Add(endpoint, "path=[{39.15,-75.52},{39.16,-75.53}]", "", []byte(nil))
	f.Add("/api/route/matching", "", jsonType, []byte(inside))
	f.Add(endpoint, "", gpxType, []byte(gpx))
	f.Add(endpoint, "", geoType, []byte(geoJSON))
	f.Add(endpoint, "", formType, []byte(form(gpx, "note")))
	f.Add(route, "origin=39.15,-75.52", "", []byte(nil))
	f.Add(route, "origin=%", "", []byte(nil))
	f.Fuzz(func(t *testing.T, path, query, media string, body []byte) {
		r := request(t, http.MethodPost, "/", bytes.NewReader(body))
		if media == "" {
			r.Method = http.MethodGet
		}
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("Content-Type", media)
		whole := matches(t, region(t, world, nil), r)
		north, south := matches(t, region(t, "0,-180,90,180", nil), r), matches(t, region(t, "-90,-180,0,180", nil), r)
		if whole != (north || south) {
			t.Errorf("the Earth has it: %v; the north: %v, the south: %v", whole, north, south)
		}
		if left, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(left, body) {
			t.Errorf("%d of %d bytes are left: %v", len(left), len(body), err)
		}
	})
}

// node is an upstream that says its name and how much of a body it got.
func node(t *testing.T, name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, name, " ", len(body))
		if err != nil {
			fmt.Fprint(w, err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Whole requests go to the server that has their region; those that cannot be parsed go to the last server.
func TestSharding(t *testing.T) {
	village, andorra, rest := node(t, "village"), node(t, "andorra"), node(t, "rest")
	site := ""
	for i, form := range [][2]string{
		{"maps_region village", "maps_region 42.42,1.40,42.66,1.79"},
		{"maps_region village {\nmax_body 1MiB\nmax_points 100\n}", "maps_region 42.42,1.40,42.66,1.79 {\nmax_body 1MiB\n}"},
		{"expression maps_region('village') && path('/*')", "`maps_region('42.42,1.40,42.66,1.79', '0,0,1,1')`"},
		{"{\nmaps_region village\nnot maps_region 0,0,1,1\n}",
			"{\nnot maps_region village\nmaps_region 0,0,1,1\nmaps_region 42.42,1.40,42.66,1.79\n}"},
	} {
		site += fmt.Sprintf("handle_path /%d/* {\n@village %s\n@andorra %s\nreverse_proxy @village %s\n"+
			"reverse_proxy @andorra %s\nreverse_proxy %s\n}\n", i, form[0], form[1], village, andorra, rest)
	}
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildRegion(t, modulestest.Village), Site: site})
	large := `{"path":[` + strings.Repeat(" ", 9<<20) + inside[len(`{"path":[`):]
	for i := range 4 {
		for _, test := range []struct{ target, body, want string }{
			{reverse + "?lat=39.16&lon=-75.52", "", "village 0"},
			{reverse + "?lat=42.5&lon=1.5", "", "andorra 0"},
			{reverse + "?lat=0&lon=-30", "", "rest 0"},
			{reverse + "?lat=x&lon=1.5", "", "rest 0"},
			{endpoint, inside, fmt.Sprint("village ", len(inside))},
			{endpoint, outside, fmt.Sprint("andorra ", len(outside))},
			{endpoint, "{", "rest 1"},
			{endpoint, large, fmt.Sprint("rest ", len(large))},
			{endpoint + "?path=" + url.QueryEscape("[{39.16,-75.525},{39.16,-75.522}]"), "", "village 0"},
			{route + "?origin=39.16,-75.52&destination=42.5,1.5", "", "village 0"},
			{"/anything", "", "rest 0"},
		} {
			method := http.MethodGet
			if test.body != "" {
				method = http.MethodPost
			}
			a := s.Do(method, fmt.Sprint("/", i, test.target), "", test.body)
			if a.Status != http.StatusOK || a.Body != test.want {
				t.Errorf("%d: %s %.60s %.60s: %d %s, want %s", i, method, test.target, test.body, a.Status, a.Body, test.want)
			}
		}
	}
}

// The matcher parses exactly those requests that the handlers accept.
func TestUnderstandsWhatTheHandlersDo(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildRegion(t, modulestest.Village), Site: `
		@understood maps_region -90,-180,90,180 {
			max_body 1KiB
			max_points 10
		}
		header @understood Understood yes
		handle /api/* {
			maps_match {
				public
				matcher local village
				max_body 1KiB
				max_points 10
			}
		}
		handle {
			maps_reverse_geocode {
				public
				geocoder local village
			}
		}`})
	const match, point = endpoint, `{"lat":39.16,"lng":-75.52}`
	points := func(n int) string { return `{"path":[` + strings.Repeat(point+",", n-1) + point + `]}` }
	for _, test := range []struct{ method, target, media, body string }{
		{"GET", reverse + "?lat=39.16&lon=-75.52", "", ""},
		{"HEAD", reverse + "?lat=+39.16&lon=%2D75.52", "", ""},
		{"GET", reverse + "?lat=39.16&lon=-75.52&x=1&x=2", "", ""},
		{"GET", reverse + "?lat=39.16&lon=-180", "", ""},
		{"GET", reverse + "?lat=39.16&lon=-180.1", "", ""},
		{"GET", reverse + "?lat=39.16", "", ""},
		{"GET", reverse + "?lat=&lon=", "", ""},
		{"GET", reverse + "?lat=0x10&lon=1", "", ""},
		{"GET", reverse + "?lat=%&lon=1", "", ""},
		{"GET", reverse + "?lat=1&lon=1&lon=1", "", ""},
		{"GET", match + "?path=[{39.16,-75.52},{39.16,-75.52}]", "", ""},
		{"GET", match[:len(match)-1] + "?path=[{+39.16,-75.52},{39.16,-7.552e%2B1}]", "", ""},
		{"GET", match + "?path=[{39.16,-7.552e+1},{39.16,-75.52}]", "", ""},
		{"GET", match + "?path=[{39.16,-75.52}]", "", ""},
		{"GET", match, "", ""},
		{"GET", match + "?path=[{39.16,-75.52},{39.16,-75.52}]&path=", "", ""},
		{"PUT", match + "?path=[{39.16,-75.52},{39.16,-75.52}]", "", ""},
		{"POST", match, "", points(2)},
		{"POST", match, jsonType, points(10)},
		{"POST", match, jsonType, points(11)},
		{"POST", match, jsonType, points(3) + strings.Repeat(" ", 1024-len(points(3)))},
		{"POST", match, jsonType, points(3) + strings.Repeat(" ", 1025-len(points(3)))},
		{"POST", match, jsonType, points(3) + "x"},
		{"POST", match, "text/json", points(3)},
		{"POST", match, geoType, geoJSON},
		{"POST", match, geoType, `{"type":"Point","coordinates":[-75.52,39.16]}`},
		{"POST", match, gpxType, gpx},
		{"POST", match, gpxType, `<kml/>`},
		{"GET", reverse + "?lat=39.16&lng=-75.52", "", ""},
		{"GET", reverse + "?lat=39.16&lng=-75.52&lon=-75.52", "", ""},
		{"POST", match, jsonType, strings.ReplaceAll(points(2), "lng", "lon")},
		{"POST", match, jsonType, geoJSON},
		{"POST", match, formType, form(geoJSON, "note")},
		{"POST", match, formType, form(geoJSON, "radius")},
		{"POST", match, formType, form("<kml/>")},
		{"POST", match, "multipart/form-data", form(geoJSON)},
		{"POST", match + "?path=[{39.16,-75.52},{39.16,-75.52}]", jsonType, points(2)},
	} {
		a := s.Do(test.method, test.target, "", test.body, "Content-Type", "", "Content-Type", test.media)
		switch understood := a.Header.Get("Understood") == "yes"; a.Status {
		case 200:
			if !understood {
				t.Errorf("%+v is not understood but answered: %s", test, a.Body)
			}
		case 400, 405, 413, 415, 422:
			if understood {
				t.Errorf("%+v is understood but refused: %d %s", test, a.Status, a.Body)
			}
		default:
			t.Errorf("%+v: %d %s", test, a.Status, a.Body)
		}
	}
}

// Bodies that the matcher has read count until their requests end. One for which there is no memory gets 503.
func TestBodiesInFlight(t *testing.T) {
	asked, release := make(chan struct{}, 8), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-release
		fmt.Fprint(w, "answered")
	}))
	defer upstream.Close()
	s := modulestest.Start(t, modulestest.Config{
		Maps: "max_bodies_in_flight 1MiB\nmax_wait 200ms",
		Site: "@here maps_region 39,-76,40,-75\nhandle @here {\nreverse_proxy " + upstream.URL + "\n}\nrespond \"not here\"",
	})
	large := inside[:len(inside)-1] + `,"padding":"` + strings.Repeat("x", 200<<10) + `"}`
	answers := make(chan modulestest.Response, 2)
	send := func(body string) {
		go func() { answers <- s.Do(http.MethodPost, endpoint, "", body) }()
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			t.Fatal("the upstream was not asked")
		}
	}
	send(large)
	began := time.Now()
	if a := s.Do(http.MethodPost, endpoint, "", large); a.Status != http.StatusServiceUnavailable ||
		time.Since(began) < 200*time.Millisecond {
		t.Errorf("a second body: %d %s after %v", a.Status, a.Body, time.Since(began))
	}
	send(inside) // a small one is let through
	close(release)
	for range 2 {
		if a := <-answers; a.Status != http.StatusOK || a.Body != "answered" {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if a := s.Do(http.MethodPost, endpoint, "", large); a.Status != http.StatusOK {
		t.Errorf("afterwards: %d %s", a.Status, a.Body)
	}
}

// A region with a damaged file covers nothing, so another server may answer. An unknown region is refused.
func TestRegionsOfTheMatcher(t *testing.T) {
	path := buildRegion(t, modulestest.Village)
	maps := "region village " + path
	s := modulestest.Start(t, modulestest.Config{Maps: maps, Site: "@village maps_region village\nrespond @village village\nrespond elsewhere"})
	ask := func(want string) {
		t.Helper()
		if a := s.Do(http.MethodGet, reverse+"?lat=39.16&lon=-75.52", "", ""); a.Body != want {
			t.Errorf("%d %s, want %s", a.Status, a.Body, want)
		}
	}
	ask("village")
	for matcher, want := range map[string]string{
		"maps_region delaware":               `there is no region "delaware": it can only be village`,
		"expression maps_region('delaware')": `there is no region "delaware"`,
		"expression maps_region('1,2,3')":    "south,west,north,east",
	} {
		err := s.Load(modulestest.Config{Maps: maps, Site: "@m " + matcher + "\nrespond @m yes"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", matcher, err)
		}
	}
	ask("village")
	if err := os.WriteFile(path, []byte("not a region file"), 0o600); err != nil { // in place, as no one should
		t.Fatal(err)
	}
	s.AdminDo(http.MethodPost, "/maps/regions/reload", "{}")
	ask("elsewhere")
}

// Without the app, also after a refused configuration, app.Running returns ErrNoApp at once.
func TestNoAppIsStarting(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildRegion(t, modulestest.Village), Site: "respond ok"})
	running := func(what string) {
		t.Helper()
		began := time.Now()
		if _, err := app.Running(t.Context()); !errors.Is(err, app.ErrNoApp) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(began))
		}
	}
	load := func(text string) error {
		adapted, err := modulestest.Adapt("{\nadmin " + s.Admin + "\nauto_https off\n}\n" + s.URL + " {\nbind 127.0.0.1\n" + text + "\n}\n")
		if err != nil {
			return err
		}
		return caddy.Load(adapted, true)
	}
	if err := load("@m maps_region 39,-76,40,-75\nrespond @m yes"); err != nil {
		t.Fatal(err)
	}
	running("bounds only")
	if err := load("@m expression maps_region('nowhere')\nrespond @m yes"); err == nil {
		t.Fatal("a region that there is not")
	}
	if err := load("respond ok"); err != nil {
		t.Fatal(err)
	}
	running("after a configuration that was refused")
}
