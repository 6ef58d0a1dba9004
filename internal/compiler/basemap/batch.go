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

// batch has the pieces of some objects.
type batch struct {
	c        *Consumer
	borders  []border
	drawings []drawing
	names    []name
	pieces   []piece
	shapes   []byte
	skipped  int64

	points []geo.Projected // of an object
	// known are the classes of tags that came before, by what of them decides. See classify.
	known map[string][]*class
	key   []byte
}

// class is how objects are drawn.
type class struct {
	schema.Class // without attributes: their texts are those of an object
	encoded      string
	at           uint64 // where it is in the text; 0 before it is there
}

func newClass(c schema.Class) *class {
	encoded := c.Encode()
	c.Attrs = nil
	return &class{c, encoded, 0}
}

// drawing is an object in a class.
type drawing struct {
	object        uint64 // see placed
	class         *class
	names, pieces span // in the batch
}

type span struct{ from, to int }

type name struct{ key, value string }

// piece is what a tile has of a drawing.
type piece struct {
	key    uint64 // see placed
	tile   mapfile.Tile
	zoom   uint8 // from which it is shown
	bounds clip.Rect
	shape  span // in the batch, see mapfile.AppendShape
}

// NewBatch implements osm.Consumer.
func (c *Consumer) NewBatch() osm.Batch { return &batch{c: c, known: make(map[string][]*class)} }

// What a batch keeps for the next objects: few are so large, and few tags are so rare.
const (
	keptBytes = 4 << 20
	keptTags  = 1 << 11
)

func (b *batch) reset() {
	if cap(b.shapes) > keptBytes || cap(b.points) > keptBytes/8 {
		*b = batch{c: b.c, known: b.known}
		return
	}
	clear(b.names) // of the texts
	b.borders, b.drawings, b.names = b.borders[:0], b.drawings[:0], b.names[:0]
	b.pieces, b.shapes, b.skipped = b.pieces[:0], b.shapes[:0], 0
}

// drawnKeys are the keys without which nothing is drawn, and decisive all that say how, but for the name.
var (
	drawnKeys = tags.Named(strings.Join(schema.Keys[:], " "))
	decisive  = tags.Named(strings.Join(slices.Concat(schema.Keys[:], schema.Details[:]), " "))
)

// classify says how an object is drawn.
func (b *batch) classify(kind region.Kind, t *tags.Set, area bool) []*class {
	if !t.HasAny(drawnKeys) {
		return nil // as most nodes
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
	known, ok := b.known[string(b.key)]
	if !ok {
		for _, c := range schema.Classify(kind, t.OSM(), area) {
			known = append(known, newClass(c))
		}
		if len(b.known) == keptTags {
			clear(b.known)
		}
		b.known[string(b.key)] = known
	}
	return known
}

// Node implements osm.Batch.
func (b *batch) Node(n *osm.Node) bool {
	if classes := b.classify(region.KindNode, n.Tags, false); len(classes) > 0 {
		point := []geo.Projected{geo.ProjectE7(n.At.Lat, n.At.Lon)}
		names := b.namesOf(n.Tags)
		for _, class := range classes {
			b.draw(region.KindNode, n.ID, class, names, class.MinZoom, mapfile.Shape{Points: point})
		}
	}
	return false
}

// Relation implements osm.Batch. It keeps the ways of boundaries, whose areas are wanted so that their ways are members
// of an area.
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

// Way implements osm.Batch. It draws lines: those of borders, and those of ways that are no areas.
func (b *batch) Way(w *osm.Way) {
	// A border along the coast is at sea where there is one.
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
		b.draw(region.KindWay, w.ID, class, names, class.MinZoom, mapfile.Shape{Lines: []clip.Line{b.points}})
	}
}

func appendProjected(points []geo.Projected, coords []osm.Coord) []geo.Projected {
	for _, at := range coords {
		points = append(points, geo.ProjectE7(at.Lat, at.Lon))
	}
	return points
}

// Area implements osm.Batch. Each polygon of a multipolygon in the old style is an area of its own.
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
			b.draw(a.Kind, a.ID, class, names, zoomOf(class, rings), shape)
		}
	}
}

// rings projects the rings of some polygons, which hold until the next object.
func (b *batch) rings(polygons []osm.Polygon) (rings []clip.Ring) {
	b.points = b.points[:0]
	for _, ring := range slices.Concat(polygons...) {
		from := len(b.points)
		b.points = appendProjected(b.points, ring)
		if out := b.points[from:]; len(out) > 1 && out[0] == out[len(out)-1] {
			b.points = b.points[:len(b.points)-1]
		}
		// Where the points move to more memory, those of the rings before stay where they are.
		if out := b.points[from:len(b.points):len(b.points)]; len(out) > 2 {
			rings = append(rings, out)
		}
	}
	return rings
}

// namesOf takes the names of an object on, name and name:xx, in the order of the keys. Without a name none of the
// others is shown.
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

// draw cuts a shape that is shown from a zoom on. One that is too large is left out.
func (b *batch) draw(kind region.Kind, id int64, class *class, names span, zoom uint8, shape mapfile.Shape) {
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
		in.Max.X, in.Max.Y = in.Max.X-1, in.Max.Y-1             // its eastern and southern borders belong to other tiles
		if p.tile.Z == mapfile.CellZoom && in.Meets(p.bounds) { // what is only in the buffer of a cell makes none
			b.c.cells.Add(p.tile.X<<region.CoverageZoom | p.tile.Y)
		}
	}
	if class.NameZoom == schema.NoNames {
		names = span{}
	}
	b.drawings = append(b.drawings, drawing{uint64(kind)<<60 | uint64(id), class, names, span{from, len(b.pieces)}})
}
