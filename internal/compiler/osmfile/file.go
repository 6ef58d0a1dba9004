// Package osmfile reads the objects of OpenStreetMap extracts: .osm.pbf, .osm, .osm.gz, .osm.bz2 and .osm.zst.
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

// File is one extract. It is gone through several times, for some kinds of objects each.
type File struct {
	Timestamp time.Time // of the extract itself; zero when it names none
	in        readerAtCloser
	size      int64 // in bytes
	bar       *pipeline.Bar
	located   bool       // ways say where their nodes are
	start     int64      // of the first block of objects
	blocks    []block    // nil before the first scan, which notes what kinds of objects are in each
	xml       *xmlReader // of what is still to be converted to blocks
}

type readerAtCloser interface {
	io.ReaderAt
	io.Closer
}

// Close closes the file.
func (f *File) Close() error { return f.in.Close() }

// allOf returns the kinds that are to be read to get some: of a file whose ways say where their nodes are, these too.
func (f *File) allOf(wanted Kinds) Kinds {
	if f.located && wanted&Nodes != 0 {
		wanted |= Ways
	}
	return wanted
}

// Remaining is how many bytes a scan will read.
func (f *File) Remaining(wanted Kinds) int64 {
	switch {
	case f.bar == nil:
		return 0 // of what is counted; XML is read in the first scan
	case f.blocks == nil:
		return f.size // what is in it is not known yet
	}
	var sum int64
	for _, b := range f.blocks {
		if b.kinds&f.allOf(wanted) != 0 {
			sum += b.length
		}
	}
	return sum
}

// errFormat is the refusal of what is no extract at all.
var errFormat = errors.New("not an OpenStreetMap extract (.osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst)")

// Open opens an extract. It tells the format of a file by its content. The ending of its name plays no part: downloads
// are often misnamed. A pipe is no extract, since an extract is gone through several times.
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

// peek returns as much of a file as tells its format.
func peek(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(4096)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head, truncated(err)
}

// truncated says in plain words what the unexpected end of a file means.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("truncated: the file ends in the middle of its data")
	}
	return err
}

// counter counts the bytes that are read.
type counter struct{ *pipeline.Bar }

func (c counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}
