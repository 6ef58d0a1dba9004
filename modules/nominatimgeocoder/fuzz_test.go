package nominatimgeocoder

import (
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Whatever an upstream sends, it is refused, or it makes a response of the API.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../internal/testkit/testdata/nominatim/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, file := range files {
		r := modulestest.ReadRecorded(f, file)
		f.Add([]byte(r.Body), r.Status, int16(112), int16(445), "")
	}
	line := `{"osm_type":"way","osm_id":1,"lat":"1","lon":"1","category":"a","type":"b;c","name":"x",` +
		`"geojson":{"coordinates":[[1,1],[2,2]],"type":"LineString"}}`
	f.Add([]byte(line), 200, int16(10), int16(10), "c")
	f.Add([]byte(`{"error":{"code":400,"message":"x"}}`), 400, int16(0), int16(0), "b")
	f.Fuzz(func(t *testing.T, body []byte, status int, lon, lat int16, category string) {
		found, err := parse(status, body, &geocoding.Request{MaxDistance: 4e7})
		if err != nil {
			return
		}
		if len(found) > 1 {
			t.Errorf("%d objects", len(found))
		}
		modulestest.CheckFound(t, found, orb.Point{float64(lon%1800) / 10, float64(lat%900) / 10}, category)
	})
}
