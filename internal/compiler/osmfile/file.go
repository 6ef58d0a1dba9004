// Package osmfile reads the objects of OpenStreetMap extracts: .osm.pbf, .osm, .osm.gz, .osm.bz2 and .osm.zst. It
// decodes on all cores, skips blocks of other kinds, and refuses malformed data. It does not know what objects mean.
// Begin at Open and File.Scan.
package osmfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// File is one extract. It is scanned several times, each time for some kinds of objects.
type File struct {
	Timestamp time.Time // of the extract itself; zero if it has none
	in        readerAtCloser
	size      int64 // in bytes
	bar       *pipeline.Bar
	located   bool       // ways have the positions of their nodes
	start     int64      // of the first block of objects
	blocks    []block    // nil before the first scan, which finds the kinds of objects in each
	xml       *xmlReader // of XML that has not been converted to blocks yet
}

type readerAtCloser interface {
	io.ReaderAt
	io.Closer
}

// Close closes the file.
func (f *File) Close() error { return f.in.Close() }

// allOf returns the kinds to read for some wanted ones: for nodes also ways, if these have the positions of nodes.
func (f *File) allOf(wanted Kinds) Kinds {
	if f.located && wanted&Nodes != 0 {
		wanted |= Ways
	}
	return wanted
}

// Remaining returns how many bytes a scan will read, for progress reports.
func (f *File) Remaining(wanted Kinds) int64 {
	switch {
	case f.bar == nil:
		return 0 // XML has been read, and is not counted again
	case f.blocks == nil:
		return f.size // the kinds of blocks are not known yet
	}
	var sum int64
	for _, b := range f.blocks {
		if b.kinds&f.allOf(wanted) != 0 {
			sum += b.length
		}
	}
	return sum
}

// errFormat is the error for files that are no extracts.
var errFormat = errors.New("not an OpenStreetMap extract (.osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst)")

// Open opens an extract. It recognizes the format by the content and not by the name, since downloads are often
// misnamed. A pipe is an error, because an extract is read several times.
func Open(path string, dir *scratch.Dir, bar *pipeline.Bar) (*File, error) {
	in, info, err := files.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	f := &File{in: in, size: info.Size(), bar: bar}
	if err := f.open(dir); err != nil {
		in.Close()
		return nil, err
	}
	return f, nil
}

// open reads the start of a file.
func (f *File) open(dir *scratch.Dir) error {
	if f.size == 0 {
		return errors.New("is empty")
	}
	in := bufio.NewReaderSize(io.TeeReader(io.NewSectionReader(f.in, 0, f.size), counter{f.bar}), 1<<18)
	head, err := peek(in)
	if err != nil {
		return err
	}
	var unpacked io.Reader = in
	switch {
	case isPBF(head):
		return f.readHeader()
	case bytes.HasPrefix(head, []byte("\xff\xe0\x04o5m2")):
		return errors.New("an .o5m file: rewrite it as .osm.pbf with osmconvert")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		unpacked, err = gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte("BZh")):
		unpacked = bzip2.NewReader(in)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		const longWindow = 128 << 20 // of zstd --long
		unpacked, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(longWindow))
	}
	if err != nil {
		return truncated(err)
	}
	text := bufio.NewReaderSize(unpacked, 1<<18)
	if head, err = peek(text); err != nil {
		return err
	}
	if isPBF(head) {
		return errors.New("a packed .osm.pbf: unpack it first")
	}
	f.xml = &xmlReader{text: text, dir: dir}
	return f.readRoot(head)
}

// peek returns enough of a file to recognize its format.
func peek(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(4096)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, truncated(err)
}

// truncated replaces an unexpected end of a file by a plainer error.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("truncated: the file ends in the middle of its data")
	}
	return err
}

// counter counts the bytes that have been read.
type counter struct{ *pipeline.Bar }

func (c counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}
