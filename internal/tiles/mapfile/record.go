package mapfile

import (
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// Name is a key and its value, as offsets of the text section.
type Name struct{ Key, Value uint64 }

// Head is the part of a record that tells whether it is in a tile.
type Head struct {
	// Zoom is the zoom from which it is shown.
	Zoom uint8
	// box is its box in 64ths of the record's tile: west, north, east, south.
	box [4]uint8
}

const headBytes = 5

// boxBits is the binary logarithm of the number of steps of boxes in a tile. The buffer is one step.
const boxBits = 6

// steps returns the box of a rectangle. Everything beyond the buffer counts as the buffer.
func steps(t Tile, r clip.Rect) [4]uint8 {
	from, shift := t.Origin(), geo.WorldBits-boxBits-t.Z
	step := func(v, origin int32) uint8 { return uint8(max(0, min((v-origin)>>shift+1, 1<<boxBits+1))) }
	return [4]uint8{step(r.Min.X, from.X), step(r.Min.Y, from.Y), step(r.Max.X, from.X), step(r.Max.Y, from.Y)}
}

// Window is a part of a tile to look for records in.
type Window [4]uint8

// NewWindow returns the window of a rectangle in a tile.
func NewWindow(t Tile, r clip.Rect) Window { return steps(t, r) }

// Has reports whether a record may touch the window.
func (w *Window) Has(h *Head) bool {
	return h.box[0] <= w[2] && h.box[2] >= w[0] && h.box[1] <= w[3] && h.box[3] >= w[1]
}

// AppendRecord appends a record of a tile: its head, and a body made by AppendBody and AppendShape.
func AppendRecord(data []byte, t Tile, zoom uint8, bounds clip.Rect, body, shape []byte) []byte {
	data = binary.AppendUvarint(data, uint64(headBytes+len(body)+len(shape)))
	box := steps(t, bounds)
	data = append(append(data, zoom), box[:]...)
	return append(append(data, body...), shape...)
}

// AppendBody appends the first part of a body: the offset of its class in the text section, and its names.
func AppendBody(data []byte, class uint64, names []Name) []byte {
	data = binary.AppendUvarint(binary.AppendUvarint(data, class), uint64(len(names)))
	for _, n := range names {
		data = binary.AppendUvarint(binary.AppendUvarint(data, n.Key), n.Value)
	}
	return data
}

// NextRecord reads the head of the first record, and returns its body and the records after it.
func NextRecord(records []byte) (h Head, body, rest []byte) {
	length, n := binary.Uvarint(records)
	if n <= 0 || length < headBytes || length > uint64(len(records)-n) {
		corrupt("a record has no end")
	}
	rest = records[n+int(length):]
	body = records[n : n+int(length) : n+int(length)]
	h.Zoom = body[0]
	copy(h.box[:], body[1:headBytes])
	return h, body[headBytes:], rest
}

// corrupt panics with a *region.DamageError.
func corrupt(problem string) { panic(&region.DamageError{Problem: problem}) }

// Reader reads the body of a record.
type Reader struct {
	Data   []byte
	origin geo.Projected
	last   geo.Projected
	least  int32 // the range of coordinates, relative to the origin
	most   int32
}

// NewReader reads the body of a record of a tile.
func NewReader(t Tile, body []byte) Reader {
	return Reader{Data: body, origin: t.Origin(), least: -t.Margin(), most: t.Size() + t.Margin()}
}

// Uint reads a number.
func (r *Reader) Uint() uint64 {
	if len(r.Data) > 0 && r.Data[0] < 0x80 {
		v := r.Data[0]
		r.Data = r.Data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.Data)
	if n <= 0 {
		corrupt("a number has no end")
	}
	r.Data = r.Data[n:]
	return v
}

// Names returns the bytes of the names. Equal names have equal bytes.
func (r *Reader) Names() []byte {
	before := r.Data
	for range r.count(2) {
		r.Uint()
		r.Uint()
	}
	return before[:len(before)-len(r.Data)]
}

// EachName yields the names in the result of Names.
func EachName(names []byte, yield func(Name)) {
	r := Reader{Data: names}
	for range r.count(2) {
		yield(Name{Key: r.Uint(), Value: r.Uint()})
	}
}

// count reads the number of elements that take at least some bytes each.
func (r *Reader) count(each int) int {
	n := r.Uint()
	if n > uint64(len(r.Data)/each) {
		corrupt("a record has more parts than it has room for")
	}
	return int(n)
}

// Points reads a list of positions, and appends them.
func (r *Reader) Points(points []geo.Projected) []geo.Projected {
	for range r.count(2) {
		points = append(points, r.Point())
	}
	return points
}

// Point reads a position.
func (r *Reader) Point() geo.Projected {
	r.last.X = r.step(r.last.X)
	r.last.Y = r.step(r.last.Y)
	return geo.Projected{X: r.origin.X + r.last.X, Y: r.origin.Y + r.last.Y}
}

func (r *Reader) step(from int32) int32 {
	v := r.Uint()
	to := int64(from) + (int64(v>>1) ^ -int64(v&1))
	if to < int64(r.least) || to > int64(r.most) {
		corrupt("a position lies outside of its tile")
	}
	return int32(to)
}

// Count reads how many lists of positions follow.
func (r *Reader) Count() int { return r.count(1) }

// Shape is the geometry of a record. One of its fields is not empty.
type Shape struct {
	Points []geo.Projected
	Lines  []clip.Line
	// Rings follow the even-odd rule.
	Rings []clip.Ring
}

// Empty reports whether the shape is empty.
func (s *Shape) Empty() bool { return len(s.Points)+len(s.Lines)+len(s.Rings) == 0 }

// Simplify returns a shape whose lines and rings are simplified, see clip.SimplifyLine. Rings may vanish.
func (s *Shape) Simplify(tolerance int32) (less Shape) {
	less.Points = s.Points
	for _, l := range s.Lines {
		less.Lines = append(less.Lines, clip.SimplifyLine(l, tolerance))
	}
	for _, ring := range s.Rings {
		if ring = clip.SimplifyRing(ring, tolerance); ring != nil {
			less.Rings = append(less.Rings, ring)
		}
	}
	return less
}

// AppendShape appends a shape to the body of a record: points, or the number of lines or rings and each of them. A list
// of positions begins with its length. Each position is the difference from the one before, the first from the tile's
// corner.
func AppendShape(data []byte, t Tile, s *Shape) []byte {
	w := shapeWriter{data: data, last: t.Origin()}
	if len(s.Points) > 0 {
		w.points(s.Points)
		return w.data
	}
	w.uint(len(s.Lines) + len(s.Rings))
	for _, l := range s.Lines {
		w.points(l)
	}
	for _, ring := range s.Rings {
		w.points(ring)
	}
	return w.data
}

type shapeWriter struct {
	data []byte
	last geo.Projected
}

func (w *shapeWriter) uint(n int) { w.data = binary.AppendUvarint(w.data, uint64(n)) }

func (w *shapeWriter) points(points []geo.Projected) {
	w.uint(len(points))
	for _, p := range points {
		w.data = binary.AppendVarint(w.data, int64(p.X-w.last.X))
		w.data = binary.AppendVarint(w.data, int64(p.Y-w.last.Y))
		w.last = p
	}
}
