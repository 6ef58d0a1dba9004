package nominatimgeocoder_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A category restricts always, and says what is asked. The last response stands for all that follow.
func TestCategory(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	const (
		poi, manmade, natural  = "&layer=poi", "&layer=manmade", "&layer=natural"
		features, railway      = "&layer=manmade,natural,railway", "&layer=poi,railway"
		addresses, settlements = "&layer=address", "&layer=address&zoom=15"
		streets                = "&layer=address&zoom=17"
	)
	hotel := strings.Replace(restaurant, `"category":"amenity","type":"restaurant"`,
		`"category":"tourism","type":"hotel"`, 1)
	for _, tc := range []struct {
		answers  []string
		category string
		want     string
		asked    []string
	}{
		{[]string{"poi"}, "amenity", restaurant, []string{poi}},
		{[]string{"poi"}, "railway,AMENITY", restaurant, []string{railway}},
		{[]string{"unable", "poi"}, "railway,AMENITY", restaurant, []string{railway, poi}},
		{[]string{"poi"}, "restaurant", restaurant, []string{poi}},
		{[]string{"poi"}, "hotel", hotel, []string{poi}},
		{[]string{"poi"}, "tourism", hotel, []string{poi}},
		{[]string{"poi"}, "cuisine", "[]", []string{poi, features, streets}},
		{[]string{"unable"}, "italian,shop,%20", "[]", []string{poi, features, streets}},
		{[]string{"bench"}, "bench", "[]", []string{poi, features, streets}},
		{[]string{"poi"}, "natural", "[]", []string{natural, poi}},
		{[]string{"poi"}, "waterway", "[]", []string{natural}},
		{[]string{"bench", "bench", "square"}, "leisure,highway,shop", square, []string{poi, manmade, streets}},
		{[]string{"unable"}, "leisure,natural,highway", "[]", []string{poi, manmade, natural}},
		{[]string{"square"}, "highway", square, []string{streets}},
		{[]string{"house"}, "building", house, []string{addresses}},
		{[]string{"house", "house"}, "place", "[]", []string{settlements, addresses, manmade}},
		{[]string{"city"}, "boundary", london, []string{settlements}},
		{[]string{"unable"}, "village,landuse", "[]", []string{settlements, manmade}},
		{[]string{"poi"}, ",%20,", restaurant, []string{""}},
	} {
		var answers []modulestest.Recorded
		for _, name := range tc.answers {
			answers = append(answers, read(t, name))
		}
		a := replay(u, answers...)
		target := question(t, answers[len(answers)-1])
		got := results(t, s.Do(http.MethodGet, target+"&category="+tc.category, "", ""))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tc, diff)
		}
		var asked []string
		for _, uri := range a.list() {
			_, added, _ := strings.Cut(uri, "&polygon_geojson=1")
			asked = append(asked, added)
		}
		if diff := cmp.Diff(tc.asked, asked); diff != "" {
			t.Errorf("%+v: asked (-want +got):\n%s", tc, diff)
		}
	}
}

// All that is asked for one request counts as its calls.
func TestCalls(t *testing.T) {
	u := modulestest.NewUpstream(t)
	bench := read(t, "bench")
	for calls, want := range map[string]int{"1": 502, "2": 200} {
		s := start(t, u.URL, "max_calls "+calls)
		a := replay(u, bench, read(t, "square"))
		if got := s.Do(http.MethodGet, question(t, bench), "", ""); got.Status != want {
			t.Errorf("%s calls: %d %s, asked %v", calls, got.Status, got.Body, a.list())
		}
	}
}

// What is sent: the languages go along, credentials and IP addresses do not.
func TestRequests(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: fmt.Sprintf(`
		handle {
			maps_auth REVERSEGEOCODING {
				api_key_query apiKey
				forward_token
			}
			maps_reverse_geocode {
				geocoder nominatim %s {
					rewrite /nominatim{uri}
					header_up X-Account {http.auth.user.id}
				}
			}
		}
		handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts {
			maps_accounts
		}`, u.URL)})
	account, token := s.Token("org", "REVERSEGEOCODING")
	r := read(t, "poi")
	for language, want := range map[string]string{
		"": "", "&language=*": "", "&language=de-AT": "de-AT",
		"&language=it;q%3D0.1,de,%20en-GB;q%3D0.5": "de, en-GB;q=0.95, it;q=0.90",
		// Nominatim passes over what has a digit in it (test/python/api/test_localization.py).
		"&language=es-419,sr-Latn-RS,de-DE-1996": "es, sr-Latn-RS;q=0.95, de-DE;q=0.90",
	} {
		var received atomic.Pointer[http.Request]
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			received.Store(r)
			fmt.Fprint(w, `{"error":"Unable to geocode"}`)
		})
		a := s.Do(http.MethodGet, question(t, r)+language, token, "", "Cookie", "a=b", "X-Forwarded-For", "1.2.3.4")
		request := received.Load()
		if a.Status != 200 || request == nil {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if request.RequestURI != "/nominatim"+sent(t, r) {
			t.Errorf("sent %s", request.RequestURI)
		}
		if got := request.Header.Get("Accept-Language"); got != want {
			t.Errorf("%s: Accept-Language %q, want %q", language, got, want)
		}
		u.CheckPrivate(t, request, account.ID, token)
	}
}
