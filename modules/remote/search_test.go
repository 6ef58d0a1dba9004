package remote_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// startSearch runs a server that searches with an engine.
func startSearch(t *testing.T, e engine) (*modulestest.Server, *modulestest.Upstream) {
	u := modulestest.NewUpstream(t)
	return modulestest.Start(t, modulestest.Config{Site: "maps_geocode {\npublic\ngeocoder " + e.name + " " + u.URL + "\n}"}), u
}

const searchPath = "/v2/search/geocode"

// The documented answers of Nominatim and Photon, what is asked for each parameter, and what is left of the answer.
func TestSearchElsewhere(t *testing.T) {
	const (
		house = `{"id":"way:15976890","name":"Kommandantenhaus","display_name":"Kommandantenhaus, Mitte, Berlin, Deutschland",` +
			`"category":"amenity","type":"public_building","location":{"lat":52.5171979,"lng":13.3978352},"address":{` +
			`"house_number":"1","street":"Unter den Linden","suburb":"Mitte","city":"Berlin","state":"Berlin",` +
			`"postcode":"10117","country":"Deutschland","country_code":"DEU"}}`
		bakery = `{"id":"node:317179427","name":"Bäcker Kamps","display_name":"Bäcker Kamps, Wedding, Berlin, Deutschland",` +
			`"category":"shop","type":"bakery","location":{"lat":52.5460941,"lng":13.3591800},"address":{` +
			`"street":"Bahnsteig U6","suburb":"Wedding","city":"Berlin","state":"Berlin","postcode":"13353",` +
			`"country":"Deutschland","country_code":"DEU"}}`
		berlin = `{"id":"node:240109189","name":"Berlin","display_name":"Berlin, Germany","category":"place","type":"city",` +
			`"location":{"lat":52.5170365,"lng":13.3888599},"address":{"city":"Berlin","state":"Berlin","country":"Germany",` +
			`"country_code":"DEU"}}`
		stadium = `{"id":"way:38862723","name":"Berlin Olympic Stadium",` +
			`"display_name":"Berlin Olympic Stadium, Berlin, Germany","category":"leisure","type":"stadium",` +
			`"location":{"lat":52.5146795,"lng":13.2395147},"address":{"house_number":"3","street":"Olympischer Platz",` +
			`"city":"Berlin","state":"Berlin","postcode":"14053","country":"Germany","country_code":"DEU"}}`
		other = `{"id":"node:158851941","name":"Berlin","display_name":"Berlin, New Hampshire, United States",` +
			`"category":"place","type":"town","location":{"lat":44.4687000,"lng":-71.1850000},"address":{"city":"Berlin",` +
			`"county":"Coös County","state":"New Hampshire","country":"United States","country_code":"USA"}}`
		nominatims, photons = "/search?format=jsonv2&addressdetails=1&extratags=1&limit=", "/api?q=Berlin&limit="
	)
	type test struct{ query, asked, want string }
	away := func(place, metres string) string {
		return strings.Replace(place, `,"location"`, `,"distance":`+metres+`,"location"`, 1)
	}
	for e, tests := range map[string][]test{
		"nominatim": {
			{"", nominatims + "5&q=Berlin", house + "," + bakery},
			{"&explain=true&autocomplete=false&language=de", nominatims + "5&q=Berlin", house + "," + bakery},
			{"&limit=1", nominatims + "1&q=Berlin", house},
			{"&category=BAKERY", nominatims + "50&q=Berlin", bakery},
			{"&category=building", nominatims + "50&q=Berlin", strings.Replace(house, `"amenity","type":"public_building"`, `"building","type":"yes"`, 1)},
			{"&bbox=13.3,52.5,13.36,52.6", nominatims + "5&q=Berlin&viewbox=13.3,52.5,13.36,52.6&bounded=1", bakery},
			{"&bbox=170,52.5,13.36,52.6", nominatims + "5&q=Berlin", bakery},
			{"&country=AUT,de", nominatims + "5&q=Berlin&countrycodes=at,de", house + "," + bakery},
			{"&country=at", nominatims + "5&q=Berlin&countrycodes=at", ""},
			{"&proximity=52.5460941,13.35918", nominatims + "5&q=Berlin&viewbox=13.337207,52.524121,13.381153,52.568067",
				away(house, "4142.58") + "," + away(bakery, "0")},
			{"&proximity=lonlat:-180,90&zoom=0", nominatims + "5&q=Berlin&viewbox=-180.000000,-90.000000,180.000000,90.000000",
				away(house, "4167903.19") + "," + away(bakery, "4164690.07")},
		},
		"photon": {
			{"", photons + "15", berlin + "," + stadium + "," + other},
			{"&limit=2", photons + "12", berlin + "," + stadium},
			{"&category=leisure", photons + "15&osm_tag=leisure&osm_tag=%3Aleisure", stadium},
			{"&category=a:b", photons + "50", ""},
			{"&country=usa", photons + "50", other},
			{"&bbox=13,52,14,53", photons + "15&bbox=13,52,14,53", berlin + "," + stadium},
			{"&bbox=14,52,-60,53", photons + "15", ""},
			{"&bbox=14,40,-60,53", photons + "15", other},
			{"&proximity=44.4687,-71.185&zoom=11.6", photons + "15&lat=44.4687&lon=-71.185&zoom=12",
				away(berlin, "5932049.98") + "," + away(stadium, "5923219.22") + "," + away(other, "0")},
			{"&proximity=0,0", photons + "15&lat=0&lon=0&zoom=14", ""},
		},
	} {
		t.Run(e, func(t *testing.T) {
			s, u := startSearch(t, engine{name: e})
			answer := recorded(t, e+"/search_berlin")
			for _, tc := range tests {
				if tc.want == "" { // an upstream may also find nothing
					answer.Body = map[string][]byte{"nominatim": []byte(`[]`), "photon": []byte(`{"features":[]}`)}[e]
				}
				list := replay(u, answer)
				got := results(t, s.Do(http.MethodGet, searchPath+"?query=Berlin"+tc.query, "", ""))
				if diff := cmp.Diff("["+tc.want+"]", got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.query, diff)
				}
				if diff := cmp.Diff([]string{tc.asked}, list()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.query, diff)
				}
				answer = recorded(t, e+"/search_berlin")
			}
		})
	}
}

// Languages are in the header, text is escaped, and mistakes of upstreams are errors of the API.
func TestSearchElsewhereTroubles(t *testing.T) {
	for name, bodies := range map[string]map[string]int{
		"nominatim": {`[]`: 200, `{}`: 502, `[{"lat":"91","lon":"0"}]`: 502, `[{}]`: 502, `null`: 200,
			"[" + strings.Repeat("{},", 50) + "{}]": 502, `{"error":"Unable to geocode"}`: 502},
		"photon": {`{"features":[]}`: 200, `{}`: 502, `[]`: 502, `{"features":[{}]}`: 502},
	} {
		e := engine{name: name}
		t.Run(name, func(t *testing.T) {
			s, u := startSearch(t, e)
			for body, status := range bodies {
				u.Send(200, body)
				if a := s.Do(http.MethodGet, searchPath+"?query=x", "", ""); a.Status != status {
					t.Errorf("%.60s: %d %s, want %d", body, a.Status, a.Body, status)
				}
			}
			for sent, status := range map[int]int{500: 502, 503: 503, 429: 503, 504: 504} {
				u.Send(sent, "trouble")
				e.check(t, s.Do(http.MethodGet, searchPath+"?query=x", "", ""), status)
			}
			var got string
			u.Answer(func(w http.ResponseWriter, r *http.Request) {
				got = r.URL.Query().Get("q") + "|" + r.Header.Get("Accept-Language")
				fmt.Fprint(w, map[string]string{"nominatim": "[]", "photon": `{"features":[]}`}[name])
			})
			const text, want = "a%26limit%3D9+%23%25%E4%B8%AD%2Bb", "a&limit=9 #%中+b|de, en;q=0.95"
			if a := s.Do(http.MethodGet, searchPath+"?query="+text+"&language=de,en", "", ""); a.Status != 200 || got != want {
				t.Errorf("%d, asked %q, want %q", a.Status, got, want)
			}
		})
	}
}

// In a chain, the first that finds something answers. What finds nothing is skipped, an error is not.
func TestSearchChain(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	first, second := modulestest.NewUpstream(t), modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + region, Site: "maps_geocode {\npublic\n" +
		"geocoder local village\ngeocoder photon " + first.URL + "\ngeocoder nominatim " + second.URL + "\n}"})
	ask := func() modulestest.Response { return s.Do(http.MethodGet, searchPath+"?query=Unter+den+Linden", "", "") }
	second.Replay(recorded(t, "nominatim/search_berlin"))
	first.Send(200, `{"features":[]}`)
	if got := results(t, ask()); !strings.Contains(got, "Kommandantenhaus") {
		t.Errorf("the last: %s", got)
	}
	first.Replay(recorded(t, "photon/search_berlin"))
	if got := results(t, ask()); !strings.Contains(got, "Olympic") || strings.Contains(got, "Kommandantenhaus") {
		t.Errorf("the one before it: %s", got)
	}
	first.Send(500, "")
	if a := ask(); a.Status != 502 {
		t.Errorf("an error: %d %s", a.Status, a.Body)
	}
}
