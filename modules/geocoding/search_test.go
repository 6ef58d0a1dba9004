package geocoding_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	engine "github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/modules/geocoding"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	searchPath   = "/v2/search/geocode"
	simpleSearch = "/api/v1/route/geocoding"
	simpleOfHere = "/api/v1/route/revgeocoding"
)

// startSearch runs a server whose handler searches in regions.
func startSearch(t *testing.T, regions ...string) *modulestest.Server {
	t.Helper()
	var names, maps string
	for i, region := range regions {
		name := string(rune('a' + i))
		names += " " + name
		maps += "region " + name + " " + region + "\n"
	}
	return modulestest.Start(t, modulestest.Config{Maps: maps,
		Site: "maps_geocode {\npublic\ngeocoder local" + names + "\n}\nrespond \"not for the next handler\" 418"})
}

// Every parameter that cannot be read is named.
func TestSearchRefusals(t *testing.T) {
	s := startSearch(t, buildRegion(t, modulestest.Village))
	const here = "query=dover&"
	for parameter, queries := range map[string][]string{
		"query": {"", "q=dover", "name=dover", "query", "query=", "query=%20+", "query=%zz", "query=a&query=b", "query=a&qu%65ry=b",
			"query=" + strings.Repeat("x", 257), "query=" + strings.Repeat("%C3%A9", 129), "query=%ff"},
		"limit": {here + "limit=", here + "limit=0", here + "limit=11", here + "limit=1.5", here + "limit=-1", here + "limit=x",
			here + "limit=1&limit=1"},
		"autocomplete": {here + "autocomplete=", here + "autocomplete=1", here + "autocomplete=yes", here + "autocomplete=true&autocomplete=true"},
		"explain":      {here + "explain=1", here + "explain=true&explain=false"},
		"proximity": {here + "proximity=", here + "proximity=39.1", here + "proximity=91,0", here + "proximity=0,181",
			here + "proximity=-75.5197,181", here + "proximity=1,2,3", here + "proximity=a,b", here + "proximity=NaN,0",
			here + "proximity=lonlat:", here + "proximity=lonlat:0,91", here + "proximity=lonlat:181,0", here + "proximity=latlon:1,1",
			here + "proximity=LONLAT:1,1", here + "proximity=1;2", here + "proximity=1,2&proximity=1,2", here + "proximity=%zz,1",
			here + "proximity=" + strings.Repeat("0", 300) + ",1", here + "proximity=1%2C"},
		"zoom": {here + "zoom=", here + "zoom=-1", here + "zoom=22.1", here + "zoom=x", here + "zoom=1&zoom=1"},
		"bbox": {here + "bbox=", here + "bbox=1,2,3", here + "bbox=1,2,3,4,5", here + "bbox=1,91,2,92", here + "bbox=-181,0,1,1",
			here + "bbox=0,2,1,1", here + "bbox=a,b,c,d", here + "bbox=0,0,1,1&bbox=0,0,1,1"},
		"country": {here + "country=xx", here + "country=XXX", here + "country=us,zz", here + "country=United+States", here + "country=u",
			here + "country=us&country=us", here + "country=%zz", here + "country=" + strings.Repeat("us,", 400)},
		"language": {here + "language=d", here + "language=de_CH", here + "language=fr&language=de"},
		"category": {here + "category=a&category=b", here + "category=%zz"},
	} {
		for _, query := range queries {
			a := s.Do(http.MethodGet, searchPath+"?"+query, "", "")
			var body struct{ Error, Code string }
			if err := json.Unmarshal([]byte(a.Body), &body); err != nil || a.Status != http.StatusBadRequest ||
				body.Code != "FAILED_VALIDATION" || !strings.HasPrefix(body.Error, parameter+":") ||
				a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%.60q: %d %s, want a 400 that names %s", query, a.Status, a.Body, parameter)
			}
		}
	}
	for _, query := range []string{"", "&limit=1", "&limit=10", "&limit=%2B2", "&autocomplete=false", "&explain=true", "&proximity=39.1,-75.5",
		"&proximity=+39.1,+-75.5", "&proximity=lonlat:-180,90", "&proximity=lonlat%3A180%2C-90", "&zoom=0", "&zoom=22&x=y&apiKey=z", "&zoom=13.7",
		"&bbox=-76,39,-75,40", "&bbox=179,-20,-179,-10", "&bbox=0,0,0,0", "&country=", "&country=,", "&country=us,USA,%20ca%20,xk",
		"&language=", "&language=*", "&category=", "&category=shop,cafe"} {
		a := s.Do(http.MethodGet, searchPath+"?query=nothing+%22%5c+here"+query, "", "")
		if want := `{"data":{"query":"nothing \"\\ here","results":[]}}`; a.Status != 200 || a.Body != want {
			t.Errorf("%s: %d %s, want %s", query, a.Status, a.Body, want)
		}
	}
	if a := s.Do(http.MethodGet, searchPath+"?query="+strings.Repeat("%C3%A9", 128), "", ""); a.Status != 200 {
		t.Errorf("256 bytes: %d %s", a.Status, a.Body)
	}
	if a := s.Do(http.MethodGet, simpleSearch+"?query=x", "", ""); a.Status != 400 || !strings.Contains(a.Body, `"name: is missing"`) {
		t.Errorf("the older path: %d %s", a.Status, a.Body)
	}
}

// Other paths and methods are refused, and HEAD is GET without its body.
func TestSearchMethods(t *testing.T) {
	s := startSearch(t, buildRegion(t, modulestest.Village))
	for _, path := range []string{searchPath + "?query=x", simpleSearch + "?name=x"} {
		get, head := s.Do(http.MethodGet, path, "", ""), s.Do(http.MethodHead, path, "", "")
		for _, name := range []string{"Content-Type", "Content-Length"} {
			if head.Status != 200 || head.Body != "" || head.Header.Get(name) != get.Header.Get(name) || get.Header.Get(name) == "" {
				t.Errorf("HEAD %s: %d, %s %q, GET has %q", path, head.Status, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			a := s.Do(method, path, "", "")
			if a.Status != 405 || a.Body != `{"error":"method not allowed"}` || a.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d %v %s", method, path, a.Status, a.Header, a.Body)
			}
		}
	}
	for _, path := range []string{searchPath + "/?query=x", searchPath + "/x", "/v2/search", "/", endpoint, simpleSearch + "/", "/v2/search/Geocode"} {
		if a := s.Do(http.MethodGet, path, "", ""); a.Status != 404 || a.Body != `{"error":"not found"}` {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// The older path of reverse geocoding answers with up to five places in a short form, nearest first, of which each has a
// name.
func TestSimpleReverseGeocoding(t *testing.T) {
	s, _ := start(t)
	type short struct {
		Name                string
		Latitude, Longitude float64
		Country, City, Type string
	}
	ask := func(query string) (list []short) {
		t.Helper()
		var body struct {
			Msg  string  `json:"msg"`
			Data []short `json:"data"`
		}
		a := s.Do(http.MethodGet, simpleOfHere+"?"+query, "", "")
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil || a.Status != 200 || body.Msg != "ok" || body.Data == nil {
			t.Fatalf("%s: %d %s", query, a.Status, a.Body)
		}
		for _, p := range body.Data {
			if p.Name == "" {
				t.Errorf("%s: no name in %s", query, a.Body)
			}
		}
		return body.Data
	}
	want := short{"Crossing Café", 39.1601, -75.5201, "United States", "Testville", "cafe"}
	for query, most := range map[string]int{"": 5, "&size=1": 1, "&limit=2": 2} {
		if got := ask(crossing + query); len(got) != most || got[0] != want {
			t.Errorf("%q: %+v", query, got)
		}
	}
	if got := ask("lat=39.1601&lng=-75.5150&size=1"); len(got) != 1 || got[0].Name != "5 Main Street" {
		t.Errorf("a house: %+v", got)
	}
	if got := ask("lat=0&lon=0"); len(got) != 0 {
		t.Errorf("nowhere: %+v", got)
	}
	const exact = `{"msg":"ok","data":[{"name":"Crossing Café","latitude":39.1601000,"longitude":-75.5201000,` +
		`"Country":"United States","City":"Testville","type":"cafe"}]}`
	if a := s.Do(http.MethodGet, simpleOfHere+"?"+crossing+"&size=1", "", ""); a.Body != exact {
		t.Errorf("%s, want %s", a.Body, exact)
	}
	if a := s.Do(http.MethodGet, simpleOfHere+"?lat=91&lon=0", "", ""); a.Status != 400 || !strings.Contains(a.Body, `"lat: `) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// reverseOnly is a geocoder of another program that cannot search.
type reverseOnly struct{}

func (reverseOnly) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.geocoders.reverse_only", New: func() caddy.Module { return new(reverseOnly) }}
}

func (reverseOnly) UnmarshalCaddyfile(*caddyfile.Dispenser) error { return nil }

func (reverseOnly) Reverse(context.Context, *engine.Request) (*engine.Result, error) {
	return new(engine.Result), nil
}

// A geocoder that cannot search is a mistake in the configuration of a search, and works for positions.
func TestSearchWithoutSearcher(t *testing.T) {
	caddy.RegisterModule(reverseOnly{})
	s, _ := start(t)
	config := func(handler string) modulestest.Config {
		return modulestest.Config{Site: handler + " {\npublic\ngeocoder reverse_only\n}"}
	}
	if err := s.Load(config("maps_geocode")); err == nil || !strings.Contains(err.Error(), "cannot search by text") {
		t.Errorf("%v", err)
	}
	if err := s.Load(config("maps_reverse_geocode")); err != nil {
		t.Error(err)
	}
}

func TestSearchCaddyfile(t *testing.T) {
	unmarshal := func(text string) (string, error) {
		s := new(geocoding.Search)
		if err := s.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
			return "", err
		}
		out, err := json.Marshal(s)
		return string(out), err
	}
	got, err := unmarshal("maps_geocode {\n geocoder local a b\n geocoder local c\n prefix /find\n simple /short\n public\n}")
	const want = `{"prefix":"/find","simple":"/short","geocoders":[{"regions":["a","b"],"source":"local"},` +
		`{"regions":["c"],"source":"local"}],"public":true}`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	const local = "geocoder local a\n "
	for inside, says := range map[string]string{
		"":                                     "at least one geocoder",
		"geocoder":                             "argument",
		"geocoder nothing x":                   `geocoder: "nothing" is not known`,
		local + "prefix":                       "argument",
		local + "max_distance 5":               "unknown option",
		local + "prefix /a//b":                 "empty segments",
		local + "simple " + searchPath:         "simple: ",
		local + "simple /x\nprefix /x/":        "the path of the endpoint itself",
		local + "prefix " + simpleSearch + "/": "the path of the endpoint itself",
		local + "public yes":                   "argument",
	} {
		if _, err := unmarshal("maps_geocode {\n" + inside + "\n}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", inside, err)
		}
	}
}

type found struct {
	place
	Score *struct{ Total, Text, Importance, Proximity float64 } `json:"score"`
}

// search asks for places.
func search(t *testing.T, s *modulestest.Server, query string) []found {
	t.Helper()
	var data struct {
		Query   string  `json:"query"`
		Results []found `json:"results"`
	}
	parse(t, s.Do(http.MethodGet, searchPath+"?query="+query, "", ""), &data)
	return data.Results
}

// ids are the ids of places, in their order.
func ids(list []found) string {
	var ids []string
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, " ")
}

// What a text means, with each parameter.
func TestSearch(t *testing.T) {
	s := startSearch(t, buildRegion(t, modulestest.Village))
	const cafe, school, house, mainStreet, oakStreet = "node:100", "node:101", "node:102", "way:20", "way:21"
	for query, want := range map[string]string{
		"crossing+cafe": cafe, "CROSSING+CAF%C3%89": cafe, "crosing+caffe": cafe, "cafe+crossing%2C+testville": cafe,
		"5+main+st": house, "main+street+5": house, "5+main+street%2Ctestville": house,
		"main+st": mainStreet, "oak+st": oakStreet, "oa": oakStreet, "oak+street&autocomplete=true": oakStreet,
		"oa&autocomplete=false": "", "nothing": "", "testville": "way:30",
		"cafe+testville": cafe, "village+school": school,
		"testville&category=school": "", "village&category=school": school, "village&category=AMENITY": school, "crossing&category=shop": "",
		"oak+street&country=US": oakStreet, "oak+street&country=usa%2Cca": oakStreet, "oak+street&country=ca": "",
		"oak+street&bbox=-75.53,39.15,-75.51,39.17": oakStreet, "oak+street&bbox=-75.51,39.15,-75.53,39.17": "",
		"oak+street&bbox=-75.5,39,-75,40": "",
	} {
		got := search(t, s, query+"&limit=1")
		if ids(got) != want {
			t.Errorf("%s: %+v, want %s", query, got, want)
		}
		for _, p := range got {
			if p.Score != nil || p.Distance != 0 || p.Name == "" || p.Address["city"] != "Testville" || p.Address["country_code"] != "USA" {
				t.Errorf("%s: %+v", query, p)
			}
		}
	}
	if got := ids(search(t, s, "street")); got != mainStreet+" "+oakStreet && got != oakStreet+" "+mainStreet {
		t.Errorf("both streets: %s", got)
	}
	a := s.Do(http.MethodGet, searchPath+"?query=5+main+st&limit=1", "", "")
	const exact = `{"data":{"query":"5 main st","results":[{"id":"node:102","name":"5 Main Street",` +
		`"display_name":"5 Main Street, Testville, United States","category":"place","type":"house",` +
		`"location":{"lat":39.1601000,"lng":-75.5150000},"address":{"house_number":"5","street":"Main Street","city":"Testville",` +
		`"postcode":"19901","country":"United States","country_code":"USA"}}]}}`
	if diff := cmp.Diff(exact, a.Body); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// The parts of a score are its sum, and a near place has more of it; both forms of a position are the same.
	near, far := search(t, s, "oak+street&proximity=39.16,-75.52&explain=true"), search(t, s, "oak+street&proximity=lonlat:10,10&explain=true")
	none := search(t, s, "oak+street&explain=true")
	for _, list := range [][]found{near, far, none} {
		if len(list) == 0 || list[0].ID != oakStreet || list[0].Score == nil {
			t.Fatalf("%+v", list)
		}
		score := list[0].Score
		if sum := score.Text + score.Importance + score.Proximity; score.Text <= 0 || score.Total < sum-1e-3 || score.Total > sum+1e-3 {
			t.Errorf("%+v", *score)
		}
	}
	if near[0].Score.Proximity <= far[0].Score.Proximity || none[0].Score.Proximity != 0 || near[0].Distance > 1200 || far[0].Distance < 1e6 {
		t.Errorf("near %+v, far %+v, none %+v", near[0], far[0], none[0])
	}
	if got := search(t, s, "oak+street&proximity=lonlat:-75.52,39.16&explain=true"); !reflect.DeepEqual(got, near) {
		t.Errorf("longitude first: %+v, want %+v", got, near)
	}
	wide, close := search(t, s, "oak+street&proximity=39.2,-75.52&explain=true&zoom=0"), search(t, s, "oak+street&proximity=39.2,-75.52&explain=true&zoom=18")
	if wide[0].Score.Proximity <= close[0].Score.Proximity {
		t.Errorf("the same distance is nearer on a large map: %+v, %+v", *wide[0].Score, *close[0].Score)
	}

	const short = `{"msg":"ok","data":[{"name":"Crossing Café","latitude":39.1601000,"longitude":-75.5201000,` +
		`"Country":"United States","City":"Testville","type":"cafe"}]}`
	if a := s.Do(http.MethodGet, simpleSearch+"?name=crossing+cafe&limit=1", "", ""); a.Body != short {
		t.Errorf("%s, want %s", a.Body, short)
	}
	if a := s.Do(http.MethodGet, simpleSearch+"?name=nothing", "", ""); a.Body != `{"msg":"ok","data":[]}` {
		t.Errorf("nothing: %s", a.Body)
	}
}

// Names are given in the languages of the parameter, else in those of the header, and found in all.
func TestSearchLanguage(t *testing.T) {
	s := startSearch(t, buildRegion(t, `<osm version="0.6"><node id="7" version="1" lat="46.94" lon="7.44">`+
		`<tag k="name" v="Bern"/><tag k="name:fr" v="Berne"/><tag k="name:it" v="Berna"/><tag k="place" v="city"/></node></osm>`))
	for _, tc := range []struct{ query, header, name, vary string }{
		{"bern", "", "Bern", ""}, {"berna", "", "Bern", ""}, {"bern&language=fr-CH", "", "Berne", ""},
		{"berne&language=", "it", "Berna", "Accept-Language"}, {"bern", "it, fr;q=0.9", "Berna", "Accept-Language"},
		{"bern", "!!", "Bern", ""}, {"bern&language=it", "fr", "Berna", ""}, {"bern&language=*", "fr", "Bern", ""},
	} {
		a := s.Do(http.MethodGet, searchPath+"?query="+tc.query, "", "", "Accept-Language", tc.header)
		if a.Status != 200 || !strings.Contains(a.Body, `"name":"`+tc.name+`"`) || a.Header.Get("Vary") != tc.vary {
			t.Errorf("%+v: %d %s, Vary %q", tc, a.Status, a.Body, a.Header.Get("Vary"))
		}
	}
}

// The regions of a geocoder are searched together. A place that two of them have appears once, as the first has it, and
// a region that cannot be read is left out. New files are searched without a reload of the configuration.
func TestSearchRegions(t *testing.T) {
	village, again, away := buildRegion(t, modulestest.Village), buildRegion(t, modulestest.Renamed("Newtown")), buildRegion(t, far("10", "20", ""))
	s := startSearch(t, village, again, away)
	if got := ids(search(t, s, "crossing+cafe")); got != "node:100" {
		t.Errorf("a place of two regions: %s", got)
	}
	if got := search(t, s, "crossing+cafe"); len(got) != 1 || got[0].Address["city"] != "Testville" {
		t.Errorf("not of the first: %+v", got)
	}
	// Far and Far Road are in different regions; what is nearer has the higher score.
	for at, want := range map[string]string{"10,20": "node:7 way:22", "39.165,-75.45": "way:22 node:7"} {
		if got := ids(search(t, s, "far&proximity="+at)); got != want {
			t.Errorf("near %s: %s, want %s", at, got, want)
		}
	}
	if got := ids(search(t, s, "far&proximity=10,20&limit=1")); got != "node:7" {
		t.Errorf("limited: %s", got)
	}
	modulestest.BuildRegion(t, away, strings.Replace(far("10", "20", ""), "Far", "Elsewhere", 1))
	reload(t, s)
	if got := ids(search(t, s, "elsewhere")); got != "node:7" {
		t.Errorf("the new file: %s", got)
	}
	if err := os.Truncate(village, 4096); err != nil {
		t.Fatal(err)
	}
	if got := search(t, s, "crossing+cafe"); len(got) != 1 || got[0].Address["city"] != "Newtown" {
		t.Errorf("with a damaged region: %+v", got)
	}
	if a := s.Do(http.MethodGet, searchPath+"?query=nothing", "", ""); a.Status != 503 || a.Body != `{"error":"service unavailable"}` {
		t.Errorf("what only the damaged region may have: %d %s", a.Status, a.Body)
	}
	modulestest.BuildRegion(t, village, modulestest.Renamed("Oldtown"))
	reload(t, s)
	if got := search(t, s, "crossing+cafe"); len(got) != 1 || got[0].Address["city"] != "Oldtown" {
		t.Errorf("after it was replaced: %+v", got)
	}
}
