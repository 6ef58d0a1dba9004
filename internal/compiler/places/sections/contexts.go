package sections

import (
	"fmt"
	"math"
	"sort"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Context adds the areas around the tiles [from, to), and those whose outlines cross them. Tiles come in ascending
// order.
func (w *Writer) Context(from, to uint32, around, crossing []uint32) error {
	w.context = placefile.AppendContext(w.context[:0], around, crossing)
	at, err := w.contexts.AddText(string(w.context))
	if err != nil {
		return err
	}
	if at > math.MaxUint32 {
		return fmt.Errorf("there are too many areas: their lists take more than %d bytes", uint32(math.MaxUint32))
	}
	// The last run has the tiles after all others, without areas.
	if n := w.runs.Len(); n > 0 && w.runs.Slice()[n-1].First == from {
		w.runs.Truncate(n - 1)
	}
	if n := w.runs.Len(); n == 0 || w.runs.Slice()[n-1].Context != uint32(at) {
		err = w.runs.Append(placefile.Run{First: from, Context: uint32(at)})
	}
	if err != nil {
		return err
	}
	return w.runs.Append(placefile.Run{First: to})
}

// ContextOf returns the areas around the tile of a position that have been written. It is safe for concurrent use.
func (w *Writer) ContextOf(p orb.Point) placefile.Context {
	tile, runs := placefile.ContextTile(p), w.runs.Slice()
	i := sort.Search(len(runs), func(i int) bool { return runs[i].First > tile })
	if i == 0 {
		return placefile.Context{}
	}
	return placefile.ReadContext(w.contexts.Text(uint64(runs[i-1].Context)))
}
