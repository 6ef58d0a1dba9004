package photongeocoder_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/photongeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
)

const endpoint = "/v2/search/reverse-geocoding"

// start runs a server whose geocoder is Photon: max_distance is 1000 m, with the parameter near 60 m.
func start(t testing.TB, upstreams, options string) *modulestest.Server {
	geocoder := fmt.Sprintf(`geocoder photon %s {
		max_response 1MiB
		%s
	}`, upstreams, modulestest.Quick(options))
	return modulestest.Start(t, modulestest.Config{Site: fmt.Sprintf(`
		@near query near=*
		maps_reverse_geocode @near {
			public
			%[1]s
			max_distance 60
		}
		maps_reverse_geocode {
			public
			%[1]s
		}`, geocoder)})
}

func read(t testing.TB, name string) modulestest.Recorded {
	return modulestest.ReadRecorded(t, "../../internal/testkit/testdata/photon/reverse_"+name+".json")
}

// sent is the URL of a documented request.
func sent(t testing.TB, r modulestest.Recorded) string {
	t.Helper()
	var line string
	if err := json.Unmarshal(r.Request, &line); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(line, "GET ")
}

// question turns a documented request into one of our API.
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
	mu       sync.Mutex
	uris     []string
	language atomic.Value
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
		a.language.Store(r.Header.Get("Accept-Language"))
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

// short is what a response says of each place: its id, category, type and distance.
func short(t *testing.T, a modulestest.Response) (list []string) {
	t.Helper()
	var places []struct {
		ID, Category, Type string
		Distance           float64
	}
	if err := json.Unmarshal([]byte(results(t, a)), &places); err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		list = append(list, fmt.Sprint(p.ID, " ", p.Category, "/", p.Type, " ", p.Distance))
	}
	return list
}

const berlin = `"city":"Berlin","state":"Berlin","postcode":"14053","country":"Deutschland","country_code":"DEU"}}`

// What is near, nearest first, in the form of the contract.
func TestAnswer(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := read(t, "near")
	a := replay(u, r)
	want := `[{"id":"way:4615011","name":"Olympischer Platz",` +
		`"display_name":"Olympischer Platz, Westend, Berlin, Deutschland",` +
		`"category":"highway","type":"residential","distance":82.46,"location":{"lat":52.5152000,"lng":13.2419000},` +
		`"address":{"street":"Olympischer Platz","suburb":"Westend",` + berlin + `,` +
		`{"id":"way:38862723","name":"Olympiastadion Berlin",` +
		`"display_name":"Olympiastadion Berlin, Westend, Berlin, Deutschland",` +
		`"category":"leisure","type":"stadium","distance":100.53,"location":{"lat":52.5146795,"lng":13.2395147},` +
		`"address":{"house_number":"3","street":"Olympischer Platz","suburb":"Westend",` + berlin + `,` +
		`{"id":"node:2713093478","name":"1 Olympischer Platz",` +
		`"display_name":"1 Olympischer Platz, Westend, Berlin, Deutschland",` +
		`"category":"place","type":"house","distance":138.89,"location":{"lat":52.5154000,"lng":13.2427000},` +
		`"address":{"house_number":"1","street":"Olympischer Platz","suburb":"Westend",` + berlin + `]`
	if diff := cmp.Diff(want, results(t, s.Do(http.MethodGet, question(t, r)+"&size=3", "", ""))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{sent(t, r)}, a.list()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	for size, want := range map[string]int{"1": 1, "2": 2, "5": 3} {
		if got := short(t, s.Do(http.MethodGet, question(t, r)+"&size="+size, "", "")); len(got) != want {
			t.Errorf("size %s: %v", size, got)
		}
	}
}

// With geometries distances are to the objects themselves.
func TestGeometry(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "geometry on")
	r := read(t, "geometry")
	a := replay(u, r)
	got := short(t, s.Do(http.MethodGet, question(t, r)+"&size=3", "", ""))
	want := []string{
		"way:38862723 leisure/stadium 0", "way:4615011 highway/residential 27.68", "node:2713093478 place/house 138.89",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{sent(t, r)}, a.list()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

// Where nothing is near, the response is the nearest settlement of the same country; at sea there is none.
func TestSettlement(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	nothing, settlements := read(t, "nothing"), read(t, "settlements")
	target := question(t, settlements)
	a := replay(u, nothing, settlements)
	want := `[{"id":"node:240109190","name":"Ennetberg",` +
		`"display_name":"Ennetberg, Glarus, Schweiz/Suisse/Svizzera/Svizra",` +
		`"category":"place","type":"hamlet","distance":2691.69,"location":{"lat":47.0200000,"lng":8.9200000},` +
		`"address":{"city":"Ennetberg","state":"Glarus","country":"Schweiz/Suisse/Svizzera/Svizra","country_code":"CHE"}}]`
	if diff := cmp.Diff(want, results(t, s.Do(http.MethodGet, target+"&size=5", "", ""))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	near := strings.NewReplacer("radius=30&limit=10", "radius=1&limit=50",
		"&layer=locality&layer=district&layer=city", "").Replace(sent(t, settlements))
	if diff := cmp.Diff([]string{near, sent(t, settlements)}, a.list()); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}

	for name, tc := range map[string]struct {
		target  string
		answers []modulestest.Recorded
		want    []string
		asked   int
	}{
		"nothing at all":  {target, []modulestest.Recorded{nothing}, nil, 2},
		"with a category": {target + "&category=bar", []modulestest.Recorded{nothing, settlements}, nil, 1},
		"at sea":          {question(t, nothing), []modulestest.Recorded{nothing, settlements}, nil, 1},
		"all too far": {target + "&near=1", []modulestest.Recorded{read(t, "near"), settlements},
			[]string{"node:240109190 place/hamlet 2691.69"}, 2},
	} {
		a := replay(u, tc.answers...)
		got := short(t, s.Do(http.MethodGet, tc.target, "", ""))
		if diff := cmp.Diff(tc.want, got); diff != "" || len(a.list()) != tc.asked {
			t.Errorf("%s: asked %v (-want +got):\n%s", name, a.list(), diff)
		}
	}
	a = replay(u, nothing)
	s.Do(http.MethodGet, target+"&near=1&size=2", "", "")
	if want := "/reverse?lat=47.0000001&lon=8.9&radius=0.06&limit=20&distance_sort=true"; a.list()[0] != want {
		t.Errorf("sent %s, want %s", a.list()[0], want)
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for block, want := range map[string]string{
		"geocoder photon": "at least one upstream",
		"geocoder photon http://a:1 {\nnonsense\n}":       "unrecognized subdirective",
		"geocoder photon http://a:1 {\nmax_response 0\n}": "is not a positive size",
		"geocoder photon http://a:1 {\ngeometry\n}":       "wrong argument count",
		"geocoder photon http://a:1 {\ngeometry maybe\n}": "it is on or off, not maybe",
	} {
		_, err := modulestest.Adapt(":0 {\nmaps_reverse_geocode {\n" + block + "\n}\n}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", block, err, want)
		}
	}
}
