package matching

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/caddyserver/caddy/v2"
	"pgregory.net/rapid"
)

const (
	jsonType = "application/json"
	gpxType  = "application/gpx+xml"
	geoType  = "application/geo+json"
	csvType  = "text/csv"

	delaware = "38.4,-75.8,39.9,-75"
	world    = "-90,-180,90,180"
)

func newMatcher(t testing.TB, bounds string, change func(*RegionMatcher)) *RegionMatcher {
	t.Helper()
	m := new(RegionMatcher)
	if err := m.add(bounds); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(m)
	}
	if err := errors.Join(m.Provision(caddy.Context{}), m.Validate()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Cleanup() })
	return m
}

// newRequest makes a request that ends with the test, as one of a server does when it has been answered.
func newRequest(t interface{ Cleanup(func()) }, method, target string, body io.Reader) *http.Request {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return httptest.NewRequestWithContext(ctx, method, target, body)
}

func matches(t testing.TB, m *RegionMatcher, r *http.Request) bool {
	t.Helper()
	matched, err := m.MatchWithError(r)
	if err != nil {
		t.Fatal(err)
	}
	return matched
}

// Every form of a request, inside and outside.
func TestForms(t *testing.T) {
	const (
		reverse = "/v2/search/reverse-geocoding"
		match   = "/api/route/matching/"
		route   = "/api/v1/route"
	)
	m := newMatcher(t, delaware, nil)
	esc := url.QueryEscape
	for _, test := range []struct {
		name, target      string
		contentType, body string // a POST if there is either
		want              bool
	}{
		{"reverse inside", reverse + "?lat=39.15&lon=-75.52", "", "", true},
		{"reverse outside", reverse + "?lat=42.5&lon=1.5", "", "", false},
		{"reverse with other parameters", reverse + "?size=5&lon=-75.52&category=a&apiKey=x&lat=39.15&path=x&origin=1,1", "",
			"", true},
		{"reverse with encoded names and numbers", reverse + "?l%61t=%2B39.15&lon=-75%2E52", "", "", true},
		{"reverse below a prefix", "/maps" + reverse + "?lat=39.15&lon=-75.52", "", "", true},
		{"reverse without lon", reverse + "?lat=39.15", "", "", false},
		{"reverse with lat twice", reverse + "?lat=39.15&lat=39.15&lon=-75.52", "", "", false},
		{"reverse beyond the pole", reverse + "?lat=139.15&lon=-75.52", "", "", false},
		{"reverse with words", reverse + "?lat=NaN&lon=Inf", "", "", false},

		{"path inside", match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]"), "", "", true},
		{"path outside", match + "?path=" + esc("[{42.5,1.5},{42.51,1.5}]"), "", "", false},
		{"path without the last slash", "/api/route/matching?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]"), "", "", true},
		{"path of objects", match + "?radius=20&path=" + esc(`[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]`), "",
			"", true},
		{"path raw, with spaces", match + "?path=[{39.15,+-75.52},%20{39.16,-75.53}]", "", "", true},
		{"path of one point", match + "?path=" + esc("[{39.15,-75.52}]"), "", "", false},
		{"path not closed", match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}"), "", "", false},
		{"path twice", match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]") + "&path=[]", "", "", false},
		{"path missing", match + "?lat=39.15&lon=-75.52&origin=39.15,-75.52", "", "", false},
		{"half inside", match + "?path=" + esc("[{39.15,-75.52},{42.5,1.5}]"), "", "", true},
		{"less than half inside", match + "?path=" + esc("[{39.15,-75.52},{42.5,1.5},{42.5,1.5}]"), "", "", false},

		{"JSON inside", match, jsonType, `{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}],"radius":5}`, true},
		{"JSON outside", match, jsonType, `{"path":[{"lat":42.5,"lng":1.5},{"lat":42.51,"lng":1.5}]}`, false},
		{"JSON with a charset", match, jsonType + "; charset=utf-8",
			`{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`, true},
		{"JSON in another charset", match, jsonType + "; charset=utf-16",
			`{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`, false},
		{"JSON broken", match, jsonType, `{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}`, false},
		{"a path in the query of a POST", match + "?path=" + esc("[{39.15,-75.52},{39.16,-75.53}]"), jsonType,
			`{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`, false},
		{"GPX inside", match, gpxType,
			`<gpx><trk><trkseg><trkpt lat="39.15" lon="-75.52"/><trkpt lat="39.16" lon="-75.53"/></trkseg></trk></gpx>`, true},
		{"GPX outside", match, gpxType, `<gpx><rte><rtept lat="42.5" lon="1.5"/><rtept lat="42.6" lon="1.5"/></rte></gpx>`,
			false},
		{"GeoJSON inside", match, geoType, `{"type":"LineString","coordinates":[[-75.52,39.15],[-75.53,39.16]]}`, true},
		{"GeoJSON outside", match, geoType,
			`{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1.5,42.5],[1.5,42.6]]}}`, false},
		{"GeoJSON collection", match, geoType,
			`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"LineString",` +
				`"coordinates":[[-75.52,39.15],[-75.53,39.16]]}}]}`, true},
		{"CSV inside", match, csvType, "lat,lng\n39.15,-75.52\n39.16,-75.53\n", true},
		{"CSV outside", match, csvType, "lat,lng\n42.5,1.5\n42.6,1.5\n", false},
		{"CSV broken", match, csvType, "lat,lng\n39.15,-75.52\n39.16,\n", false},
		{"a form", match, "application/x-www-form-urlencoded", "path=[{39.15,-75.52},{39.16,-75.53}]", false},
		{"nothing", match, jsonType, " ", false},

		{"origin inside", route + "?origin=39.15,-75.52&destination=42.5,1.5", "", "", true},
		{"origin outside", route + "?origin=42.5,1.5&destination=39.15,-75.52", "", "", false},
		{"origin encoded, with a space", route + "?origin=39.15%2C+-75.52", "", "", true},
		{"origin of one number", route + "?origin=39.15", "", "", false},
		{"origin of three numbers", route + "?origin=39.15,-75.52,1", "", "", false},
		{"origin twice", route + "?origin=39.15,-75.52&origin=39.15,-75.52", "", "", false},
		{"origin empty, beside a position", route + "?origin=&lat=39.15&lon=-75.52", "", "", false},
		{"origin too long", route + "?origin=39.15" + strings.Repeat("0", 2000) + ",-75.52", "", "", false},
		{"another service by lat and lon", "/tiles?lat=39.15&lon=-75.52", "", "", true},
		{"another service without a position", "/tiles/1/2/3", "", "", false},
		{"another service by a body", "/upload", jsonType,
			`{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			method := http.MethodGet
			if test.contentType != "" {
				method = http.MethodPost
			}
			r := newRequest(t, method, "/", strings.NewReader(test.body))
			u, query, _ := strings.Cut(test.target, "?")
			r.URL.Path, r.URL.RawQuery = u, query
			r.Header.Set("Content-Type", test.contentType)
			for range 2 { // a matcher may be asked again
				if got := matches(t, m, r); got != test.want {
					t.Errorf("matched: %v", got)
				}
			}
			left, err := io.ReadAll(r.Body)
			if err != nil || string(left) != test.body {
				t.Errorf("of the body %q is left: %v", left, err)
			}
			if test.contentType != "" {
				return
			}
			r.Method = http.MethodHead
			if got := matches(t, m, r); got != test.want {
				t.Errorf("HEAD matched: %v", got)
			}
		})
	}
}

// However a trace is cut by the edge, it belongs to whoever has half of it, also where only some of its points are
// asked for.
func TestHalfOfATrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 300).Draw(t, "points")
		inside := rapid.IntRange(0, n).Draw(t, "inside")
		points := make([]string, n)
		for i := range points {
			points[i] = `{"lat":42.5,"lng":1.5}`
			if i < inside {
				points[i] = `{"lat":39.15,"lng":-75.52}`
			}
		}
		m := new(RegionMatcher)
		if err := errors.Join(m.add(delaware), m.Provision(caddy.Context{})); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Cleanup() })
		r := newRequest(t, http.MethodPost, "/api/route/matching/",
			strings.NewReader(`{"path":[`+strings.Join(points, ",")+`]}`))
		got, _ := m.MatchWithError(r)
		share := float64(inside) / float64(n)
		exact := n <= 32
		const spread = 1.0 / 16 // of 32 points
		if want := share >= 0.5; got != want && (exact || share < 0.5-spread || share > 0.5+spread) {
			t.Errorf("%d of %d points inside matched: %v", inside, n, got)
		}
	})
}

// Whatever a body is and however it comes, those behind the matchers get all of it.
func TestBodyIsLeft(t *testing.T) {
	good := `{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.OneOf(rapid.Just([]byte(good)), rapid.SliceOfN(rapid.Byte(), 0, 200)).Draw(t, "body")
		media := rapid.SampledFrom([]string{jsonType, gpxType, geoType, csvType, "text/plain", ""}).Draw(t, "media")
		length := rapid.SampledFrom([]int64{int64(len(body)), -1}).Draw(t, "length")
		breaks := rapid.Bool().Draw(t, "breaks off")
		r := newRequest(t, http.MethodPost, "/api/route/matching/", nil)
		var in io.Reader = bytes.NewReader(body)
		if rapid.Bool().Draw(t, "in bytes") {
			in = iotest.OneByteReader(in)
		}
		broke := errors.New("it broke off")
		if breaks {
			in = io.MultiReader(in, iotest.ErrReader(broke))
		}
		closed := 0
		r.Body, r.ContentLength = &closer{in, &closed}, length
		r.Header.Set("Content-Type", media)
		limits := rapid.SliceOfN(rapid.Int64Range(1, 250), 1, 4).Draw(t, "max_body")
		for _, limit := range limits {
			m := new(RegionMatcher)
			m.MaxBody = limit
			if err := errors.Join(m.add(world), m.Provision(caddy.Context{})); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = m.Cleanup() })
			got, _ := m.MatchWithError(r)
			if known := string(body) == good && (media == jsonType || media == "") &&
				!breaks; got != (known && limit >= int64(len(body))) {
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

// A body is read once for all matchers of a request, and no further than the largest that is looked into.
func TestBodyIsReadOnce(t *testing.T) {
	m, other := newMatcher(t, "42.4,1.4,42.7,1.8", nil), newMatcher(t, delaware, nil)
	body := `{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`
	r := newRequest(t, http.MethodPost, "/api/route/matching/", strings.NewReader(body))
	if matches(t, m, r) {
		t.Error("it is not in Andorra")
	}
	first := r.Body
	if !matches(t, other, r) || r.Body != first {
		t.Error("the second matcher has read the body again")
	}
	// Somebody has read a part of it since.
	if _, err := io.ReadFull(r.Body, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	if matches(t, other, r) {
		t.Error("what is left is no trace")
	}

	small := newMatcher(t, delaware, func(m *RegionMatcher) { m.MaxBody = 100 })
	endless := &counter{}
	r = newRequest(t, http.MethodPost, "/api/route/matching/", endless)
	r.ContentLength = -1
	if matches(t, small, r) || endless.n > 4096 {
		t.Errorf("%d bytes of an endless body were read", endless.n)
	}
	endless.n = 0
	r = newRequest(t, http.MethodPost, "/api/route/matching/", endless)
	r.ContentLength = 101
	if matches(t, small, r) || endless.n != 0 {
		t.Errorf("%d bytes were read of a body that says that it is too large", endless.n)
	}
}

// counter is a body without end.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	c.n += len(p)
	return len(p), nil
}

// A trace of more points than are looked at is not understood.
func TestTooManyPoints(t *testing.T) {
	m := newMatcher(t, world, func(m *RegionMatcher) { m.MaxPoints = 3 })
	for n, want := range map[int]bool{2: true, 3: true, 4: false} {
		point := "{39.15,-75.52}"
		target := "/api/route/matching/?path=" + url.QueryEscape("["+strings.Repeat(point+",", n-1)+point+"]")
		if got := matches(t, m, newRequest(t, http.MethodGet, target, nil)); got != want {
			t.Errorf("%d points matched: %v", n, got)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("/v2/search/reverse-geocoding", "lat=39.15&lon=-75.52", "", []byte(nil))
	f.Add("/api/route/matching/", "path=[{39.15,-75.52},{39.16,-75.53}]", "", []byte(nil))
	f.Add("/api/route/matching", "", jsonType, []byte(`{"path":[{"lat":39.15,"lng":-75.52},{"lat":39.16,"lng":-75.53}]}`))
	f.Add("/api/route/matching/", "", gpxType,
		[]byte(`<gpx><trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="1" lon="2"/></trkseg></trk></gpx>`))
	f.Add("/api/route/matching/", "", geoType, []byte(`{"type":"LineString","coordinates":[[1,2],[3,4]]}`))
	f.Add("/api/v1/route", "origin=39.15,-75.52", "", []byte(nil))
	f.Add("/api/v1/route", "origin=%", "", []byte(nil))
	f.Fuzz(func(t *testing.T, path, query, media string, body []byte) {
		everywhere := newMatcher(t, world, nil)
		north, south := newMatcher(t, "0,-180,90,180", nil), newMatcher(t, "-90,-180,0,180", nil)
		r := newRequest(t, http.MethodPost, "/", bytes.NewReader(body))
		if media == "" {
			r.Method = http.MethodGet
		}
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("Content-Type", media)
		whole, a, b := matches(t, everywhere, r), matches(t, north, r), matches(t, south, r)
		if whole != (a || b) {
			t.Errorf("the Earth has it: %v; the north: %v, the south: %v", whole, a, b)
		}
		if left, err := io.ReadAll(r.Body); err != nil || !bytes.Equal(left, body) {
			t.Errorf("%d of %d bytes are left: %v", len(left), len(body), err)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	points := make([]string, 1000)
	for i := range points {
		points[i] = fmt.Sprintf(`{"lat":%v,"lng":-75.52}`, 39+float64(i)/10000)
	}
	body := `{"path":[` + strings.Join(points, ",") + `]}`
	m, other := newMatcher(b, delaware, nil), newMatcher(b, "42.4,1.4,42.7,1.8", nil)
	b.Run("position", func(b *testing.B) {
		r := newRequest(b, http.MethodGet, "/v2/search/reverse-geocoding?lat=39.15&lon=-75.52", nil)
		for b.Loop() {
			_ = matches(b, other, r)
			_ = matches(b, m, r)
		}
	})
	b.Run("1000 points", func(b *testing.B) {
		for b.Loop() {
			r := newRequest(b, http.MethodPost, "/api/route/matching/", strings.NewReader(body))
			_ = matches(b, other, r)
			_ = matches(b, m, r)
		}
	})
}
