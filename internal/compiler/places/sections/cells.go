package sections

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Root is one of the largest cells while it is divided. Several may be at once, each by a goroutine of its own.
type Root struct {
	key, base    uint32
	surroundings []byte
	known        map[string]uint64 // where what is in surroundings begins
	buffer       []byte
}

// NewRoot begins the root with a key; base is not above any feature in it.
func NewRoot(key, base uint32) *Root {
	return &Root{key: key, base: base, known: map[string]uint64{}}
}

// Cell encodes a cell with the features that are known in it, in ascending order, and what it has around it, if that is
// known.
func (r *Root) Cell(c *placefile.Cell, features []uint32, around *placefile.Surroundings) []byte {
	if around != nil {
		r.buffer = placefile.AppendEnclosing(r.buffer[:0], &around.Enclosing)
		enclosing := r.intern(r.buffer)
		r.buffer = placefile.AppendSurroundings(r.buffer[:0], around, enclosing)
		c.Surroundings = r.intern(r.buffer)
	}
	return placefile.AppendCell(nil, c, r.base, features)
}

func (r *Root) intern(data []byte) uint64 {
	at, has := r.known[string(data)]
	if !has {
		at = uint64(len(r.surroundings))
		r.known[string(data)] = at
		r.surroundings = append(r.surroundings, data...)
	}
	return at
}

// Size is about how many bytes of memory the root takes.
func (r *Root) Size() int { return 3 * len(r.surroundings) }

// Root adds a root, after all that have smaller keys: what it is, placefile.ChildCell or ChildNode, and its encoding.
func (w *Writer) Root(r *Root, kind byte, data []byte) error {
	length := len(r.surroundings) + 1 + len(data)
	if length > math.MaxUint32 {
		return fmt.Errorf("there are too many different addresses within %d bytes of cells", length)
	}
	w.roots = append(w.roots, placefile.Root{Key: r.key, Base: r.base, Surroundings: uint32(len(r.surroundings)),
		Length: uint32(length), At: uint64(w.cells.Len())})
	for _, part := range [...][]byte{r.surroundings, {kind}, data} {
		if err := w.cells.Append(part...); err != nil {
			return err
		}
	}
	return nil
}
