package photongeocoder_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A category is Photon's osm_tag where that can say it, and is compared with the response in any case.
func TestCategory(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	pharmacy := []string{"node:1234567890 amenity/pharmacy 88.19"}
	both := []string{"node:1234567891 amenity/doctors 0", "node:1234567890 amenity/pharmacy 88.19"}
	r := read(t, "pharmacy")
	long := strings.TrimSuffix(strings.Repeat("x", 100)+","+strings.Repeat("y", 5000), ",")
	for category, want := range map[string]struct {
		places []string
		tags   string
	}{
		"pharmacy":       {pharmacy, "&osm_tag=pharmacy&osm_tag=%3Apharmacy"},
		"%20PharmacY%20": {pharmacy, "&osm_tag=pharmacy&osm_tag=%3Apharmacy"},
		"bank,amenity":   {both, "&osm_tag=bank&osm_tag=%3Abank&osm_tag=amenity&osm_tag=%3Aamenity"},
		"b%26b":          {nil, "&osm_tag=b%26b&osm_tag=%3Ab%26b"},
		"building:part":  {nil, ""},
		"!shop":          {nil, ""},
		"!shop,pharmacy": {pharmacy, ""},
		long:             {nil, ""},
		"doctors,pharmacy,x": {both,
			"&osm_tag=doctors&osm_tag=%3Adoctors&osm_tag=pharmacy&osm_tag=%3Apharmacy&osm_tag=x&osm_tag=%3Ax"},
	} {
		a := replay(u, r)
		got := short(t, s.Do(http.MethodGet, question(t, r)+"&size=5&category="+category, "", ""))
		if diff := cmp.Diff(want.places, got); diff != "" {
			t.Errorf("%.40s (-want +got):\n%s", category, diff)
		}
		uri, _, _ := strings.Cut(sent(t, r), "&osm_tag")
		if diff := cmp.Diff([]string{uri + want.tags}, a.list()); diff != "" {
			t.Errorf("%.40s: sent (-want +got):\n%s", category, diff)
		}
	}
}

// Photon 0.7.0 gives any objects within the radius unless it is told to sort them, and so leaves out what is near.
func TestDistanceSort(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		limit, err := strconv.Atoi(q.Get("limit"))
		if err != nil {
			t.Error(err)
		}
		var features []string
		for i := range limit {
			metres := 900 - i // as the index has them, the far ones first
			if q.Get("distance_sort") == "true" {
				metres = 1 + i
			}
			features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"osm_type":"N","osm_id":%d,`+
				`"osm_key":"shop","osm_value":"kiosk","type":"house","name":"Kiosk"},"geometry":{"type":"Point",`+
				`"coordinates":[%v,0]}}`, metres, float64(metres)/111_195))
		}
		fmt.Fprintf(w, `{"type":"FeatureCollection","features":[%s]}`, strings.Join(features, ","))
	})
	got := short(t, s.Do(http.MethodGet, endpoint+"?lat=0&lon=0&size=2", "", ""))
	if diff := cmp.Diff([]string{"node:1 shop/kiosk 1", "node:2 shop/kiosk 2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Photon refuses a radius of 0, to which the smallest distances would be rounded.
func TestSmallRadius(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: fmt.Sprintf(`
		maps_reverse_geocode {
			public
			geocoder photon %s
			max_distance 0.00001
		}`, u.URL)})
	a := replay(u, read(t, "nothing"))
	s.Do(http.MethodGet, endpoint+"?lat=0&lon=0", "", "")
	if want := "/reverse?lat=0&lon=0&radius=0.001&limit=10&distance_sort=true"; a.list()[0] != want {
		t.Errorf("sent %s, want %s", a.list()[0], want)
	}
}

// All that is asked for one request counts as its calls.
func TestCalls(t *testing.T) {
	u := modulestest.NewUpstream(t)
	settlements := read(t, "settlements")
	for calls, want := range map[string]int{"1": 502, "2": 200} {
		s := start(t, u.URL, "max_calls "+calls)
		a := replay(u, read(t, "nothing"), settlements)
		if got := s.Do(http.MethodGet, question(t, settlements), "", ""); got.Status != want {
			t.Errorf("%s calls: %d %s, asked %v", calls, got.Status, got.Body, a.list())
		}
	}
}

func TestLanguage(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := read(t, "near")
	for language, want := range map[string]string{
		"": "", "&language=de-AT": "de-AT", "&language=fr,en;q%3D0.5": "fr, en;q=0.95",
	} {
		a := replay(u, r)
		if s.Do(http.MethodGet, question(t, r)+language, "", ""); a.language.Load() != want {
			t.Errorf("%s: Accept-Language %q, want %q", language, a.language.Load(), want)
		}
	}
}
