// Package pmtiles writes PMTiles archives of vector tiles: version 3, clustered, deduplicated, with directories and
// metadata compressed by gzip (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md). It reads none. Start
// with Export, which writes the map of a region file, or Create.
package pmtiles

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// MaxZoom is the highest zoom that this package supports.
const MaxZoom = 26

// TileID is the number of a tile: all tiles of lower zooms, and then its place on the zoom's Hilbert curve.
func TileID(z uint8, x, y uint32) uint64 {
	below := (uint64(1)<<(2*z) - 1) / 3
	if z == 0 {
		return 0
	}
	return below + geo.Hilbert(x<<(32-z), y<<(32-z))>>(64-2*z)
}

// Archive describes an archive.
type Archive struct {
	// Bounds are in degrees.
	Bounds region.Bounds
	// Metadata becomes a JSON object with "vector_layers" and more.
	Metadata any
	// Tiles is an upper bound of the number of tiles. It sizes the directories and does not limit Add.
	Tiles int64
}

// Writer writes an archive to a temporary file beside its path. Its memory does not grow with the archive, apart from
// at most 64 MiB to find repeated tiles.
type Writer struct {
	Archive
	path   string
	file   *os.File
	leaves *os.File // leaf directories, until they follow the tiles

	tiles, leafBytes uint64   // bytes of the tiles and of the leaf directories
	root, leaf       []entry  // directories not written yet
	perLeaf          int      // entries of a leaf directory
	contents         contents // of earlier tiles
	next             uint64   // the lowest TileID of the next tile
	header           header
}

// Create begins an archive. Commit or Discard must follow.
func Create(path string, a Archive) (*Writer, error) {
	file, err := files.CreateTemp(path)
	if err != nil {
		return nil, err
	}
	leaves, err := files.CreateTemp(path)
	if err != nil {
		files.Discard(file)
		return nil, err
	}
	w := &Writer{Archive: a, path: path, file: file, leaves: leaves, contents: contents{},
		perLeaf: int(max(minPerLeaf, a.Tiles/maxLeaves+1))}
	if _, err := file.Seek(reserved, io.SeekStart); err != nil {
		w.Discard()
		return nil, err
	}
	return w, nil
}

const (
	// reserved is the size of the first read of clients. The header and the root directory must fit.
	reserved = 16 << 10
	// maxLeaves is the number of leaves whose root directory fits: an entry takes at most 7 bytes, before compression.
	maxLeaves  = 2000
	minPerLeaf = 4096
	// maxContents limits the remembered tiles.
	maxContents = 1 << 20
)

// contents has the offsets of tiles by the beginning of their SHA-256.
type contents map[[16]byte]place

type place struct {
	offset uint64
	length uint32
}

// Add adds a tile, compressed by gzip. Tiles come in the order of their TileID.
func (w *Writer) Add(z uint8, x, y uint32, data []byte) error {
	id := TileID(z, x, y)
	if z > MaxZoom || x>>z != 0 || y>>z != 0 || id < w.next || len(data) == 0 {
		return fmt.Errorf("pmtiles: tile %d/%d/%d of %d bytes is not one, or does not follow those before", z, x, y,
			len(data))
	}
	if w.next == 0 {
		w.header.minZoom = z
	}
	w.next, w.header.maxZoom = id+1, z
	w.header.addressed++
	at, err := w.store(data)
	if err != nil {
		return err
	}
	if n := len(w.leaf); n > 0 && w.leaf[n-1].place == at && w.leaf[n-1].id+uint64(w.leaf[n-1].run) == id {
		w.leaf[n-1].run++
		return nil
	}
	w.header.entries++
	if len(w.leaf) == w.perLeaf {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.leaf = append(w.leaf, entry{id, at, 1})
	return nil
}

// store writes a tile unless there is an equal one.
func (w *Writer) store(data []byte) (place, error) {
	sum := sha256.Sum256(data)
	key := [16]byte(sum[:])
	if at, known := w.contents[key]; known {
		return at, nil
	}
	at := place{w.tiles, uint32(len(data))}
	if _, err := w.file.Write(data); err != nil {
		return place{}, err
	}
	w.tiles += uint64(len(data))
	w.header.contents++
	if len(w.contents) < maxContents {
		w.contents[key] = at
	}
	return at, nil
}

// flush writes a leaf directory.
func (w *Writer) flush() error {
	data := encodeDirectory(w.leaf)
	w.root = append(w.root, entry{w.leaf[0].id, place{w.leafBytes, uint32(len(data))}, 0})
	w.leaf = w.leaf[:0]
	w.leafBytes += uint64(len(data))
	_, err := w.leaves.Write(data)
	return err
}

// Commit finishes the archive, syncs it and renames it to its path. If it fails or ctx ends, nothing is left behind.
func (w *Writer) Commit(ctx context.Context) (err error) {
	defer w.Discard()
	if w.header.addressed == 0 {
		return errors.New("there are no tiles to write")
	}
	metadata, err := json.Marshal(w.Metadata)
	if err != nil {
		return err
	}
	metadata = compressed(metadata)
	root := encodeDirectory(w.leaf)
	if len(w.root) > 0 || headerSize+len(root) > reserved {
		if err := w.flush(); err != nil {
			return err
		}
		root = encodeDirectory(w.root)
	}
	if headerSize+len(root) > reserved {
		return fmt.Errorf("pmtiles: %d tiles were said to be %d at most", w.header.addressed, w.Tiles)
	}
	if _, err := w.leaves.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(w.file, w.leaves); err != nil {
		return err
	}
	if _, err := w.file.Write(metadata); err != nil {
		return err
	}
	w.header.root = section{headerSize, uint64(len(root))}
	w.header.tiles = section{reserved, w.tiles}
	w.header.leaves = section{reserved + w.tiles, w.leafBytes}
	w.header.metadata = section{reserved + w.tiles + w.leafBytes, uint64(len(metadata))}
	w.header.bounds = w.Bounds
	if _, err := w.file.WriteAt(append(w.header.encode(), root...), 0); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := files.Rename(w.file, w.path, 0o644); err != nil {
		return err
	}
	w.file = nil
	return nil
}

// Discard removes an archive that is not committed.
func (w *Writer) Discard() {
	for _, f := range []**os.File{&w.file, &w.leaves} {
		if *f != nil {
			files.Discard(*f)
			*f = nil
		}
	}
}
