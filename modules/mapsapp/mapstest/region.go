package mapstest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/build/compile"
)

// Village is a small place in Delaware as an OpenStreetMap extract. Main Street goes east, Oak Street north, and they
// cross at 39.16,-75.52; Far Road, 5 km to the east, is joined to nothing. There is a café at the crossing, a school on
// Oak Street, a house on Main Street, and all of it lies in the town of Testville.
var Village = village("Testville")

func village(town string) string {
	var b strings.Builder
	node := func(id int, lat, lon float64, tags ...string) {
		fmt.Fprintf(&b, `<node id="%d" version="1" lat="%.7f" lon="%.7f">`, id, lat, lon)
		appendTags(&b, tags)
		b.WriteString("</node>\n")
	}
	way := func(id int, nodes []int, tags ...string) {
		fmt.Fprintf(&b, `<way id="%d" version="1">`, id)
		for _, n := range nodes {
			fmt.Fprintf(&b, `<nd ref="%d"/>`, n)
		}
		appendTags(&b, tags)
		b.WriteString("</way>\n")
	}
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><osm version="0.6">` + "\n")
	node(1, 39.16, -75.53)
	node(2, 39.16, -75.52)
	node(3, 39.16, -75.51)
	node(4, 39.15, -75.52)
	node(5, 39.17, -75.52)
	node(6, 39.16, -75.45)
	node(7, 39.17, -75.45)
	node(10, 39.10, -75.60)
	node(11, 39.10, -75.40)
	node(12, 39.20, -75.40)
	node(13, 39.20, -75.60)
	node(100, 39.1601, -75.5201, "amenity", "cafe", "name", "Crossing Café")
	node(101, 39.1680, -75.5203, "amenity", "school", "name", "Village School")
	node(102, 39.1601, -75.5150, "addr:housenumber", "5", "addr:street", "Main Street", "addr:postcode", "19901")
	way(20, []int{1, 2, 3}, "highway", "residential", "name", "Main Street")
	way(21, []int{4, 2, 5}, "highway", "residential", "name", "Oak Street")
	way(22, []int{6, 7}, "highway", "residential", "name", "Far Road")
	way(30, []int{10, 11, 12, 13, 10}, "boundary", "administrative", "admin_level", "8", "name", town)
	b.WriteString("</osm>\n")
	return b.String()
}

func appendTags(b *strings.Builder, tags []string) {
	for i := 0; i < len(tags); i += 2 {
		fmt.Fprintf(b, `<tag k="%s" v="%s"/>`, tags[i], tags[i+1])
	}
}

// Renamed is Village with another name of the town.
func Renamed(town string) string { return village(town) }

// BuildRegion compiles an extract in XML into a region file, renamed into place.
func BuildRegion(t testing.TB, path, osm string) {
	t.Helper()
	extract := filepath.Join(t.TempDir(), "village.osm")
	if err := os.WriteFile(extract, []byte(osm), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := compile.Build(t.Context(), compile.Options{Inputs: []string{extract}, Output: path}); err != nil {
		t.Fatal(err)
	}
}
