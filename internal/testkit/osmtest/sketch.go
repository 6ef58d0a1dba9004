package osmtest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	posm "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// Tags reads "key=value key=value"; a plus is a space.
func Tags(text string) *tags.Set { return tags.Of(tagsOf(strings.Fields(text))) }

func tagsOf(fields []string) (list posm.Tags) {
	for _, field := range fields {
		k, v, _ := strings.Cut(field, "=")
		list = append(list, posm.Tag{Key: k, Value: strings.ReplaceAll(v, "+", " ")})
	}
	return list
}

// Sketch is a small map in text. Objects are on lines of their own, or separated by " / ":
//
//	n5 name=Cafe amenity=cafe                   a node of the grid, with tags
//	n100 0.00001 0.00002                        another node, by its longitude and latitude
//	w1 0 3 33 30 0 natural=water                a way, with its nodes
//	r7 w1:outer w2:inner type=multipolygon      a relation, with its members
//
// The grid is always there: its node 10*y+x, from 0 to 99, is at x and y hundredths of a degree. Tags are as Tags reads
// them.
type Sketch string

// Crossing is a map with a bit of everything.
const Crossing Sketch = `
	n5 name=Cafe amenity=cafe
	w1 10 11 12 highway=residential name=High+Street
	w2 1 11 21 highway=service
	w3 33 34 44 43 33
	r1 w1:from n11:via w2:to type=restriction restriction=no_left_turn
	r2 w3:outer type=multipolygon leisure=park name=Park`

var kinds = map[byte]string{'n': "node", 'w': "way", 'r': "relation"}

// XML is the map as an extract: a line for each object, nodes first.
func (s Sketch) XML() string {
	nodes := make(map[int64]string)
	add := func(id int64, lon, lat string, tags string) {
		nodes[id] = fmt.Sprintf(`<node id="%d" version="1" lat=%q lon=%q>%s</node>`+"\n", id, lat, lon, tags)
	}
	degrees := func(hundredths int64) string { return fmt.Sprintf("0.%02d", hundredths) }
	for id := range int64(100) {
		add(id, degrees(id%10), degrees(id/10), "")
	}
	var rest strings.Builder
	for object := range strings.SplitSeq(strings.ReplaceAll(string(s), " / ", "\n"), "\n") {
		fields := strings.Fields(object)
		if len(fields) == 0 {
			continue
		}
		first := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "=") })
		if first < 0 {
			first = len(fields)
		}
		var tags string
		for _, t := range tagsOf(fields[first:]) {
			tags += fmt.Sprintf("<tag k=%q v=%q/>", t.Key, t.Value)
		}
		kind, id, parts := fields[0][0], fields[0][1:], fields[1:first]
		if kind == 'n' {
			number, _ := strconv.ParseInt(id, 10, 64)
			if len(parts) == 0 {
				parts = []string{degrees(number % 10), degrees(number / 10)}
			}
			add(number, parts[0], parts[1], tags)
			continue
		}
		fmt.Fprintf(&rest, `<%s id=%q version="1">`, kinds[kind], id)
		for _, part := range parts {
			if kind == 'w' {
				fmt.Fprintf(&rest, `<nd ref=%q/>`, part)
				continue
			}
			member, role, _ := strings.Cut(part, ":")
			fmt.Fprintf(&rest, `<member type=%q ref=%q role=%q/>`, kinds[member[0]], member[1:], role)
		}
		fmt.Fprintf(&rest, "%s</%s>\n", tags, kinds[kind])
	}
	var all strings.Builder
	all.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n<osm version=\"0.6\">\n")
	for _, id := range slices.Sorted(maps.Keys(nodes)) {
		all.WriteString(nodes[id])
	}
	return all.String() + rest.String() + "</osm>\n"
}

// File writes the extract and returns its path.
func (s Sketch) File(t testing.TB) string {
	t.Helper()
	return WriteFile(t, "sketch.osm", []byte(s.XML()))
}

// Read hands the objects to consumers.
func (s Sketch) Read(t testing.TB, consumers ...osm.Consumer) *osm.Extracts {
	t.Helper()
	return Read(t, []string{s.File(t)}, consumers...)
}

// NodeOf is the number of the grid's node at a position, with a ~ if that is only near it.
func NodeOf(c osm.Coord) string {
	x, y := (c.Lon+50_000)/100_000, (c.Lat+50_000)/100_000
	if c == (osm.Coord{Lon: x * 100_000, Lat: y * 100_000}) {
		return fmt.Sprint(10*y + x)
	}
	return fmt.Sprint(10*y+x, "~")
}

// Rings describes polygons by the nodes of the grid: "(0 3 33 30) (11 21 22 12)" is one with a hole, and a + is between
// polygons, sorted. Each ring begins with its least node.
func Rings(polygons []osm.Polygon) string {
	var all []string
	for _, p := range polygons {
		var rings []string
		for _, r := range p {
			least := 0
			for i, c := range r {
				if c.Lat < r[least].Lat || c.Lat == r[least].Lat && c.Lon < r[least].Lon {
					least = i
				}
			}
			var nodes []string
			for _, c := range append(slices.Clone(r[least:len(r)-1]), r[:least]...) {
				nodes = append(nodes, NodeOf(c))
			}
			rings = append(rings, "("+strings.Join(nodes, " ")+")")
		}
		all = append(all, strings.Join(rings, " "))
	}
	slices.Sort(all)
	return strings.Join(all, " + ")
}

// Text writes tags as Tags reads them, in their order. Nil has none.
func Text(set *tags.Set) string {
	if set == nil {
		return ""
	}
	var all []string
	for _, tag := range set.All {
		all = append(all, tag.Key+"="+strings.ReplaceAll(tag.Value, " ", "+"))
	}
	return strings.Join(all, " ")
}
