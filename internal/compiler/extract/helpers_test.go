package extract

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/maptile/schema"
	"github.com/mapsedge/caddy-maps/internal/testkit/testextract"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
)

// openScratch makes a directory for the files of one reading, with little memory, so that what can be sorted on disk
// is.
func openScratch(t testing.TB) *scratch.Dir {
	t.Helper()
	dir, err := scratch.Open(t.TempDir(), "test", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func mustRead(t testing.TB, paths ...string) *content {
	t.Helper()
	d, err := Read(t.Context(), openScratch(t), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return contentOf(d)
}

// content is Data out of its files.
type content struct {
	Nodes          []roadNode
	Roads          []road
	Restrictions   []Restriction
	Features       []Feature
	Interpolations []Interpolation
	Drawings       []drawing
	Coast          [][]Coord
	Bounds         orb.Bound
	Tiles          []uint32
	Timestamp      time.Time
	Counts         Counts
}

// roadNode is a node of roads with what it stops.
type roadNode struct {
	Node
	Barrier mapdata.Modes
}

// id is what the node is called in a grid.
func (n roadNode) id() int64 { return int64(n.Lat/100_000*10 + n.Lon/100_000) }

// road is a road with its names and its nodes. Those of the road itself are left out.
type road struct {
	Road
	Name, Ref string
	Nodes     []uint32
}

func contentOf(d *Data) *content {
	c := &content{Restrictions: d.Restrictions, Bounds: d.Bounds, Tiles: d.Tiles.Sorted(), Timestamp: d.Timestamp,
		Counts: d.Counts}
	for _, n := range d.Nodes.Slice() {
		c.Nodes = append(c.Nodes, roadNode{Node: n})
	}
	for _, b := range d.Barriers.Slice() {
		c.Nodes[b.Node].Barrier |= b.Stops
	}
	for i, r := range d.Roads.Slice() {
		full := road{Road: r, Name: d.Texts.Text(r.Name), Ref: d.Texts.Text(r.Ref), Nodes: slices.Clone(d.NodesOf(i))}
		full.Road.Name, full.Road.Ref, full.FirstNode = 0, 0, 0
		c.Roads = append(c.Roads, full)
	}
	for f := range d.Features.All {
		one := *f
		one.Tags = slices.Clone(f.Tags)
		c.Features = append(c.Features, one)
	}
	for line := range d.Interpolations.All {
		one := *line
		one.Line, one.Nodes, one.Numbers = slices.Clone(line.Line), slices.Clone(line.Nodes), slices.Clone(line.Numbers)
		one.Tags = slices.Clone(line.Tags)
		c.Interpolations = append(c.Interpolations, one)
	}
	if d.Drawings == nil {
		return c
	}
	names := textCache{texts: d.Texts}
	for r := range d.Drawings.Records {
		one := drawing{r.Kind, r.ID, nil, names.tags(nil, r.Names), r.Geometry.orb()}
		for _, n := range r.Classes {
			class, err := schema.DecodeClass(d.Texts.Text(n))
			if err != nil {
				panic(err)
			}
			i := slices.IndexFunc(class.Attrs, func(a schema.Attr) bool { return a.Key == "kind" })
			one.Classes = append(one.Classes, fmt.Sprint(class.Layer, " ", class.Attrs[i].Value))
		}
		c.Drawings = append(c.Drawings, one)
	}
	for line := range d.Coast.Lines {
		c.Coast = append(c.Coast, slices.Clone(line))
	}
	return c
}

// drawing is a Drawing with its texts: of its classes the layers and kinds.
type drawing struct {
	Kind     mapdata.Kind
	ID       int64
	Classes  []string
	Names    Tags
	Geometry orb.Geometry
}

// progressReport is one call of a progress function.
type progressReport struct {
	stage       string
	done, total int64
}

var delawareProgress []progressReport

// readDelaware reads Delaware once for all tests, and notes the progress.
var readDelaware = sync.OnceValues(func() (*content, error) {
	path, err := testextract.Find(testextract.Delaware)
	if err != nil {
		return nil, err
	}
	dir, err := scratch.Open(os.TempDir(), "extract-test", 1<<20)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	d, err := Read(context.Background(), dir, []string{path},
		Options{Progress: progress.New(func(stage string, done, total int64) {
			delawareProgress = append(delawareProgress, progressReport{stage, done, total})
		})})
	if err != nil {
		return nil, err
	}
	return contentOf(d), nil
})

// tagsOf reads "key=value key=value"; a plus stands for a space.
func tagsOf(text string) osm.Tags {
	var tags osm.Tags
	for field := range strings.FieldsSeq(text) {
		k, v, _ := strings.Cut(field, "=")
		tags = append(tags, osm.Tag{Key: k, Value: strings.ReplaceAll(v, "+", " ")})
	}
	return tags
}

// sketch is a small map that is written as an extract in XML.
type sketch struct {
	nodes     map[int64][2]float64 // lon, lat
	nodeTags  map[int64]string
	ways      []sketchWay
	relations []sketchRelation
}

type sketchWay struct {
	id    int64
	nodes []int64
	tags  string
}

type sketchRelation struct {
	id      int64
	members string // w1:outer n2:via
	tags    string
}

// grid places node 10*y+x at (x, y) in hundredths of a degree.
func grid() map[int64][2]float64 {
	nodes := make(map[int64][2]float64)
	for y := range 10 {
		for x := range 10 {
			nodes[int64(10*y+x)] = [2]float64{float64(x) / 100, float64(y) / 100}
		}
	}
	return nodes
}

func (s *sketch) xml() string {
	var b strings.Builder
	b.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n<osm version=\"0.6\">\n")
	tags := func(text string) {
		for _, t := range tagsOf(text) {
			fmt.Fprintf(&b, "<tag k=%q v=%q/>", t.Key, t.Value)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		fmt.Fprintf(&b, `<node id="%d" version="1" lat="%.7f" lon="%.7f">`, id, s.nodes[id][1], s.nodes[id][0])
		tags(s.nodeTags[id])
		b.WriteString("</node>\n")
	}
	for _, w := range s.ways {
		fmt.Fprintf(&b, `<way id="%d" version="1">`, w.id)
		for _, n := range w.nodes {
			fmt.Fprintf(&b, `<nd ref="%d"/>`, n)
		}
		tags(w.tags)
		b.WriteString("</way>\n")
	}
	kinds := map[byte]string{'n': "node", 'w': "way", 'r': "relation"}
	for _, r := range s.relations {
		fmt.Fprintf(&b, `<relation id="%d" version="1">`, r.id)
		for m := range strings.FieldsSeq(r.members) {
			ref, role, _ := strings.Cut(m, ":")
			fmt.Fprintf(&b, `<member type=%q ref=%q role=%q/>`, kinds[ref[0]], ref[1:], role)
		}
		tags(r.tags)
		b.WriteString("</relation>\n")
	}
	b.WriteString("</osm>\n")
	return b.String()
}

func (s *sketch) read(t testing.TB) *content {
	t.Helper()
	return mustRead(t, writeFile(t, "sketch.osm", []byte(s.xml())))
}

func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// feature returns a feature by kind and id, or nil.
func (d *content) feature(kind mapdata.Kind, id int64) *Feature {
	i, ok := slices.BinarySearchFunc(d.Features, Feature{Kind: kind, ID: id}, func(a, b Feature) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	if !ok {
		return nil
	}
	return &d.Features[i]
}

// multi returns a polygon or multipolygon as a multipolygon, nil for other geometries.
func multi(g orb.Geometry) orb.MultiPolygon {
	switch g := g.(type) {
	case orb.Polygon:
		return orb.MultiPolygon{g}
	case orb.MultiPolygon:
		return g
	default:
		return nil
	}
}

// areaOf returns an area in square degrees.
func areaOf(mp orb.MultiPolygon) float64 {
	sum := 0.0
	for _, polygon := range mp {
		for i, r := range polygon {
			if i == 0 {
				sum += math.Abs(signedArea(r))
			} else {
				sum -= math.Abs(signedArea(r))
			}
		}
	}
	return sum
}

// checkRings fails if rings are open or run the wrong way round.
func checkRings(t interface {
	Helper()
	Errorf(string, ...any)
}, mp orb.MultiPolygon) {
	t.Helper()
	for i, polygon := range mp {
		for k, r := range polygon {
			if len(r) < 4 || r[0] != r[len(r)-1] {
				t.Errorf("polygon %d, ring %d is open: %v", i, k, r)
			}
			if (signedArea(r) > 0) != (k == 0) {
				t.Errorf("polygon %d, ring %d runs the wrong way round: %v", i, k, r)
			}
		}
	}
}
