package tags

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"
)

// TestLimits: values beyond the limits are cut off, whole characters at a time.
func TestLimits(t *testing.T) {
	long := strings.Repeat("x", maxText-1) + "é"
	got := Of(osm.Tags{{Key: "name", Value: long}, {Key: strings.Repeat("k", maxText+1), Value: "v"}, {Key: "empty"},
		{Key: "shop", Value: "bakery"}, {Key: "shop", Value: "again"}, {Key: "own", Value: "1"}, {Key: "own", Value: "2"}})
	want := osm.Tags{{Key: "name", Value: long[:maxText-1]}, {Key: "shop", Value: "bakery"}, {Key: "own", Value: "1"}}
	if diff := cmp.Diff(want, got.OSM()); diff != "" {
		t.Error(diff)
	}
	var many osm.Tags
	for i := range maxTags + 1 {
		many = append(many, osm.Tag{Key: fmt.Sprint("key", i), Value: "v"})
	}
	if n := Of(many).Len(); n != maxTags {
		t.Errorf("%d tags are left", n)
	}
	exact := strings.Repeat("é", maxText/2)
	if got := Of(osm.Tags{{Key: "name", Value: exact}}).Get(Name); got != exact {
		t.Error("a value of the greatest length was cut")
	}
	if got := Of(osm.Tags{{Key: "name", Value: strings.Repeat("\x80", 2*maxText)}}).Get(Name); len(got) > maxText {
		t.Errorf("a value without a character has %d bytes", len(got))
	}
}

// TestSet: a set that is used again has no earlier tags, and a copy has no later ones.
func TestSet(t *testing.T) {
	s := Of(osm.Tags{{Key: "name", Value: "A"}, {Key: "shop", Value: "kiosk"}})
	c := Of(s.OSM())
	s.Reset()
	s.Add(Highway, "highway", "service")
	if s.Has(Name) || s.Get(KeyOf("shop")) != "" || s.Get(Highway) != "service" || s.Len() != 1 || !s.HasAny(KeysOf(Highway, KeyOf("shop"))) {
		t.Errorf("%v", s.OSM())
	}
	if c.Get(Name) != "A" || !c.Is(KeyOf("shop"), "books", "kiosk") || c.Has(Highway) || c.HasAny(KeysOf(Highway)) || c.Len() != 2 {
		t.Errorf("%v", c.OSM())
	}
}
