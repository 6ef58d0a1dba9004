package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"
)

func TestScript(t *testing.T) {
	for name, want := range map[string]string{"Cyrillic": "Ст. Йосеф 1б", "Greek": "Στ. Ζοσεφ 1β", "Arabic": "ست. جوسيف 1ب",
		"Ethiopic": "ስት. ጆሴፍ 1ብ"} {
		change, err := Script(name)
		if err != nil {
			t.Fatal(err)
		}
		n := osm.Node{Tags: osm.Tags{{Key: "name", Value: "St. Jósef 1b"}, {Key: "name:en", Value: "St. Joseph"},
			{Key: "int_name", Value: "Joseph"}, {Key: "addr:housenumber", Value: "1b"}, {Key: "amenity", Value: "school"}}}
		if !change(&n) {
			t.Error("left out")
		}
		if diff := cmp.Diff(osm.Tags{{Key: "name", Value: want}, {Key: "addr:housenumber", Value: "1b"},
			{Key: "amenity", Value: "school"}}, n.Tags); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := Script("Klingon"); err == nil {
		t.Error("an unknown script")
	}
}
