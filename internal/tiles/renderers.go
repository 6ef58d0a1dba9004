package tiles

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// Texts is the string table of a map: its classes and names.
type Texts interface {
	// Text returns the text at an offset. It panics with a *region.DamageError if there is none.
	Text(at uint64) []byte
}

// Renderers render tiles from records and compress them. They are safe for concurrent use.
type Renderers struct {
	texts Texts
	idle  sync.Pool // of *worker
}

// worker is reusable memory for rendering a tile.
type worker struct {
	renderer renderer
	raw      []byte
	zip      *gzip.Writer
}

// NewRenderers returns Renderers of records that refer to texts.
func NewRenderers(texts Texts) *Renderers { return &Renderers{texts: texts} }

// level is the compression level of gzip. The next one takes twice as long and saves 2%.
const level = 5

// Render appends a tile, compressed by gzip, or nothing if it is empty. The records are those of the tile or of one
// that contains it. The same records give the same bytes. It panics with a *region.DamageError if the records are
// corrupt.
func (c *Renderers) Render(dst, records []byte, of, tile mapfile.Tile) (_ []byte, err error) {
	w, ok := c.idle.Get().(*worker)
	if !ok {
		w = &worker{renderer: renderer{texts: c.texts, classes: map[uint64]*class{}}}
		if w.zip, err = gzip.NewWriterLevel(nil, level); err != nil {
			return dst, err
		}
	}
	// After an error or a panic the worker is not used again.
	if w.raw, err = w.renderer.render(w.raw[:0], records, of, tile); err != nil {
		return dst, err
	}
	if len(w.raw) > 0 {
		out := bytes.NewBuffer(dst)
		w.zip.Reset(out)
		if _, err := w.zip.Write(w.raw); err != nil {
			return dst, err
		}
		if err := w.zip.Close(); err != nil {
			return dst, err
		}
		dst = out.Bytes()
	}
	c.idle.Put(w)
	return dst, nil
}
