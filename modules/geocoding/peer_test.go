package geocoding_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// startPeers runs both APIs on the village and a railway line that passes the café more closely than any road.
func startPeers(t *testing.T) *modulestest.Server {
	t.Helper()
	region := buildRegion(t, strings.Replace(modulestest.Village, "</osm>", `
<node id="40" version="1" lat="39.1601" lon="-75.52013"></node><node id="41" version="1" lat="39.1605" lon="-75.52013"></node>
<way id="50" version="1"><nd ref="40"/><nd ref="41"/><tag k="railway" v="rail"/><tag k="name" v="Main Line"/></way>
<node id="42" version="1" lat="39.165" lon="-75.5001"><tag k="natural" v="tree"/><tag k="name" v="Old Oak"/></node>
</osm>`, 1))
	return modulestest.Start(t, modulestest.Config{Maps: "region village " + region, Site: `
handle_path /photon/* {
	maps_photon {
		public
		geocoder local village
	}
}
handle /nominatim/* {
	maps_nominatim {
		prefix /nominatim
		public
		geocoder local village
	}
}`})
}

// asked is the answer to a GET as JSON.
func asked(t *testing.T, s *modulestest.Server, target string, header ...string) (answer any, a modulestest.Response) {
	t.Helper()
	a = s.Do(http.MethodGet, target, "", "", header...)
	if err := json.Unmarshal([]byte(a.Body), &answer); err != nil {
		t.Fatalf("%s: %d %s: %v", target, a.Status, a.Body, err)
	}
	return answer, a
}

// in returns what is in JSON under keys and indexes.
func in(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[p]
		case int:
			list, _ := v.([]any)
			if p >= len(list) {
				return nil
			}
			v = list[p]
		}
	}
	return v
}

// parsed is JSON as asked returns it.
func parsed(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPhotonReverse sends requests as clients of Photon do, and reads in the answers what they read.
func TestPhotonReverse(t *testing.T) {
	s := startPeers(t)
	got, a := asked(t, s, "/photon/reverse?lat=39.1601&lon=-75.515")
	want := parsed(t, `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"osm_type":"N","osm_id":102,
		"osm_key":"place","osm_value":"house","type":"house","housenumber":"5","street":"Main Street","postcode":"19901",
		"city":"Testville","country":"United States","countrycode":"US"},
		"geometry":{"type":"Point","coordinates":[-75.515,39.1601]}}]}`)
	if diff := cmp.Diff(want, got); diff != "" || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s (-want +got)\n%s", a.Header.Get("Content-Type"), diff)
	}
	const beside = "lat=39.16012&lon=-75.52013" // on the railway, 3 m from the café and 11 from Oak Street
	for name, c := range map[string]struct{ query, want string }{
		"Geocoder of Ruby, in dawarich": {"lat=39.1601&lon=-75.5201&limit=10&radius=1&distance_sort=true&lang=en",
			"N100 W21 W20 N102 N101"},
		"Leaflet Control Geocoder":       {beside, "N100"},
		"leaflet.photon":                 {"lang=de&limit=1&" + beside, "N100"},
		"no tree":                        {"lat=39.165&lon=-75.5001&layer=house&layer=street&radius=2", "W20"},
		"a tree":                         {"lat=39.165&lon=-75.5001&layer=other&limit=5", "N42"},
		"a key":                          {beside + "&osm_tag=amenity&limit=5", "N100 N101"},
		"a key and its value":            {beside + "&osm_tag=amenity:school", "N101"},
		"a value":                        {beside + "&osm_tag=:school", "N101"},
		"not a key":                      {beside + "&osm_tag=!amenity", "W21"},
		"not a value":                    {beside + "&osm_tag=:!cafe", "W21"},
		"a key without a value":          {beside + "&osm_tag=amenity:!cafe", "N101"},
		"not a key with its value":       {beside + "&osm_tag=!amenity:cafe&osm_tag=amenity", "N101"},
		"not even if it is asked for":    {beside + "&osm_tag=railway", ""},
		"a city":                         {beside + "&layer=city", "W30"},
		"cities and countries":           {beside + "&layer=city&layer=country&limit=3", "W30"},
		"nothing near, the place":        {"lat=39.11&lon=-75.59", "W30"},
		"nothing at all":                 {"lat=1&lon=1", ""},
		"the house, not its street":      {"lat=39.16&lon=-75.5151", "N102"},
		"the street, far from its house": {"lat=39.16&lon=-75.5105", "W20"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := asked(t, s, "/photon/reverse/?"+c.query)
			var ids []string
			for _, f := range in(got, "features").([]any) {
				id, _ := json.Marshal(in(f, "properties", "osm_id"))
				ids = append(ids, in(f, "properties", "osm_type").(string)+string(id))
			}
			if strings.Join(ids, " ") != c.want {
				t.Errorf("got %v, want %s", ids, c.want)
			}
		})
	}
	// A town has an extent, and no city of its own.
	got, _ = asked(t, s, "/photon/reverse?layer=city&"+beside)
	want = parsed(t, `{"osm_type":"W","osm_id":30,"osm_key":"boundary","osm_value":"administrative","type":"city",
		"name":"Testville","country":"United States","countrycode":"US","extent":[-75.6,39.2,-75.4,39.1]}`)
	if diff := cmp.Diff(want, in(got, "features", 0, "properties")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for query, want := range map[string]string{
		"reverse?lat=39":                     "Parameter 'lon' missing.",
		"reverse?lat=39&lon=200":             "Parameter 'lon' must be a number from -180 to 180.",
		"reverse?lat=39&lon=1&radius=0":      "Parameter 'radius' must be a number from 1e-09 to 5000.",
		"reverse?lat=39&lon=1&q=x":           "Unknown query parameter 'q'.",
		"reverse?lat=39&lon=1&layer=planet":  "Unknown layer type.",
		"reverse?lat=39&lon=1&osm_tag=a:b:c": "Invalid parameter 'osm_tag=a:b:c': bad syntax for tag filter.",
		"api":                                "Missing parameter 'q'.",
		"api?q=x&bbox=1,2":                   "Invalid bounding box",
		"api?q=x&lat=1":                      "Parameter 'lon' missing.",
		"api?q=%zz":                          "the query is not well-formed",
	} {
		got, a := asked(t, s, "/photon/"+query)
		if message, _ := in(got, "message").(string); a.Status != 400 || !strings.HasPrefix(message, want) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	if a := s.Do(http.MethodGet, "/photon/status", "", ""); a.Body != `{"status":"Ok"}` {
		t.Errorf("status: %d %s", a.Status, a.Body)
	}
	if a := s.Do(http.MethodGet, "/photon/apis", "", ""); a.Status != 404 {
		t.Errorf("another path: %d", a.Status)
	}
	if a := s.Do(http.MethodDelete, "/photon/reverse", "", ""); a.Status != 405 {
		t.Errorf("another method: %d", a.Status)
	}
}

// TestNominatimReverse sends requests as clients of Nominatim do, and reads in the answers what they read.
func TestNominatimReverse(t *testing.T) {
	s := startPeers(t)
	// Home Assistant's places and Leaflet Control Geocoder.
	got, _ := asked(t, s, "/nominatim/reverse?format=json&lat=39.16012&lon=-75.52013&accept-language=&addressdetails=1"+
		"&namedetails=1&zoom=18&limit=1&email=a%40b.example&extratags=1")
	want := parsed(t, `{"place_id":401,"licence":"Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright",
		"osm_type":"node","osm_id":100,"lat":"39.1601000","lon":"-75.5201000","class":"amenity","type":"cafe","place_rank":30,
		"importance":0,"addresstype":"amenity","name":"Crossing Café",
		"display_name":"Crossing Café, Testville, United States",
		"address":{"amenity":"Crossing Café","road":"Oak Street","city":"Testville","country":"United States","country_code":"us"},
		"extratags":null,"namedetails":{"name":"Crossing Café"},
		"boundingbox":["39.1600500","39.1601500","-75.5201500","-75.5200500"]}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	const here = "lat=39.1601&lon=-75.515"
	for name, c := range map[string]struct {
		query string
		path  []any
		want  any
	}{
		"the house":             {here, []any{"address"}, parsed(t, `{"house_number":"5","road":"Main Street","postcode":"19901","city":"Testville","country":"United States","country_code":"us"}`)},
		"its name":              {here, []any{"name"}, ""},
		"jsonv2":                {here + "&format=jsonv2", []any{"category"}, "place"},
		"no address":            {here + "&addressdetails=0", []any{"address"}, nil},
		"the street":            {here + "&zoom=17", []any{"addresstype"}, "road"},
		"the street's address":  {here + "&zoom=16", []any{"address", "road"}, "Main Street"},
		"the street's shape":    {here + "&zoom=16&polygon_geojson=1", []any{"geojson", "type"}, "MultiLineString"},
		"the town":              {here + "&zoom=10", []any{"display_name"}, "Testville, United States"},
		"the town's kind":       {here + "&zoom=10", []any{"addresstype"}, "city"},
		"the town's address":    {here + "&zoom=12", []any{"address"}, parsed(t, `{"city":"Testville","country":"United States","country_code":"us"}`)},
		"the neighbourhood":     {here + "&zoom=14", []any{"osm_id"}, 30.0},
		"no country's area":     {here + "&zoom=3", []any{"error"}, "Unable to geocode"},
		"the sea":               {"lat=1&lon=1", []any{"error"}, "Unable to geocode"},
		"a field":               {"lat=39.11&lon=-75.59", []any{"osm_id"}, 30.0},
		"not the tree":          {"lat=39.165&lon=-75.5001", []any{"osm_id"}, 30.0},
		"a tree":                {"lat=39.165&lon=-75.5001&layer=natural", []any{"name"}, "Old Oak"},
		"a railway":             {"lat=39.16012&lon=-75.52013&layer=railway", []any{"name"}, "Main Line"},
		"geojson":               {here + "&format=geojson", []any{"features", 0, "geometry", "coordinates"}, []any{-75.515, 39.1601}},
		"geojson's properties":  {here + "&format=geojson", []any{"features", 0, "properties", "osm_id"}, 102.0},
		"geojson's box":         {here + "&format=geojson&zoom=10", []any{"features", 0, "bbox"}, []any{-75.6, 39.1, -75.4, 39.2}},
		"geocodejson":           {here + "&format=geocodejson", []any{"features", 0, "properties", "geocoding"}, parsed(t, `{"place_id":409,"osm_type":"node","osm_id":102,"osm_key":"place","osm_value":"house","type":"house","label":"5 Main Street, Testville, United States","housenumber":"5","street":"Main Street","postcode":"19901","city":"Testville","country":"United States","country_code":"us"}`)},
		"the house, near on it": {"lat=39.16&lon=-75.5151", []any{"osm_id"}, 102.0},
	} {
		t.Run(name, func(t *testing.T) {
			got, a := asked(t, s, "/nominatim/reverse.php?"+c.query)
			if diff := cmp.Diff(c.want, in(got, c.path...)); diff != "" || a.Status != 200 {
				t.Errorf("%d %s\n%s", a.Status, a.Body, diff)
			}
		})
	}
	for query, want := range map[string]string{
		"reverse?lon=1":                  "Parameter 'lat' missing.",
		"reverse?lat=x&lon=1":            "Parameter 'lat' must be a number from -90 to 90.",
		"reverse?lat=1&lon=1&format=xml": "Parameter 'format' must be one of: jsonv2, json, geojson, geocodejson",
		"reverse?lat=1&lon=1&layer=sky":  "Parameter 'layer' must be a list of: address, poi, railway, natural, manmade",
		"search":                         "Nothing to search for.",
		"search?q=a&city=b":              "Structured query parameters",
		"search?q=a&viewbox=1,2":         "Parameter 'viewbox' must be four numbers: x1,y1,x2,y2.",
	} {
		got, a := asked(t, s, "/nominatim/"+query)
		if message, _ := in(got, "error", "message").(string); a.Status != 400 || in(got, "error", "code") != 400.0 ||
			!strings.HasPrefix(message, want) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
	if a := s.Do(http.MethodGet, "/nominatim/status", "", ""); a.Body != "OK" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("status: %d %s", a.Status, a.Body)
	}
	if got, _ := asked(t, s, "/nominatim/status?format=json"); in(got, "status") != 0.0 {
		t.Errorf("status: %v", got)
	}
}

// TestPhotonSearch sends the requests of search boxes for Photon.
func TestPhotonSearch(t *testing.T) {
	s := startPeers(t)
	for name, c := range map[string]struct{ query, want string }{
		"Leaflet Control Geocoder":      {"q=crossing", "100"},
		"leaflet.photon":                {"q=vill&lang=de&limit=5&lat=39.16&lon=-75.52", "101"},
		"dawarich":                      {"q=Main%20Street%2C%20Testville&limit=1&lang=en", "20"},
		"location bias":                 {"q=cafe&lat=39.16&lon=-75.52&zoom=14&location_bias_scale=0.1", "100"},
		"a house":                       {"q=5+Main+Street", "102"},
		"a town":                        {"q=Testville&layer=city", "30"},
		"only streets":                  {"q=main&layer=street", "20"},
		"only a town, not a street":     {"q=main+street&layer=city", ""},
		"houses and points of interest": {"q=crossing+cafe&layer=house", "100"},
		"a tag":                         {"q=crossing&osm_tag=amenity:cafe", "100"},
		"another tag":                   {"q=crossing&osm_tag=!amenity", ""},
		"no railway lines":              {"q=main+line&osm_tag=railway", ""},
		"in a box":                      {"q=main+street&bbox=-76,39,-75,40", "20"},
		"in another box":                {"q=main+street&bbox=1,39,2,40", ""},
		"in a country":                  {"q=main+street&countrycode=us", "20"},
		"in another country":            {"q=main+street&countrycode=DE", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := asked(t, s, "/photon/api/?"+c.query)
			id := ""
			if first := in(got, "features", 0, "properties", "osm_id"); first != nil {
				text, _ := json.Marshal(first)
				id = string(text)
			}
			if id != c.want || in(got, "type") != "FeatureCollection" {
				t.Errorf("got %v, want %s first", got, c.want)
			}
		})
	}
	got, _ := asked(t, s, "/photon/api?q=testville&limit=1")
	want := parsed(t, `{"osm_type":"W","osm_id":30,"osm_key":"boundary","osm_value":"administrative","type":"city",
		"name":"Testville","country":"United States","countrycode":"US","extent":[-75.6,39.2,-75.4,39.1]}`)
	if diff := cmp.Diff(want, in(got, "features", 0, "properties")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestNominatimSearch sends the requests of search boxes for Nominatim.
func TestNominatimSearch(t *testing.T) {
	s := startPeers(t)
	for name, c := range map[string]struct {
		query string
		path  []any
		want  any
	}{
		"Leaflet Control Geocoder": {"q=Testville&limit=5&format=json&addressdetails=1", []any{0, "boundingbox"},
			[]any{"39.1000000", "39.2000000", "-75.6000000", "-75.4000000"}},
		"leaflet-geosearch":    {"q=main+street&format=json", []any{0, "class"}, "highway"},
		"MapLibre GL Geocoder": {"q=Testville&format=geojson&polygon_geojson=1&addressdetails=1", []any{0}, nil},
		"its box":              {"q=Testville&format=geojson&polygon_geojson=1&addressdetails=1", []any{"features", 0, "bbox"}, []any{-75.6, 39.1, -75.4, 39.2}},
		"its address":          {"q=Testville&format=geojson&polygon_geojson=1&addressdetails=1", []any{"features", 0, "properties", "address", "city"}, "Testville"},
		"no address":           {"q=crossing+cafe", []any{0, "address"}, nil},
		"a category":           {"q=crossing+cafe", []any{0, "category"}, "amenity"},
		"structured":           {"street=5+Main+Street&city=Testville&country=United+States", []any{0, "osm_id"}, 102.0},
		"an amenity":           {"amenity=cafe&city=Testville", []any{0, "osm_id"}, 100.0},
		"nothing":              {"q=nowhere", []any{}, []any{}},
		"no text":              {"q=", []any{}, []any{}},
		"a country":            {"q=crossing+cafe&countrycodes=ca,us", []any{0, "osm_id"}, 100.0},
		"another country":      {"q=crossing+cafe&countrycodes=ca", []any{}, []any{}},
		"a box":                {"q=crossing+cafe&viewbox=-75,40,-76,39&bounded=1", []any{0, "osm_id"}, 100.0},
		"another box":          {"q=crossing+cafe&viewbox=1,40,2,39&bounded=1", []any{}, []any{}},
		"rather another box":   {"q=crossing+cafe&viewbox=1,40,2,39", []any{0, "osm_id"}, 100.0},
		"a settlement":         {"q=Testville&featureType=settlement", []any{0, "osm_id"}, 30.0},
		"no settlement":        {"q=crossing+cafe&featureType=settlement", []any{}, []any{}},
		"a layer":              {"q=crossing+cafe&layer=address,poi", []any{0, "osm_id"}, 100.0},
		"another layer":        {"q=crossing+cafe&layer=natural", []any{}, []any{}},
		"a railway":            {"q=main+line&layer=railway", []any{0, "osm_id"}, 50.0},
		"geocodejson":          {"q=crossing+cafe&format=geocodejson", []any{"features", 0, "properties", "geocoding", "type"}, "house"},
	} {
		t.Run(name, func(t *testing.T) {
			got, a := asked(t, s, "/nominatim/search?"+c.query)
			if diff := cmp.Diff(c.want, in(got, c.path...)); diff != "" || a.Status != 200 {
				t.Errorf("%d %s\n%s", a.Status, a.Body, diff)
			}
		})
	}
	// Limits.
	for query, most := range map[string]int{"q=street&limit=1": 1, "q=street&limit=0": 1, "q=street": 10} {
		got, _ := asked(t, s, "/nominatim/search?"+query)
		if n := len(got.([]any)); n == 0 || n > most {
			t.Errorf("%s: %d results", query, n)
		}
	}
}

// TestPeerScopes: searches and reverse geocoding need scopes of their own.
func TestPeerScopes(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildRegion(t, modulestest.Village), Site: `
		handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts* {
			maps_accounts
		}
		handle_path /photon/* {
			maps_auth * {
				api_key_query apiKey
			}
			maps_photon {
				geocoder local village
			}
		}
		handle {
			maps_auth *
			maps_nominatim {
				geocoder local village
			}
		}`})
	for path, scope := range map[string]string{
		"/photon/api?q=main": "GEOCODING", "/photon/reverse?lat=39.16&lon=-75.52": "REVERSEGEOCODING", "/photon/status": "GEOCODING",
		"/search?q=main": "GEOCODING", "/reverse?lat=39.16&lon=-75.52": "REVERSEGEOCODING",
	} {
		for _, has := range []string{"GEOCODING", "REVERSEGEOCODING"} {
			_, token := s.Token("peers", has)
			want := 403
			if has == scope {
				want = 200
			}
			if a := s.Do(http.MethodGet, path, token, ""); a.Status != want {
				t.Errorf("%s with %s: %d %s, want %d", path, has, a.Status, a.Body, want)
			}
			if strings.HasPrefix(path, "/photon/api") { // the parameter is not Photon's, but that of maps_auth
				if a := s.Do(http.MethodGet, path+"&apiKey="+token, "", ""); a.Status != want {
					t.Errorf("%s with %s in apiKey: %d %s", path, has, a.Status, a.Body)
				}
			}
		}
	}
}
