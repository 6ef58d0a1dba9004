package reversegeocode_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Names are given in the languages of the parameter, else in those of the header.
func TestLanguage(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, `<osm version="0.6"><node id="7" version="1" lat="46.94" lon="7.44">`+
		`<tag k="name" v="Bern"/><tag k="name:fr" v="Berne"/><tag k="name:it" v="Berna"/><tag k="place" v="city"/></node></osm>`)
	s := modulestest.Start(t, config(region))
	const query = endpoint + "?lat=46.94&lon=7.44"
	for _, tc := range []struct{ parameter, header, name, vary string }{
		{"", "", "Bern", ""},
		{"&language=fr", "", "Berne", ""},
		{"&language=fr-CH", "", "Berne", ""},
		{"&language=de%2C+it%3Bq%3D0.5", "", "Berna", ""},
		{"&language=ja", "fr", "Bern", ""},
		{"&language=*", "fr", "Bern", ""},
		{"&language=", "it", "Berna", "Accept-Language"},
		{"", "it, fr;q=0.9", "Berna", "Accept-Language"},
		{"", "!!", "Bern", ""},
		{"&language=it", "fr", "Berna", ""},
	} {
		var header []string
		if tc.header != "" {
			header = []string{"Accept-Language", tc.header}
		}
		a := s.Do(http.MethodGet, query+tc.parameter, "", "", header...)
		got := parse(t, a).Data.Results
		if len(got) != 1 || got[0].Name != tc.name || got[0].Address["city"] != tc.name || !strings.HasPrefix(got[0].DisplayName, tc.name+",") {
			t.Errorf("%+v: %+v", tc, got)
		}
		if vary := a.Header.Get("Vary"); vary != tc.vary {
			t.Errorf("%+v: Vary is %q", tc, vary)
		}
	}
	for _, bad := range []string{"d", "de_CH", "fr%3Bq%3D2", "%zz", "fr&language=de", strings.Repeat("fr,", 20)} {
		a := s.Do(http.MethodGet, query+"&language="+bad, "", "")
		var body struct{ Error, Code string }
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil || a.Status != http.StatusBadRequest || body.Code != "FAILED_VALIDATION" ||
			!strings.HasPrefix(body.Error, "language:") {
			t.Errorf("%q: %d %s", bad, a.Status, a.Body)
		}
	}
}
