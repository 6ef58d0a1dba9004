package remote_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

var nominatim, photon = engine{name: "nominatim"}, engine{name: "photon"}

// startGeocoder runs a server whose geocoder is an engine with options; max_distance at /near is another one.
func startGeocoder(t *testing.T, e engine, options string, near float64) (*modulestest.Server, *modulestest.Upstream) {
	u := modulestest.NewUpstream(t)
	return modulestest.Start(t, modulestest.Config{Site: e.site("/reverse", u.URL, options) +
		"handle /near {\n" + e.handler("/near", u.URL, options, fmt.Sprint("public\nmax_distance ", near)) + "}\n"}), u
}

// replay collects the URLs of requests to an upstream, and answers them in turn; the last answer is repeated.
func replay(u *modulestest.Upstream, answers ...modulestest.Recorded) (list func() []string) {
	var mu sync.Mutex
	var uris []string
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		answer := answers[min(len(uris), len(answers)-1)]
		uris = append(uris, r.RequestURI)
		mu.Unlock()
		w.WriteHeader(answer.Status)
		w.Write(answer.Body)
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(uris)
	}
}

// results is the list in a response.
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

func nominatimRecorded(t testing.TB, name string) modulestest.Recorded {
	return recorded(t, "nominatim/reverse_"+name)
}

// The documented answers of Nominatim, each with the request that it belongs to, and what is asked after an answer that
// has no name or is too far: an address, and the settlement around. A category says what is asked instead, and
// restricts always.
func TestNominatimAnswers(t *testing.T) {
	s, u := startGeocoder(t, nominatim, "", 20)
	const (
		poi, manmade, natural = "&layer=poi", "&layer=manmade", "&layer=natural"
		features, railway     = "&layer=manmade,natural,railway", "&layer=poi,railway"
		address, settlement   = "&layer=address", "&layer=address&zoom=15"
		streets               = "&layer=address&zoom=17"
	)
	hotel := strings.Replace(restaurant, `"category":"amenity","type":"restaurant"`, `"category":"tourism","type":"hotel"`, 1)
	for _, tc := range []struct {
		answers string // the last one goes on
		query   string // beside the position of the last answer
		want    string
		asked   string // what is added to the first request, each time
	}{
		{"road", "", road, "|"}, {"road", "&size=5", road, "|"}, {"house", "", house, "|"}, {"poi", "", restaurant, "|"},
		{"interpolation", "", interpolation, "|"}, {"unable", "", "[]", "|"}, {"country", "", "[]", "|"},

		{"bench square", "", square, "||" + address},
		{"house city", "near", london, "||" + settlement},
		{"unable bench square", "near", "[]", "|"},
		{"city", "near", london, "|"}, {"house", "near", house, "|"},

		{"poi", "&category=amenity", restaurant, "|" + poi},
		{"poi", "&category=railway,AMENITY", restaurant, "|" + railway},
		{"unable poi", "&category=railway,AMENITY", restaurant, "|" + railway + "|" + poi},
		{"poi", "&category=restaurant", restaurant, "|" + poi},
		{"poi", "&category=hotel", hotel, "|" + poi},
		{"poi", "&category=tourism", hotel, "|" + poi},
		{"poi", "&category=cuisine", "[]", "|" + poi + "|" + features + "|" + streets},
		{"unable", "&category=italian,shop,%20", "[]", "|" + poi + "|" + features + "|" + streets},
		{"bench", "&category=bench", "[]", "|" + poi + "|" + features + "|" + streets},
		{"poi", "&category=natural", "[]", "|" + natural + "|" + poi},
		{"poi", "&category=waterway", "[]", "|" + natural},
		{"bench bench square", "&category=leisure,highway,shop", square, "|" + poi + "|" + manmade + "|" + streets},
		{"unable", "&category=leisure,natural,highway", "[]", "|" + poi + "|" + manmade + "|" + natural},
		{"square", "&category=highway", square, "|" + streets},
		{"house", "&category=building", house, "|" + address},
		{"house", "&category=place", "[]", "|" + settlement + "|" + address + "|" + manmade},
		{"city", "&category=boundary", london, "|" + settlement},
		{"unable", "&category=village,landuse", "[]", "|" + settlement + "|" + manmade},
		{"poi", "&category=,%20,", restaurant, "|"},
	} {
		var answers []modulestest.Recorded
		for name := range strings.FieldsSeq(tc.answers) {
			answers = append(answers, nominatimRecorded(t, name))
		}
		last := answers[len(answers)-1]
		at, query := "/reverse", tc.query
		if query == "near" {
			at, query = "/near", ""
		}
		list := replay(u, answers...)
		if diff := cmp.Diff(tc.want, results(t, s.Do(http.MethodGet, at+positionOf(t, last)+query, "", ""))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tc, diff)
		}
		asked := ""
		for i, uri := range list() {
			before, added, _ := strings.Cut(uri, "&polygon_geojson=1")
			if want := strings.Split(requestOf(t, last), "&polygon_geojson=1")[0]; before != want {
				t.Errorf("%+v: request %d is %s, want %s", tc, i, uri, want)
			}
			asked += "|" + added
		}
		if asked != tc.asked && asked != strings.TrimPrefix(tc.asked, "|") {
			t.Errorf("%+v: asked %s", tc, asked)
		}
	}
	replay(u, nominatimRecorded(t, "bench"), nominatimRecorded(t, "broken"))
	nominatim.check(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, nominatimRecorded(t, "bench")), "", ""), 502)
}

// noObject is a feature of Photon that is no object of OpenStreetMap.
const noObject = `{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}`

// What is no object of OpenStreetMap, or is said not to be there, is no place.
func TestNoPlace(t *testing.T) {
	poi := string(nominatimRecorded(t, "poi").Body)
	var s *modulestest.Server
	var u *modulestest.Upstream
	empty := func(e engine, status int, body string) {
		t.Helper()
		u.Send(status, body)
		if got := results(t, s.Do(http.MethodGet, "/reverse?lat=44.5&lon=11.34&category=amenity", "", "")); got != "[]" {
			t.Errorf("%s %d %.80s: %s", e.name, status, body, got)
		}
	}
	s, u = startGeocoder(t, nominatim, "", 20)
	for change, to := range map[string]string{`"osm_type": "node",`: ``, `"osm_type": "node"`: `"osm_type": "postcode"`} {
		empty(nominatim, 200, strings.Replace(poi, change, to, 1))
	}
	empty(nominatim, 404, `{"error":"Unable to geocode"}`) // by others that speak its protocol
	t.Run("photon", func(t *testing.T) {
		s, u = startGeocoder(t, photon, "", 20)
		empty(photon, 200, `{"features":[`+noObject+strings.Repeat(","+noObject, 49)+`]}`)
	})
}

// An object in another part of the world is no answer, unless it is so large that its middle may be there.
func TestNominatimFarAway(t *testing.T) {
	s, u := startGeocoder(t, nominatim, "", 20)
	const moscow, antimeridian = "?lat=55.75&lon=37.6", "?lat=-16.5&lon=179.9"
	for _, tc := range []struct {
		kind, box, at string
		status        int
	}{
		{"node", "", moscow, 502}, {"way", "", moscow, 502}, {"relation", "", moscow, 200},
		{"relation", `"41", "82", "-180", "180"`, moscow, 200},
		{"relation", `"59", "61", "99", "101"`, moscow, 502},
		{"way", `"55", "56", "37", "38"`, moscow, 200},
		{"relation", `"55", "56", "-179.9", "-179"`, moscow, 502},
		{"relation", `"61", "59", "x"`, moscow, 200}, // a box that is none
		{"relation", `"55", "56", "52", "60"`, moscow, 200},
		{"way", `"-17", "-16", "-179.9", "-179"`, antimeridian, 200},
	} {
		u.Send(200, `{"osm_type":"`+tc.kind+`","osm_id":1,"lat":"60","lon":"100","category":"boundary",`+
			`"type":"administrative","name":"Russia","boundingbox":[`+tc.box+`]}`)
		if a := s.Do(http.MethodGet, "/reverse"+tc.at, "", ""); a.Status != tc.status {
			t.Errorf("%+v: %d %s", tc, a.Status, a.Body)
		}
	}
}

// Statuses and bodies of Nominatim's Python frontend (server/asgi_adaptor.py, server/falcon/server.py) and of Photon,
// and what the log tells of them.
func TestGeocoderStatuses(t *testing.T) {
	type status struct {
		sent   int
		body   string
		want   int
		logged string
	}
	poi := string(nominatimRecorded(t, "poi").Body)
	for _, test := range []struct {
		engine   engine
		statuses []status
	}{{nominatim, []status{
		{400, string(nominatimRecorded(t, "refused").Body), 502, "Parameter 'lat' must be a number."},
		{400, `{"error":{"code":400}}`, 502, "an error"},
		{400, poi, 502, "status 400"},
		{400, `{"error":"Unable to geocode"}`, 502, "status 400"},
		{404, `{"title": "404 Not Found"}`, 502, "status 404"},
		{500, "Internal server error.", 502, "status 500"},
		{500, string(nominatimRecorded(t, "broken").Body), 502, "status 500"},
		{503, "Query took too long to process.", 503, ""},
	}}, {photon, []status{
		{400, string(recorded(t, "photon/reverse_refused").Body), 502, "Allowed parameters"},
		{400, `{"message":"IO error during search"}`, 502, `status 400: it says \"IO error during search`},
		{400, `{"message":"Unknown error."}`, 502, "Unknown error."},
		{400, string(recorded(t, "photon/reverse_near").Body), 502, "status 400"},
	}}} {
		t.Run(test.engine.name, func(t *testing.T) {
			s, u := startGeocoder(t, test.engine, "", 20)
			before := 0
			for _, tc := range test.statuses {
				u.Send(tc.sent, tc.body)
				test.engine.check(t, s.Do(http.MethodGet, "/reverse?lat=44.5&lon=11.34", "", ""), tc.want)
				log := s.Log()
				if text := strings.ReplaceAll(log[before:], `\\"`, `\"`); !strings.Contains(text, tc.logged) {
					t.Errorf("%d %s: the log does not tell %q", tc.sent, tc.body, tc.logged)
				}
				before = len(log)
			}
		})
	}
}

// Languages go along in the header. Nominatim passes over what has a digit in it
// (test/python/api/test_localization.py).
func TestGeocoderLanguages(t *testing.T) {
	for _, e := range []engine{nominatim, photon} {
		t.Run(e.name, func(t *testing.T) {
			s, u := startGeocoder(t, e, "", 20)
			for language, want := range map[string]string{
				"": "", "*": "", "de-AT": "de-AT", "it;q%3D0.1,de,%20en-GB;q%3D0.5": "de, en-GB;q=0.95, it;q=0.90",
				"es-419,de-DE-1996": map[string]string{"nominatim": "es, de-DE;q=0.95", "photon": "es-419, de-DE-1996;q=0.95"}[e.name],
			} {
				var received atomic.Value
				u.Answer(func(w http.ResponseWriter, r *http.Request) {
					received.Store(r.Header.Get("Accept-Language"))
					fmt.Fprint(w, `{"error":"Unable to geocode","features":[]}`)
				})
				s.Do(http.MethodGet, "/reverse?lat=44.5&lon=11.34&language="+language, "", "")
				if got := received.Load(); got != want {
					t.Errorf("%s: Accept-Language %q, want %q", language, got, want)
				}
			}
		})
	}
}

// Geometries are asked for, or not, as the option says; distances are to them.
func TestGeocoderGeometry(t *testing.T) {
	t.Run("nominatim", func(t *testing.T) {
		s, u := startGeocoder(t, nominatim, "geometry off", 20)
		r := nominatimRecorded(t, "road")
		list := replay(u, r)
		got := results(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, r), "", ""))
		if want := strings.TrimSuffix(requestOf(t, r), "&polygon_geojson=1"); got != road || list()[0] != want {
			t.Errorf("asked %v, want %s; %s", list(), want, got)
		}
	})
	t.Run("photon", func(t *testing.T) {
		s, u := startGeocoder(t, photon, "geometry on", 20)
		r := recorded(t, "photon/reverse_geometry")
		list := replay(u, r)
		got := short(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, r)+"&size=3", "", ""))
		want := []string{
			"way:38862723 leisure/stadium 0", "way:4615011 highway/residential 27.68", "node:2713093478 place/house 138.89",
		}
		if diff := cmp.Diff(want, got) + cmp.Diff([]string{requestOf(t, r)}, list()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What a region covers is answered from it, all else by the engine behind it.
func TestGeocoderBehindRegion(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + region,
		Site: nominatim.handler("/reverse", u.URL, "", "public\ngeocoder local village"),
	})
	r := nominatimRecorded(t, "poi")
	list := replay(u, r)
	for i := range 20 {
		inside := fmt.Sprintf("/reverse?lat=%v&lon=%v", 39.11+float64(i)/400, -75.55+float64(i)/400)
		if got := s.Do(http.MethodGet, inside, "", ""); got.Status != 200 || !strings.Contains(got.Body, "Testville") {
			t.Errorf("inside: %d %s", got.Status, got.Body)
		}
		if got := results(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, r), "", "")); got != restaurant {
			t.Errorf("outside: %s", got)
		}
		if len(list()) != i+1 {
			t.Fatalf("asked %d times for %d positions outside", len(list()), i+1)
		}
	}
}

// Photon's answers: what is near, nearest first, and where nothing is, the nearest settlement of the same country; at
// sea there is none.
func TestPhotonAnswers(t *testing.T) {
	s, u := startGeocoder(t, photon, "", 60)
	near, nothing, settlements := recorded(t, "photon/reverse_near"), recorded(t, "photon/reverse_nothing"),
		recorded(t, "photon/reverse_settlements")
	list := replay(u, near)
	const berlin = `"city":"Berlin","state":"Berlin","postcode":"14053","country":"Deutschland","country_code":"DEU"}}`
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
	got := results(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, near)+"&size=3", "", ""))
	if diff := cmp.Diff(want, got) + cmp.Diff([]string{requestOf(t, near)}, list()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for size, want := range map[string]int{"1": 1, "2": 2, "5": 3} {
		if got := short(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, near)+"&size="+size, "", "")); len(got) != want {
			t.Errorf("size %s: %v", size, got)
		}
	}

	target := positionOf(t, settlements)
	list = replay(u, nothing, settlements)
	want = `[{"id":"node:240109190","name":"Ennetberg",` +
		`"display_name":"Ennetberg, Glarus, Schweiz/Suisse/Svizzera/Svizra",` +
		`"category":"place","type":"hamlet","distance":2691.69,"location":{"lat":47.0200000,"lng":8.9200000},` +
		`"address":{"city":"Ennetberg","state":"Glarus","country":"Schweiz/Suisse/Svizzera/Svizra","country_code":"CHE"}}]`
	first := strings.NewReplacer("radius=30&limit=10", "radius=1&limit=50",
		"&layer=locality&layer=district&layer=city", "").Replace(requestOf(t, settlements))
	got = results(t, s.Do(http.MethodGet, "/reverse"+target+"&size=5", "", ""))
	if diff := cmp.Diff(want, got) + cmp.Diff([]string{first, requestOf(t, settlements)}, list()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, tc := range map[string]struct {
		target  string
		answers []modulestest.Recorded
		want    []string
		asked   int
	}{
		"nothing at all":  {"/reverse" + target, []modulestest.Recorded{nothing}, nil, 2},
		"with a category": {"/reverse" + target + "&category=bar", []modulestest.Recorded{nothing, settlements}, nil, 1},
		"at sea":          {"/reverse" + positionOf(t, nothing), []modulestest.Recorded{nothing, settlements}, nil, 1},
		"all too far": {"/near" + target, []modulestest.Recorded{near, settlements},
			[]string{"node:240109190 place/hamlet 2691.69"}, 2},
	} {
		list := replay(u, tc.answers...)
		got := short(t, s.Do(http.MethodGet, tc.target, "", ""))
		if diff := cmp.Diff(tc.want, got); diff != "" || len(list()) != tc.asked {
			t.Errorf("%s: asked %v (-want +got):\n%s", name, list(), diff)
		}
	}
	list = replay(u, nothing)
	s.Do(http.MethodGet, "/near"+target+"&size=2", "", "")
	if want := "/reverse?lat=47.0000001&lon=8.9&radius=0.06&limit=20&distance_sort=true"; list()[0] != want {
		t.Errorf("sent %s, want %s", list()[0], want)
	}
}

// A category is Photon's osm_tag where that can say it, and is compared with the response in any case.
func TestPhotonCategory(t *testing.T) {
	s, u := startGeocoder(t, photon, "", 0.00001)
	pharmacy := []string{"node:1234567890 amenity/pharmacy 88.19"}
	both := []string{"node:1234567891 amenity/doctors 0", "node:1234567890 amenity/pharmacy 88.19"}
	r := recorded(t, "photon/reverse_pharmacy")
	for category, want := range map[string]struct {
		places []string
		tags   string
	}{
		"pharmacy":                       {pharmacy, "&osm_tag=pharmacy&osm_tag=%3Apharmacy"},
		"%20PharmacY%20":                 {pharmacy, "&osm_tag=pharmacy&osm_tag=%3Apharmacy"},
		"bank,amenity":                   {both, "&osm_tag=bank&osm_tag=%3Abank&osm_tag=amenity&osm_tag=%3Aamenity"},
		"b%26b":                          {nil, "&osm_tag=b%26b&osm_tag=%3Ab%26b"},
		"building:part":                  {nil, ""},
		"!shop":                          {nil, ""},
		"!shop,pharmacy":                 {pharmacy, ""},
		"x," + strings.Repeat("y", 5000): {nil, ""},
	} {
		list := replay(u, r)
		got := short(t, s.Do(http.MethodGet, "/reverse"+positionOf(t, r)+"&size=5&category="+category, "", ""))
		uri, _, _ := strings.Cut(requestOf(t, r), "&osm_tag")
		if diff := cmp.Diff(want.places, got) + cmp.Diff([]string{uri + want.tags}, list()); diff != "" {
			t.Errorf("%.40s (-want +got):\n%s", category, diff)
		}
	}

	// Photon refuses a radius of 0, to which the smallest distances would be rounded.
	list := replay(u, recorded(t, "photon/reverse_nothing"))
	s.Do(http.MethodGet, "/near?lat=0&lon=0", "", "")
	if want := "/reverse?lat=0&lon=0&radius=0.001&limit=10&distance_sort=true"; list()[0] != want {
		t.Errorf("sent %s, want %s", list()[0], want)
	}
	// Photon 0.7.0 gives any objects within the radius unless it is told to sort them, and so leaves out what is near.
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		var features []string
		for i := range limit {
			metres := 900 - i // as the index has them, the far ones first
			if r.URL.Query().Get("distance_sort") == "true" {
				metres = 1 + i
			}
			features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"osm_type":"N","osm_id":%d,`+
				`"osm_key":"shop","osm_value":"kiosk","type":"house","name":"Kiosk"},"geometry":{"type":"Point",`+
				`"coordinates":[%v,0]}}`, metres, float64(metres)/metresOfDegree))
		}
		fmt.Fprintf(w, `{"type":"FeatureCollection","features":[%s]}`, strings.Join(features, ","))
	})
	got := short(t, s.Do(http.MethodGet, "/reverse?lat=0&lon=0&size=2", "", ""))
	if diff := cmp.Diff([]string{"node:1 shop/kiosk 1", "node:2 shop/kiosk 2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
