package basemap

import (
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// batch collects the map features of some objects.
type batch struct {
	c        *Consumer
	borders  []border
	features []feature
	names    []name
	pieces   []piece
	shapes   []byte
	skipped  int64

	points []geo.Projected // of an object
	// cache has the classes of earlier tags, by the tags that decide. See classify.
	cache map[string][]*class
	key   []byte
}

// class is a way to show objects.
type class struct {
	schema.Class // without attributes, whose texts belong to an object
	encoded      string
	at           uint64 // its offset in the string table; 0 if not added yet
}

func newClass(c schema.Class) *class {
	encoded := c.Encode()
	c.Attrs = nil
	return &class{c, encoded, 0}
}

// feature is an object in a class.
type feature struct {
	object        uint64 // see placed
	class         *class
	names, pieces span // in the batch
}

type span struct{ from, to int }

type name struct{ key, value string }

// piece is the part of a feature that a tile shows.
type piece struct {
	key    uint64 // see placed
	tile   mapfile.Tile
	zoom   uint8 // from which it is shown
	bounds clip.Rect
	shape  span // in the batch, see mapfile.AppendShape
}

// NewBatch implements osm.Consumer.
func (c *Consumer) NewBatch() osm.Batch { return &batch{c: c, cache: make(map[string][]*class)} }

// Limits of the memory that a batch keeps for the next objects.
const (
	keptBytes = 4 << 20
	keptTags  = 1 << 11
)

func (b *batch) reset() {
	if cap(b.shapes) > keptBytes || cap(b.points) > keptBytes/8 {
		*b = batch{c: b.c, cache: b.cache}
		return
	}
	clear(b.names) // of the texts
	b.borders, b.features, b.names = b.borders[:0], b.features[:0], b.names[:0]
	b.pieces, b.shapes, b.skipped = b.pieces[:0], b.shapes[:0], 0
}

// shownKeys are the keys of which an object on the map has at least one. decisive are all keys that say how it is
// shown, apart from the name.
var (
	shownKeys = tags.Named(strings.Join(schema.Keys[:], " "))
	decisive  = tags.Named(strings.Join(slices.Concat(schema.Keys[:], schema.Details[:]), " "))
)

// classify returns the classes in which an object is shown.
func (b *batch) classify(kind region.Kind, t *tags.Set, area bool) []*class {
	if !t.HasAny(shownKeys) {
		return nil // most nodes
	}
	b.key = append(b.key[:0], byte(kind))
	if area {
		b.key[0] |= 1 << 7
	}
	for key, tag := range t.All {
		switch {
		case key == tags.Name && tag.Value != "no":
			b.key = append(b.key, byte(key))
		case decisive.Has(key):
			b.key = scratch.AppendText(append(b.key, byte(key)), tag.Value)
		}
	}
	classes, ok := b.cache[string(b.key)]
	if !ok {
		for _, c := range schema.Classify(kind, t.OSM(), area) {
			classes = append(classes, newClass(c))
		}
		if len(b.cache) == keptTags {
			clear(b.cache)
		}
		b.cache[string(b.key)] = classes
	}
	return classes
}

// Node implements osm.Batch.
func (b *batch) Node(n *osm.Node) bool {
	if classes := b.classify(region.KindNode, n.Tags, false); len(classes) > 0 {
		point := []geo.Projected{geo.ProjectE7(n.At.Lat, n.At.Lon)}
		names := b.namesOf(n.Tags)
		for _, class := range classes {
			b.add(region.KindNode, n.ID, class, names, class.MinZoom, mapfile.Shape{Points: point})
		}
	}
	return false
}

// Relation implements osm.Batch. It keeps the ways of boundaries. It wants the areas of these, so that their ways are
// members of an area.
func (b *batch) Relation(r *osm.Relation) (wantArea bool) {
	if !r.Tags.Is(tags.Type, "multipolygon", "boundary") {
		return false
	}
	if level := r.Tags.Get(tags.AdminLevel); len(level) == 1 && r.Tags.Is(tags.Boundary, "administrative") {
		number := int64(level[0]) - '0'
		if _, wantArea = schema.Boundary(int(number)); wantArea {
			for _, m := range r.Members {
				if m.Kind == region.KindWay {
					b.borders = append(b.borders, border{m.ID, number})
				}
			}
		}
	}
	return wantArea || len(b.classify(region.KindRelation, r.Tags, true)) > 0
}

// Way implements osm.Batch. It adds lines: borders, and ways that are no areas.
func (b *batch) Way(w *osm.Way) {
	// A border along a coast would be drawn over it.
	if w.Member && !w.Tags.Is(tags.Natural, "coastline") && !w.Tags.Is(tags.Maritime, "yes") {
		if border, ok := b.c.boundary(w.ID); ok {
			b.lines(w, newClass(border), span{})
		}
	}
	if w.IsArea && w.Closed() {
		return
	}
	if classes := b.classify(region.KindWay, w.Tags, false); len(classes) > 0 {
		names := b.namesOf(w.Tags)
		for _, class := range classes {
			b.lines(w, class, names)
		}
	}
}

func (b *batch) lines(w *osm.Way, class *class, names span) {
	for from, to := range w.Parts {
		b.points = appendProjected(b.points[:0], w.Coords[from:to])
		b.add(region.KindWay, w.ID, class, names, class.MinZoom, mapfile.Shape{Lines: []clip.Line{b.points}})
	}
}

func appendProjected(points []geo.Projected, coords []osm.Coord) []geo.Projected {
	for _, at := range coords {
		points = append(points, geo.ProjectE7(at.Lat, at.Lon))
	}
	return points
}

// Area implements osm.Batch. Each polygon of an old-style multipolygon is an area of its own.
func (b *batch) Area(a *osm.Area) {
	classes := b.classify(a.Kind, a.Tags, true)
	if len(classes) == 0 {
		return
	}
	names := b.namesOf(a.Tags)
	each := len(a.Polygons)
	if a.OldStyle {
		each = 1
	}
	for polygons := range slices.Chunk(a.Polygons, each) {
		rings := b.rings(polygons)
		if len(rings) == 0 {
			continue
		}
		for _, class := range classes {
			shape := mapfile.Shape{Rings: rings}
			if class.Geometry == schema.Point {
				shape = mapfile.Shape{Points: []geo.Projected{labelPoint(rings)}}
			}
			b.add(a.Kind, a.ID, class, names, zoomOf(class, rings), shape)
		}
	}
}

// rings projects the rings of some polygons. They are valid until the next object.
func (b *batch) rings(polygons []osm.Polygon) (rings []clip.Ring) {
	b.points = b.points[:0]
	for _, ring := range slices.Concat(polygons...) {
		from := len(b.points)
		b.points = appendProjected(b.points, ring)
		if out := b.points[from:]; len(out) > 1 && out[0] == out[len(out)-1] {
			b.points = b.points[:len(b.points)-1]
		}
		// If append moves the points to more memory, earlier rings keep their old memory.
		if out := b.points[from:len(b.points):len(b.points)]; len(out) > 2 {
			rings = append(rings, out)
		}
	}
	return rings
}

// namesOf adds the names of an object, name and name:xx, in the order of their keys. Without a name no other is shown.
func (b *batch) namesOf(t *tags.Set) span {
	if !t.Has(tags.Name) {
		return span{}
	}
	from := len(b.names)
	for key, tag := range t.All {
		if key == tags.Name || strings.HasPrefix(tag.Key, "name:") {
			b.names = append(b.names, name{tags.Valid(tag.Key), tags.Valid(tag.Value)})
		}
	}
	slices.SortFunc(b.names[from:], func(a, b name) int { return strings.Compare(a.key, b.key) })
	return span{from, len(b.names)}
}

// add adds a map feature that is shown from a zoom on, and cuts its shape into pieces. It leaves out features that are
// too large.
func (b *batch) add(kind region.Kind, id int64, class *class, names span, zoom uint8, shape mapfile.Shape) {
	from, shapes := len(b.pieces), len(b.shapes)
	(&splitter{b, zoom, from + maxPieces}).split(shape)
	if len(b.pieces)-from > maxPieces {
		b.pieces, b.shapes = b.pieces[:from], b.shapes[:shapes]
		b.skipped++
	}
	if len(b.pieces) == from {
		return
	}
	for _, p := range b.pieces[from:] {
		in := p.tile.Rect()
		in.Max.X, in.Max.Y = in.Max.X-1, in.Max.Y-1 // the eastern and southern borders belong to other tiles
		// A piece that is only in the buffer of a cell does not make it exist.
		if p.tile.Z == mapfile.CellZoom && in.Meets(p.bounds) {
			b.c.cells.Add(p.tile.X<<region.CoverageZoom | p.tile.Y)
		}
	}
	if class.NameZoom == schema.NoNames {
		names = span{}
	}
	b.features = append(b.features, feature{uint64(kind)<<60 | uint64(id), class, names, span{from, len(b.pieces)}})
}
