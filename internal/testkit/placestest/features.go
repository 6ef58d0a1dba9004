package placestest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// ReadFeatures collects the objects of extracts, and nothing else.
func ReadFeatures(ctx context.Context, dir *scratch.Dir, paths []string) (*objects.Data, *osm.Extracts, error) {
	d, err := objects.NewData(dir)
	if err != nil {
		return nil, nil, err
	}
	e, err := osm.Read(ctx, dir, paths, nil, d)
	if err != nil {
		return nil, nil, err
	}
	d.Tiles = e.Tiles
	return d, e, nil
}

// FeatureTags are tags sorted by key.
type FeatureTags []Tag

// Tag is one tag.
type Tag struct{ Key, Value string }

// Tags reads "key=value, key=value"; a | in a value means a comma.
func Tags(text string) (t FeatureTags) {
	for part := range strings.SplitSeq(text, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		t = append(t, Tag{k, strings.ReplaceAll(v, "|", ",")})
	}
	return t
}

// Get returns a tag's value, or "".
func (t FeatureTags) Get(key string) string {
	for _, tag := range t {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

func (t FeatureTags) numbers(texts *scratch.Texts) (numbers objects.Tags, err error) {
	for i := range t {
		key, failed := texts.Add(t[i].Key)
		value, failedToo := texts.Add(t[i].Value)
		err = cmp.Or(err, failed, failedToo)
		numbers = append(numbers, objects.Tag{Key: key, Value: value})
	}
	return numbers, err
}

func readTags(numbers objects.Tags, texts *scratch.Texts) (tags FeatureTags) {
	for _, t := range numbers {
		tags = append(tags, Tag{texts.Text(t.Key), texts.Text(t.Value)})
	}
	slices.SortFunc(tags, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	return tags
}

// Interpolation is a line between two house numbers.
type Interpolation struct {
	objects.Interpolation
	Tags FeatureTags
}

// addInterpolation adds an interpolation to data.
func addInterpolation(d *objects.Data, line Interpolation) (err error) {
	line.Interpolation.Tags, err = line.Tags.numbers(d.Texts)
	return cmp.Or(err, d.Interpolations.Add(&line.Interpolation))
}

// Interpolations yields the interpolations of data in their order.
func Interpolations(d *objects.Data) iter.Seq[*Interpolation] {
	return func(yield func(*Interpolation) bool) {
		for line := range d.Interpolations.All {
			tags := readTags(line.Tags, d.Texts)
			if line.Tags = nil; !yield(&Interpolation{*line, tags}) {
				return
			}
		}
	}
}

// Feature is an object with a name, an address, or a part in administrative divisions.
type Feature struct {
	Kind region.Kind
	ID   int64
	Tags FeatureTags
	// Geometry is an orb.Point, orb.LineString, orb.Polygon or orb.MultiPolygon. Outer rings are counter-clockwise, holes
	// clockwise, rings closed.
	Geometry  orb.Geometry
	Entrances []orb.Point
}

// Add adds a feature to data.
func Add(d *objects.Data, f *Feature) error {
	g, ok := geometry.New(f.Geometry)
	if !ok {
		return fmt.Errorf("%v %d is nowhere", f.Kind, f.ID)
	}
	added := objects.Feature{Kind: f.Kind, ID: f.ID, Geometry: g}
	for _, p := range f.Entrances {
		added.Entrances = append(added.Entrances, geometry.NewCoord(p))
	}
	var err error
	if added.Tags, err = f.Tags.numbers(d.Texts); err != nil {
		return err
	}
	return d.Features.Add(&added)
}

// All yields the features of data in their order.
func All(d *objects.Data) iter.Seq[*Feature] {
	return func(yield func(*Feature) bool) {
		for _, r := range d.Features.All {
			f := Feature{Kind: r.Kind, ID: r.ID, Tags: readTags(r.Tags, d.Texts), Geometry: orbOf(r)}
			for _, c := range r.Entrances {
				f.Entrances = append(f.Entrances, c.Point())
			}
			if !yield(&f) {
				return
			}
		}
	}
}

// orbOf returns where a feature is that does not cross the antimeridian.
func orbOf(f *objects.Feature) orb.Geometry {
	g := &f.Geometry
	if g.Shape == geometry.Point {
		return geometry.Coord{X: g.Box.MinX, Y: g.Box.MinY}.Point()
	}
	var line orb.LineString // up to here
	var polygons orb.MultiPolygon
	for run := range g.Lines {
		for i, c := range run {
			if i > 0 || len(line) == 0 {
				line = append(line, c.Point())
			}
		}
		ring := orb.Ring(line)
		if g.Shape == geometry.Line || !ring.Closed() {
			continue
		}
		if line = nil; ring.Orientation() == orb.CCW {
			polygons = append(polygons, nil)
		}
		last := &polygons[len(polygons)-1]
		*last = append(*last, ring)
	}
	switch {
	case g.Shape == geometry.Line:
		return line
	case len(polygons) == 1 && f.Kind == region.KindWay:
		return polygons[0]
	}
	return polygons
}
