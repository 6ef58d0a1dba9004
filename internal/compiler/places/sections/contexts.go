package sections

import (
	"fmt"
	"math"
	"sort"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Context says which areas are around some tiles, from one up to another, after all tiles before them, and whose
// outlines come through.
func (w *Writer) Context(from, to uint32, around, crossing []uint32) error {
	w.context = placefile.AppendContext(w.context[:0], around, crossing)
	at, err := w.contexts.AddText(string(w.context))
	if err != nil {
		return err
	}
	if at > math.MaxUint32 {
		return fmt.Errorf("there are too many areas: what is around tiles takes more than %d bytes", uint32(math.MaxUint32))
	}
	// The last run is of the tiles after all others, and has no areas.
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

// ContextOf returns the areas around the tile of a position, as far as they have been written. Several goroutines may
// call it at a time.
func (w *Writer) ContextOf(p orb.Point) placefile.Context {
	tile, runs := placefile.ContextTile(p), w.runs.Slice()
	i := sort.Search(len(runs), func(i int) bool { return runs[i].First > tile })
	if i == 0 {
		return placefile.Context{}
	}
	return placefile.ReadContext(w.contexts.Text(uint64(runs[i-1].Context)))
}
