package photongeocoder

import (
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Whatever an upstream sends, it is refused, or it makes a response of the API.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../internal/testkit/testdata/photon/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		r := modulestest.ReadRecorded(f, file)
		f.Add([]byte(r.Body), r.Status, int16(132), int16(525), "")
	}
	city := `{"features":[{"properties":{"osm_type":"R","osm_id":1,"osm_key":"place","osm_value":"city","name":"x",` +
		`"type":"city"},"geometry":{"type":"Point","coordinates":[1,2]}}]}`
	f.Add([]byte(city), 200, int16(10), int16(20), "city")
	f.Fuzz(func(t *testing.T, body []byte, status int, lon, lat int16, category string) {
		found, err := parse(status, body)
		if err != nil {
			return
		}
		if len(found) > maxLimit {
			t.Errorf("%d objects", len(found))
		}
		modulestest.CheckFound(t, found, orb.Point{float64(lon%1800) / 10, float64(lat%900) / 10}, category)
	})
}
