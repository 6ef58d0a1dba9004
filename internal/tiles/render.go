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

// renderer renders tiles from records. Only one goroutine may use it.
type renderer struct {
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

// class is a class with the attributes that features have at the tile's zoom.
type class struct {
	schema.Class
	ocean bool
	shown string // the attributes, encoded
}

// feature is a feature in steps of the tile.
type feature struct {
	class *class
	names []byte // see mapfile.Reader.Names; nil if they are not shown
	area  int64  // twice the area of the polygons, in square steps
	// One of these is not empty.
	points   []geo.Projected
	lines    []clip.Line
	polygons []clip.Polygon
}

const (
	// maxPoints limits the positions of a tile, and so its size to about a megabyte. What comes last is left out.
	maxPoints = 1 << 18
	// detail is the tolerance of simplification, in steps: a quarter of a pixel on most screens. From fullDetailZoom on
	// lines are not simplified, since clients may enlarge tiles.
	detail         = 4
	fullDetailZoom = 14
)

// render appends a tile, not compressed.
func (c *renderer) render(dst, records []byte, of, tile mapfile.Tile) ([]byte, error) {
	clear(c.classes) // a damaged file must not leave anything behind
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

// compare orders the features of a tile: by layer; areas from large to small, so that none is hidden; lines from the
// least important on, with equal ones together; points stay in order.
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

// add adds the feature of a record.
func (c *renderer) add(r mapfile.Reader) error {
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

// class returns the class at an offset of the texts.
func (c *renderer) class(at uint64) (*class, error) {
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

// step returns a position in steps of the tile.
func (c *renderer) step(p geo.Projected) geo.Projected {
	from := c.tile.Origin()
	half := int32(1) << c.shift >> 1
	return geo.Projected{X: (p.X - from.X + half) >> c.shift, Y: (p.Y - from.Y + half) >> c.shift}
}

func (c *renderer) addPoints(r *mapfile.Reader, f feature) {
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

func (c *renderer) addLines(r *mapfile.Reader, f feature) {
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

// line returns a line in steps of the tile, without repeated positions.
func (c *renderer) line(l clip.Line) clip.Line {
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
		return nil // too small a loop to see
	}
	return out
}

func (c *renderer) addPolygons(r *mapfile.Reader, f feature) {
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
		// Land has been rounded to the tile's grid. The ocean is the rest: the even-odd rule subtracts land from the square.
		// Only the first ocean counts; several exist only in damaged files.
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

// ring converts a ring in place to steps of the tile.
func (c *renderer) ring(ring clip.Ring) clip.Ring {
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

// keep adds a feature with a number of positions.
func (c *renderer) keep(f feature, points int) {
	c.features = append(c.features, f)
	c.points += points
}
