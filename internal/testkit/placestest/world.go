// Package placestest has map data to test the places with: made by hand, and of the osm module.
package placestest

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// World is map data. What is made by hand is near the middle of Kansas, where one thousandth of a degree is 111 m of
// latitude and 87 m of longitude.
type World struct {
	Features       []Feature
	Interpolations []Interpolation
	Drives         []orb.LineString // roads without a name
	Tiles          []uint32
	Bounds         orb.Bound

	data *objects.Data // what it was read from
}

// IsExtract is whether Read read the world, which all tests of a package share then.
func (w *World) IsExtract() bool { return w.data != nil }

// AllFeatures yields the features.
func (w *World) AllFeatures(yield func(*Feature) bool) {
	for i := range w.Features {
		if !yield(&w.Features[i]) {
			return
		}
	}
}

// AllInterpolations yields the interpolations.
func (w *World) AllInterpolations(yield func(*Interpolation) bool) {
	for i := range w.Interpolations {
		if !yield(&w.Interpolations[i]) {
			return
		}
	}
}

// Data is the world as it is collected. Objects are sorted by kind and id.
func (w *World) Data(t testing.TB) *objects.Data {
	t.Helper()
	if w.data != nil {
		return w.data
	}
	dir := Scratch(t)
	d, err := objects.NewData(dir)
	if err != nil {
		t.Fatal(err)
	}
	features := slices.Clone(w.Features)
	slices.SortStableFunc(features, func(a, b Feature) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	for i := range features {
		err = errors.Join(err, Add(d, &features[i]))
	}
	for line := range w.AllInterpolations {
		complete := *line
		complete.Nodes = append(slices.Clone(line.Nodes), make([]int64, len(line.Line)-len(line.Nodes))...)
		for len(complete.Numbers) < len(line.Line) {
			complete.Numbers = append(slices.Clone(complete.Numbers), objects.NoNumber)
		}
		err = errors.Join(err, addInterpolation(d, complete))
	}
	for _, drive := range w.Drives {
		g, _ := geometry.New(drive)
		err = errors.Join(err, d.Drives.Add(&objects.Feature{Kind: region.KindWay, Geometry: g}))
	}
	for _, tile := range w.Tiles {
		d.Tiles.Add(tile)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Scratch is a directory for temporary files.
func Scratch(t testing.TB) *scratch.Dir {
	t.Helper()
	dir, err := scratch.Open(t.TempDir(), "test", 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// Kansas is the middle of worlds made by hand.
var Kansas = orb.Point{-98.5, 38.5}

// At is a position some thousandths of a degree east and north of the middle.
func At(east, north float64) orb.Point {
	return orb.Point{Kansas[0] + east/1000, Kansas[1] + north/1000}
}

// Line is a line of positions as At has them.
func Line(xy ...float64) orb.LineString {
	var l orb.LineString
	for i := 0; i+1 < len(xy); i += 2 {
		l = append(l, At(xy[i], xy[i+1]))
	}
	return l
}

// Square is a ring around a middle, counter-clockwise.
func Square(east, north, half float64) orb.Ring {
	return orb.Ring(Line(east-half, north-half, east+half, north-half, east+half, north+half, east-half, north+half,
		east-half, north-half))
}

// Reversed is a ring the other way round.
func Reversed(r orb.Ring) orb.Ring {
	c := r.Clone()
	c.Reverse()
	return c
}

// Draw adds objects that are given as text, separated by " / ". Numbers are positions as At has them:
//
//	n1 0 0.1 amenity=cafe, name=Bean            a node
//	w2 -2 0.2 2 0.2 highway=service             a way that is no area
//	a3 0 0 0.05 building=yes                    a way around a square, as Square has it
//	r4 0 0 20 name=Lincoln, place=county        a multipolygon of such a square
//	d 0 0.2 0 0.06                              a road without a name
//
// Tags are as Tags reads them.
func (w *World) Draw(objects string) *World {
	for object := range strings.SplitSeq(objects, " / ") {
		name, rest, _ := strings.Cut(strings.TrimSpace(object), " ")
		if name == "" {
			continue
		}
		var at []float64
		for rest != "" {
			field, after, _ := strings.Cut(rest, " ")
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				break
			}
			at, rest = append(at, v), after
		}
		id, _ := strconv.ParseInt(name[1:], 10, 64)
		switch name[0] {
		case 'n':
			w.Node(id, At(at[0], at[1]), rest)
		case 'w':
			w.Way(id, Line(at...), rest)
		case 'a':
			w.Area(id, rest, Square(at[0], at[1], at[2]))
		case 'r':
			w.Multi(id, rest, orb.Polygon{Square(at[0], at[1], at[2])})
		case 'd':
			w.Drives = append(w.Drives, Line(at...))
		}
	}
	return w
}

// Add adds a feature with tags as Tags reads them.
func (w *World) Add(kind region.Kind, id int64, g orb.Geometry, text string) {
	w.Features = append(w.Features, Feature{Kind: kind, ID: id, Tags: Tags(text), Geometry: g})
}

// Node adds a node.
func (w *World) Node(id int64, p orb.Point, tags string) { w.Add(region.KindNode, id, p, tags) }

// Way adds a way that is no area.
func (w *World) Way(id int64, l orb.LineString, tags string) { w.Add(region.KindWay, id, l, tags) }

// Area adds a closed way, with holes.
func (w *World) Area(id int64, tags string, rings ...orb.Ring) {
	w.Add(region.KindWay, id, orb.Polygon(rings), tags)
}

// Multi adds a multipolygon.
func (w *World) Multi(id int64, tags string, m ...orb.Polygon) {
	w.Add(region.KindRelation, id, orb.MultiPolygon(m), tags)
}

// Cover makes the world cover, beside its Tiles, those that any of its features' boxes have a corner or the centre in,
// and that of the middle.
func (w *World) Cover() *World {
	w.Tiles = append(w.Tiles, region.CoverageTile(Kansas))
	for _, f := range w.Features {
		b := f.Geometry.Bound()
		for _, p := range []orb.Point{b.Min, b.Max, b.LeftTop(), b.RightBottom(), b.Center()} {
			w.Tiles = append(w.Tiles, region.CoverageTile(p))
		}
	}
	return w
}

// Approximate forgives the rounding of coordinates to 1e-7 degrees.
var Approximate = cmpopts.EquateApprox(0, 1e-6)
