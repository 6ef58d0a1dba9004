package nominatimgeocoder_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/nominatimgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
)

const endpoint = "/v2/search/reverse-geocoding"

// start runs a server whose geocoder is Nominatim: max_distance is that of the parameter near, 1000 m without it.
func start(t testing.TB, upstreams, options string) *modulestest.Server {
	geocoder := fmt.Sprintf(`geocoder nominatim %s {
		max_response 1MiB
		%s
	}`, upstreams, modulestest.Quick(options))
	return modulestest.Start(t, modulestest.Config{Site: fmt.Sprintf(`
		@near query near=*
		maps_reverse_geocode @near {
			public
			%[1]s
			max_distance 20
		}
		maps_reverse_geocode {
			public
			%[1]s
		}`, geocoder)})
}

func read(t testing.TB, name string) modulestest.Recorded {
	return modulestest.ReadRecorded(t, "../../internal/testkit/testdata/nominatim/reverse_"+name+".json")
}

// sent is the URL of a recorded request.
func sent(t testing.TB, r modulestest.Recorded) string {
	t.Helper()
	var line string
	if err := json.Unmarshal(r.Request, &line); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(line, "GET ")
}

// question turns a recorded request into one of our API.
func question(t testing.TB, r modulestest.Recorded) string {
	t.Helper()
	u, err := url.Parse(sent(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return endpoint + "?lat=" + u.Query().Get("lat") + "&lon=" + u.Query().Get("lon")
}

// asked collects the URLs that an upstream is asked for, each answered in turn. The last response stands for all
// that follow.
type asked struct {
	mu   sync.Mutex
	uris []string
}

// list is what has been asked for so far.
func (a *asked) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.uris)
}

func replay(u *modulestest.Upstream, answers ...modulestest.Recorded) *asked {
	a := new(asked)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		answer := answers[min(len(a.uris), len(answers)-1)]
		a.uris = append(a.uris, r.RequestURI)
		a.mu.Unlock()
		w.WriteHeader(answer.Status)
		w.Write(answer.Body)
	})
	return a
}

func results(t *testing.T, a modulestest.Response) string {
	t.Helper()
	_, rest, ok := strings.Cut(a.Body, `"results":`)
	if a.Status != http.StatusOK || !ok {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return strings.TrimSuffix(rest, "}}")
}

const (
	road = `[{"id":"way:280940520","name":"Autopista Pedro Eugenio Aramburu",` +
		`"display_name":"Autopista Pedro Eugenio Aramburu, El Triángulo, Buenos Aires, Argentina",` +
		`"category":"highway","type":"motorway","distance":210.5,"location":{"lat":-34.4391708,"lng":-58.7064573},` +
		`"address":{"street":"Autopista Pedro Eugenio Aramburu","city":"El Triángulo","state":"Buenos Aires",` +
		`"postcode":"1.619","country":"Argentina","country_code":"ARG"}}]`
	house = `[{"id":"way:90394480","name":"137 Pilkington Avenue",` +
		`"display_name":"137 Pilkington Avenue, Maney, Birmingham, England, United Kingdom",` +
		`"category":"building","type":"yes","distance":18.87,"location":{"lat":52.5487429,"lng":-1.8163000},` +
		`"address":{"house_number":"137","street":"Pilkington Avenue","suburb":"Maney","city":"Birmingham",` +
		`"state":"England","postcode":"B72 1LH","country":"United Kingdom","country_code":"GBR"}}]`
	restaurant = `[{"id":"node:1704756187","name":"Trattoria \"Da Guglielmo\"",` +
		`"display_name":"Trattoria \"Da Guglielmo\", Saragozza-Porto, Bologna, Emilia-Romagna, Italia",` +
		`"category":"amenity","type":"restaurant","distance":2.79,"location":{"lat":44.5015307,"lng":11.3398676},` +
		`"address":{"house_number":"71","street":"Via Guglielmo Marconi","suburb":"Saragozza-Porto",` +
		`"city":"Bologna","state":"Emilia-Romagna","postcode":"40122","country":"Italia","country_code":"ITA"}}]`
	square = `[{"id":"way:27227195","name":"Stephansplatz",` +
		`"display_name":"Stephansplatz, Innere Stadt, Wien, Österreich","category":"highway","type":"pedestrian",` +
		`"distance":11.12,"location":{"lat":48.2084000,"lng":16.3731000},"address":{"street":"Stephansplatz",` +
		`"suburb":"Innere Stadt","city":"Wien","postcode":"1010","country":"Österreich","country_code":"AUT"}}]`
	london = `[{"id":"relation:175342","name":"Greater London",` +
		`"display_name":"Greater London, England, United Kingdom","category":"boundary","type":"administrative",` +
		`"distance":0,"location":{"lat":51.5073219,"lng":-0.1276474},"address":{"city":"Greater London",` +
		`"state":"England","country":"United Kingdom","country_code":"GBR"}}]`
	interpolation = `[{"id":"way:1","name":"1019 Grosssteg",` +
		`"display_name":"1019 Grosssteg, Sücka, Triesenberg, Oberland, Liechtenstein","category":"place",` +
		`"type":"house","distance":1.99,"location":{"lat":47.1185454,"lng":9.5705467},"address":{` +
		`"house_number":"1019","street":"Grosssteg","suburb":"Sücka","city":"Triesenberg","state":"Oberland",` +
		`"postcode":"9497","country":"Liechtenstein","country_code":"LIE"}}]`
)

// The documented answers of Nominatim, each with the request that it belongs to.
func TestAnswers(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	for name, want := range map[string]string{
		"road": road, "house": house, "poi": restaurant, "interpolation": interpolation,
		"unable": "[]", "country": "[]",
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, name)
			a := replay(u, r)
			for _, size := range []string{"", "&size=5"} { // one object is all that there is
				if diff := cmp.Diff(want, results(t, s.With(t).Do(http.MethodGet, question(t, r)+size, "", ""))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", size, diff)
				}
			}
			if diff := cmp.Diff([]string{sent(t, r), sent(t, r)}, a.list()); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// Without a name nothing is an answer; what is too far gives way to the settlement around.
func TestFurtherQuestions(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	ask := func(t *testing.T, target string) string {
		return results(t, s.With(t).Do(http.MethodGet, target, "", ""))
	}
	const address, settlement = "&layer=address", "&layer=address&zoom=15"
	for name, tc := range map[string]struct {
		question string
		answers  []string
		want     string
		asked    []string // what is added to the first question
	}{
		"nameless": {question(t, read(t, "bench")), []string{"bench", "square"}, square, []string{"", address}},
		"nameless, and no address": {question(t, read(t, "bench")), []string{"bench", "unable"}, "[]",
			[]string{"", address}},
		"too far": {question(t, read(t, "city")) + "&near=1", []string{"house", "city"}, london, []string{"", settlement}},
		"too far, and no settlement": {question(t, read(t, "city")) + "&near=1", []string{"house", "unable"}, "[]",
			[]string{"", settlement}},
		"too far, and nameless": {question(t, read(t, "city")) + "&near=1", []string{"", "house", "city"}, london,
			[]string{"", address, settlement}},
		"a settlement at once": {question(t, read(t, "city")) + "&near=1", []string{"city"}, london, []string{""}},
		"near":                 {question(t, read(t, "house")) + "&near=1", []string{"house"}, house, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			var answers []modulestest.Recorded
			for _, name := range tc.answers {
				if name == "" {
					answers = append(answers, modulestest.Recorded{Status: 200, Body: []byte(
						`{"osm_type":"node","osm_id":1,"lat":"51.5","lon":"-0.12","category":"amenity","type":"bench"}`)})
					continue
				}
				answers = append(answers, read(t, name))
			}
			a := replay(u, answers...)
			if diff := cmp.Diff(tc.want, ask(t, tc.question)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var added []string
			for _, uri := range a.list() {
				added = append(added, strings.TrimPrefix(uri, a.list()[0]))
			}
			if diff := cmp.Diff(tc.asked, added); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("fails the second time", func(t *testing.T) {
		replay(u, read(t, "bench"), read(t, "broken"))
		a := s.With(t).Do(http.MethodGet, question(t, read(t, "bench")), "", "")
		check(t, u, a, 502, "bad gateway")
	})
}

func TestWithoutGeometry(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "geometry off")
	r := read(t, "road")
	a := replay(u, r)
	if got := results(t, s.Do(http.MethodGet, question(t, r), "", "")); got != road {
		t.Error(got)
	}
	if want := strings.TrimSuffix(sent(t, r), "&polygon_geojson=1"); len(a.list()) != 1 || a.list()[0] != want {
		t.Errorf("asked %v, want %s", a.list(), want)
	}
}

// What a region covers is answered from it, all else by Nominatim.
func TestChain(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + region,
		Site: fmt.Sprintf(`
			maps_reverse_geocode {
				public
				geocoder local village
				geocoder nominatim %s
			}`, u.URL),
	})
	r := read(t, "poi")
	a := replay(u, r)
	for i := range 50 {
		inside := fmt.Sprintf("%s?lat=%v&lon=%v", endpoint, 39.11+float64(i)/1000, -75.55+float64(i)/1000)
		if got := s.Do(http.MethodGet, inside, "", ""); got.Status != 200 || !strings.Contains(got.Body, "Testville") {
			t.Errorf("inside: %d %s", got.Status, got.Body)
		}
		if got := results(t, s.Do(http.MethodGet, question(t, r), "", "")); got != restaurant {
			t.Errorf("outside: %s", got)
		}
		if len(a.list()) != i+1 {
			t.Fatalf("asked %d times for %d positions outside", len(a.list()), i+1)
		}
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for block, want := range map[string]string{
		"geocoder nominatim":                                       "at least one upstream",
		"geocoder nominatim ftp://a":                               "unsupported URL scheme",
		"geocoder nominatim http://a:1 {\nnonsense\n}":             "unrecognized subdirective",
		"geocoder nominatim http://a:1 {\nhandle_response {\n}\n}": "handle_response cannot be used",
		"geocoder nominatim http://a:1 {\ntimeout soon\n}":         "timeout",
		"geocoder nominatim http://a:1 {\ngeometry\n}":             "wrong argument count",
		"geocoder nominatim http://a:1 {\ngeometry maybe\n}":       "it is on or off, not maybe",
	} {
		_, err := modulestest.Adapt(":0 {\nmaps_reverse_geocode {\n" + block + "\n}\n}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", block, err, want)
		}
	}
}
