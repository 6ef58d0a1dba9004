package region

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/base/files"
)

// Meta is the metadata of a region file.
type Meta struct {
	Sources     []string         `json:"sources"` // names of the extracts, without directories
	License     string           `json:"license"`
	Attribution string           `json:"attribution"`
	Timestamp   time.Time        `json:"timestamp,omitzero"` // of the extracts; never the time of the build
	Bounds      Bounds           `json:"bounds"`
	Counts      map[string]int64 `json:"counts"`
}

// Bounds is a box in degrees.
type Bounds struct {
	MinLat float64 `json:"minLat"`
	MinLon float64 `json:"minLon"`
	MaxLat float64 `json:"maxLat"`
	MaxLon float64 `json:"maxLon"`
}

// Writer writes a region file. Small sections are added whole (Add), from any goroutine and in any order: the file is
// the same. Large ones are streamed into the file (Direct) or a temporary file (Spool).
//
// The zero Writer has no temporary files: it keeps sections in memory until Commit.
type Writer struct {
	mu      sync.Mutex
	waiting []*SectionWriter // for Commit
	written []*SectionWriter // in the file
	names   map[string]bool
	spool   func(name string) Spool
	body    *body
}

// Spool is a temporary file that is written once and then read.
type Spool interface {
	io.Writer
	// Bytes returns all that was written. It is valid until Free.
	Bytes() []byte
	Free() error
}

// SectionWriter writes a section: an array of elements of one size. It is used by one goroutine at a time.
type SectionWriter struct {
	entry
	out   io.Writer
	spool Spool
	data  []byte // of a section added whole
	bytes uint64
	w     *Writer
}

// Create returns a Writer that writes a file in dir, which must be on the file system of the final path, and takes its
// temporary files from spool. Commit or Discard must follow.
func Create(dir string, spool func(name string) Spool) (*Writer, error) {
	w := &Writer{spool: spool}
	return w, w.create(func() (*os.File, error) { return os.Create(filepath.Join(dir, "region")) })
}

func (w *Writer) create(open func() (*os.File, error)) error {
	f, err := open()
	if err != nil {
		return err
	}
	w.body = newBody(f)
	return nil
}

// add adds a section to a list. It panics if the name is taken: section names are constants of the packages that write
// them.
func (w *Writer) add(s *SectionWriter, list *[]*SectionWriter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(s.name) == 0 || len(s.name) > nameSize || w.names[s.name] {
		panic(fmt.Sprintf("region: section name %q is empty, too long or taken", s.name))
	}
	if w.names == nil {
		w.names = map[string]bool{}
	}
	w.names[s.name] = true
	*list = append(*list, s)
}

// Add adds a whole section: elements without pointers and with zero padding. The data is not copied: Commit writes it
// as it is then. Names have at most 24 bytes.
func Add[T any](w *Writer, name string, data []T) {
	var zero T
	raw := rawBytes(data)
	e := entry{name: name, elemSize: uint32(unsafe.Sizeof(zero))}
	w.add(&SectionWriter{entry: e, data: raw, bytes: uint64(len(raw))}, &w.waiting)
}

// Spool begins a section in a temporary file, which Commit copies.
func (w *Writer) Spool(name string, elemSize int) *SectionWriter {
	s := &SectionWriter{entry: entry{name: name, elemSize: uint32(elemSize)}, spool: w.spool(name)}
	s.out = s.spool
	w.add(s, &w.waiting)
	return s
}

// Direct begins a section that is written directly into the file. Close it before the next one begins; only one
// goroutine may use Direct. These sections come first in the file, in the order of writing, then all others, sorted by
// name.
func (w *Writer) Direct(name string, elemSize int) *SectionWriter {
	s := &SectionWriter{entry: entry{name: name, elemSize: uint32(elemSize)}, out: w.body, w: w}
	s.offset = w.body.offset
	w.add(s, &w.written)
	return s
}

// Write adds whole elements.
func (s *SectionWriter) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	s.bytes += uint64(n)
	return n, err
}

// Append adds elements to a section.
func Append[T any](s *SectionWriter, data ...T) error {
	_, err := s.Write(rawBytes(data))
	return err
}

// content returns what was written, unless it was Direct.
func (s *SectionWriter) content() []byte {
	if s.spool != nil {
		return s.spool.Bytes()
	}
	return s.data
}

// Len returns how many bytes were written.
func (s *SectionWriter) Len() int64 { return int64(s.bytes) }

// Close ends a section of Direct.
func (s *SectionWriter) Close() error {
	if s.w == nil {
		return nil
	}
	return s.w.body.align()
}

func rawBytes[T any](data []T) []byte {
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
}

// Commit finishes the file, syncs it and renames it to path: readers find the old file or the complete new one. If it
// fails or ctx ends, nothing is left behind and the old file stays.
func (w *Writer) Commit(ctx context.Context, path string, meta Meta) (err error) {
	if w.body == nil {
		if err := w.create(func() (*os.File, error) { return files.CreateTemp(path) }); err != nil {
			return err
		}
	}
	f := w.body.file
	defer func() {
		if err != nil {
			files.Discard(f)
		}
		w.body = nil // nothing is left to discard
	}()
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	Add(w, metaSection, text)
	if err := w.finish(ctx); err != nil {
		return err
	}
	return files.Rename(f, path, 0o644)
}

// Discard removes an uncommitted file. After Commit it does nothing.
func (w *Writer) Discard() error {
	if w.body == nil {
		return nil
	}
	return errors.Join(w.body.file.Close(), os.Remove(w.body.file.Name()))
}

// finish writes the waiting sections, the checksums and the table. The header comes last: an unfinished file has none.
func (w *Writer) finish(ctx context.Context) error {
	slices.SortFunc(w.waiting, func(a, b *SectionWriter) int { return strings.Compare(a.name, b.name) })
	for _, s := range w.waiting {
		if err := w.body.take(ctx, s); err != nil {
			return err
		}
	}
	sections := append(w.written, w.waiting...)
	slices.SortFunc(sections, func(a, b *SectionWriter) int { return strings.Compare(a.name, b.name) })
	var table []byte
	for _, s := range sections {
		if s.bytes%uint64(s.elemSize) != 0 {
			return fmt.Errorf("section %q has %d bytes, and its elements have %d", s.name, s.bytes, s.elemSize)
		}
		s.count = s.bytes / uint64(s.elemSize)
		table = append(table, s.encode()...)
	}
	return w.body.seal(table, len(sections))
}
