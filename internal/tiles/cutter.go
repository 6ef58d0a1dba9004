package tiles

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// cutter cuts tiles from records. Only one goroutine may use it.
type cutter struct {
	texts    Texts
	classes  map[uint64]*class
	tile     mapfile.Tile
	window   clip.Rect
	shift    uint8 // a step of the tile is 2^shift units of the world
	features []feature
	sorted   []*feature
	points   int // in features
	decoded  []geo.Projected
	rings    []clip.Ring
	land     []clip.Ring // of the tile, until the ocean is made
	clipped  []clip.Ring
	lines    []clip.Line
	encoder  encoder
}

// class is a class as a tile shows it: with the attributes that features have at its zoom.
type class struct {
	schema.Class
	ocean bool
	shown string // what the tile shows of it, encoded
}

// feature is what is drawn of a record, in steps of the tile.
type feature struct {
	class *class
	names []byte // see mapfile.Reader.Names; nil where they are not shown
	area  int64  // twice that of the polygons, in square steps
	// Of the three one is not empty.
	points   []geo.Projected
	lines    []clip.Line
	polygons []clip.Polygon
}

const (
	// maxPoints bounds the work on a tile: of what would make more positions, that which comes last is left out. A tile
	// of so many has about a megabyte.
	maxPoints = 1 << 18
	// detail is how far, in steps, lines may be from where they were: a quarter of a pixel on most screens. From
	// fullDetailZoom on, where clients may enlarge a tile, they are where they were.
	detail         = 4
	fullDetailZoom = 14
)

// cut adds a tile to dst, not compressed.
func (c *cutter) cut(dst, records []byte, of, tile mapfile.Tile) ([]byte, error) {
	clear(c.classes) // what a damaged file says must not stay
	c.tile, c.window, c.shift = tile, tile.Buffered(), mapfile.MaxZoom-tile.Z
	c.features, c.points, c.land = c.features[:0], 0, c.land[:0]
	window := mapfile.NewWindow(of, c.window)
	for len(records) > 0 && c.points < maxPoints {
		var h mapfile.Head
		var body []byte
		h, body, records = mapfile.NextRecord(records)
		if h.Zoom > tile.Z {
			break // so are all that follow
		}
		if !window.Has(&h) {
			continue
		}
		if err := c.add(mapfile.NewReader(of, body)); err != nil {
			return dst, err
		}
	}
	c.sorted = c.sorted[:0]
	for i := range c.features {
		c.sorted = append(c.sorted, &c.features[i])
	}
	slices.SortStableFunc(c.sorted, compare)
	return c.encoder.append(dst, c.sorted, c.texts)
}

// compare is the order of features in a tile: by layers; of areas the largest first, so that no other one hides it; of
// lines the least important first, and those that are drawn alike together; points as they come.
func compare(a, b *feature) int {
	if d := cmp.Or(cmp.Compare(a.class.Layer, b.class.Layer), cmp.Compare(a.class.Geometry, b.class.Geometry)); d != 0 {
		return d
	}
	switch a.class.Geometry {
	case schema.Polygon:
		return cmp.Compare(b.area, a.area)
	case schema.Line:
		if a.class != b.class {
			d := cmp.Or(cmp.Compare(b.class.MinZoom, a.class.MinZoom), cmp.Compare(a.class.shown, b.class.shown))
			if d != 0 {
				return d
			}
		}
		return bytes.Compare(a.names, b.names)
	}
	return 0
}

// add cuts what is drawn of a record.
func (c *cutter) add(r mapfile.Reader) error {
	class, err := c.class(r.Uint())
	if err != nil {
		return err
	}
	f := feature{class: class, names: r.Names()}
	c.decoded = c.decoded[:0]
	if c.tile.Z < class.NameZoom {
		f.names = nil
	}
	switch class.Geometry {
	case schema.Point:
		c.addPoints(&r, f)
	case schema.Line:
		c.addLines(&r, f)
	case schema.Polygon:
		c.addPolygons(&r, f)
	}
	return nil
}

// class returns the class that begins somewhere in the texts.
func (c *cutter) class(at uint64) (*class, error) {
	if found := c.classes[at]; found != nil {
		return found, nil
	}
	decoded, err := schema.DecodeClass(string(c.texts.Text(at)))
	if err != nil {
		return nil, &region.DamageError{Problem: err.Error()}
	}
	shown := decoded.Attrs[:0]
	for _, a := range decoded.Attrs {
		if a.MinZoom <= c.tile.Z {
			a.MinZoom = 0
			shown = append(shown, a)
		}
	}
	decoded.Attrs = shown
	made := &class{Class: decoded, ocean: decoded.IsOcean()}
	decoded.NameZoom = 0
	made.shown = decoded.Encode()
	c.classes[at] = made
	return made, nil
}

// step returns a position as steps of the tile.
func (c *cutter) step(p geo.Projected) geo.Projected {
	from := c.tile.Origin()
	half := int32(1) << c.shift >> 1
	return geo.Projected{X: (p.X - from.X + half) >> c.shift, Y: (p.Y - from.Y + half) >> c.shift}
}

func (c *cutter) addPoints(r *mapfile.Reader, f feature) {
	c.decoded = r.Points(c.decoded)
	for _, p := range c.decoded {
		if c.window.Contains(p) {
			f.points = append(f.points, c.step(p))
		}
	}
	if len(f.points) > 0 {
		c.keep(f, len(f.points))
	}
}

func (c *cutter) addLines(r *mapfile.Reader, f feature) {
	n := 0
	for range r.Count() {
		c.decoded = r.Points(c.decoded[:0])
		c.lines = clip.ClipLine(c.lines[:0], c.decoded, c.window)
		for _, l := range c.lines {
			if l = c.line(l); len(l) > 1 {
				f.lines = append(f.lines, l)
				n += len(l)
			}
		}
	}
	if n > 0 {
		c.keep(f, n)
	}
}

// line returns a line in steps of the tile, without positions that follow themselves.
func (c *cutter) line(l clip.Line) clip.Line {
	out := make(clip.Line, 0, len(l))
	for _, p := range l {
		if p = c.step(p); len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	if c.tile.Z >= fullDetailZoom || len(out) < 3 {
		return out
	}
	if out = clip.SimplifyLine(out, detail); len(out) == 2 && out[0] == out[1] {
		return nil // a loop that nobody could see
	}
	return out
}

func (c *cutter) addPolygons(r *mapfile.Reader, f feature) {
	c.rings = c.rings[:0]
	for range r.Count() {
		from := len(c.decoded)
		c.decoded = r.Points(c.decoded)
		c.rings = append(c.rings, clip.Ring(c.decoded[from:len(c.decoded):len(c.decoded)]))
	}
	c.clipped = clip.ClipRings(c.clipped[:0], c.rings, c.window)
	for i, ring := range c.clipped {
		c.clipped[i] = c.ring(ring)
	}
	if f.class.ocean {
		// Land may have moved on the tile's grid, and what it has left is ocean: by the even-odd rule land is taken out of
		// the square. Of several oceans, which only a damaged file has, the first is enough.
		c.clipped, c.land = append(c.clipped, c.land...), c.land[:0]
	}
	n := 0
	f.polygons = clip.Simple(c.clipped)
	for _, p := range f.polygons {
		if f.class.Layer == schema.Earth {
			c.land = append(c.land, p...)
		}
		for _, ring := range p {
			f.area += clip.Area2(ring)
			n += len(ring)
		}
	}
	if n > 0 {
		c.keep(f, n)
	}
}

// ring turns a ring, in its place, into steps of the tile.
func (c *cutter) ring(ring clip.Ring) clip.Ring {
	out := ring[:0]
	for _, p := range ring {
		if p = c.step(p); len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	if c.tile.Z >= fullDetailZoom || len(out) < 4 {
		return out
	}
	return clip.SimplifyRing(out, detail)
}

// keep takes a feature on that has some positions.
func (c *cutter) keep(f feature, points int) {
	c.features = append(c.features, f)
	c.points += points
}
