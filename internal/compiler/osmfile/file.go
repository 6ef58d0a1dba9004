// Package osmfile reads the objects of OpenStreetMap extracts: .osm.pbf, .osm, .osm.gz, .osm.bz2 and .osm.zst.
package osmfile

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/regularfile"
)

// File is one extract. It is gone through several times, for some kinds of objects each.
type File interface {
	// Scan has batches look at all objects of some kinds, in several goroutines and in any order, and hands them over in
	// the order of the file. A batch that was handed over is used again, so each has to empty it. An error of each ends
	// the scan.
	Scan(ctx context.Context, wanted Kinds, fresh func() Batch, each func(Batch) error) error
	// Timestamp is that of the extract itself, zero when it names none.
	Timestamp() time.Time
	// Remaining is how many bytes a scan will read.
	Remaining(wanted Kinds) int64
	Close() error
}

// errFormat is the refusal of what is no extract at all.
var errFormat = errors.New("not an OpenStreetMap extract (.osm.pbf, .osm, .osm.gz, .osm.bz2 or .osm.zst)")

// sniffed is how much of a file is looked at to tell its format.
const sniffed = 4096

// maxWindow is how much memory a file in zstd may make its reader take: what zstd --long makes by itself.
const maxWindow = 128 << 20

// Open opens an extract. It tells the format of a file by its content. The ending of its name plays no part: downloads
// are often misnamed. A pipe is no extract, since an extract is gone through several times.
func Open(path string, dir *scratch.Dir, bar *progress.Bar) (_ File, err error) {
	f, info, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if info.Size() == 0 {
		return nil, errors.New("is empty")
	}
	head := make([]byte, sniffed)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	if isPBF(head) {
		return newPBF(f, info.Size(), bar), nil
	}
	in := bufio.NewReaderSize(&counter{r: f, bar: bar}, 1<<18)
	var unpacked io.Reader = in
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		if unpacked, err = gzip.NewReader(in); err != nil {
			return nil, truncated(err)
		}
	case bytes.HasPrefix(head, []byte("BZh")):
		unpacked = bzip2.NewReader(in)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		unpacked = z
	case bytes.HasPrefix(head, []byte("\xff\xe0\x04o5m2")):
		return nil, errors.New("an .o5m file: rewrite it as .osm.pbf with osmconvert")
	}
	text := bufio.NewReaderSize(unpacked, 1<<18)
	head, err = text.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, truncated(err)
	}
	root, err := rootOf(head)
	if err != nil {
		return nil, err
	}
	return newXML(f, info.Size(), text, root, dir), nil
}

// rootOf returns the <osm> element that an XML extract starts with.
func rootOf(head []byte) (*xml.StartElement, error) {
	if isPBF(head) {
		return nil, errors.New("a packed .osm.pbf: unpack it first")
	}
	dec := xml.NewDecoder(bytes.NewReader(head))
	for {
		token, err := dec.Token()
		if err != nil {
			return nil, errFormat
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local != "osm" {
				return nil, fmt.Errorf("%w: its root element is <%.40s>", errFormat, t.Name.Local)
			}
			return &t, nil
		case xml.CharData:
			if len(bytes.TrimSpace(bytes.TrimPrefix(t, []byte("\xef\xbb\xbf")))) > 0 {
				return nil, errFormat
			}
		}
	}
}

// truncated says in plain words what the unexpected end of a file means.
func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("truncated: the file ends in the middle of its data")
	}
	return err
}

// counter reports the bytes that are read.
type counter struct {
	r   io.Reader
	bar *progress.Bar
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.bar.Add(int64(n))
	return n, err
}
