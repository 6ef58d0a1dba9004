package tiles

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// Texts are the classes and names of a map.
type Texts interface {
	// Text returns the text that begins somewhere. It panics with a *region.DamageError where there is none.
	Text(at uint64) []byte
}

// Cutters cut tiles from records and compress them. They are safe for use by any number of goroutines.
type Cutters struct {
	texts Texts
	idle  sync.Pool // of *cutting
}

// cutting is what cutting a tile needs, to be used again.
type cutting struct {
	cutter cutter
	raw    []byte
	zip    *gzip.Writer
}

// NewCutters makes Cutters of records whose texts are in texts.
func NewCutters(texts Texts) *Cutters { return &Cutters{texts: texts} }

// level is that of gzip: one more takes twice as long and saves 2%.
const level = 5

// Cut adds a tile to dst, compressed by gzip; nothing where it is empty. The records are those of a tile that it lies
// in, or of itself. The same records give the same bytes. It panics with a *region.DamageError where the records are
// not what they should be.
func (c *Cutters) Cut(dst, records []byte, of, tile mapfile.Tile) (_ []byte, err error) {
	w, ok := c.idle.Get().(*cutting)
	if !ok {
		w = &cutting{cutter: cutter{texts: c.texts, classes: map[uint64]*class{}}}
		if w.zip, err = gzip.NewWriterLevel(nil, level); err != nil {
			return dst, err
		}
	}
	// Neither after an error nor after a panic it is used again.
	if w.raw, err = w.cutter.cut(w.raw[:0], records, of, tile); err != nil {
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
