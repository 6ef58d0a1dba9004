package region

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// Meta is what a region file says of itself.
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

// Writer collects the sections of a region file. Sections may be added from several goroutines in any order: the file is
// the same. Nothing is written before Commit.
type Writer struct {
	mu       sync.Mutex
	sections []section
}

type section struct {
	entry
	data []byte
}

// Add adds a section: an array of elements that hold no pointers and no padding that is not zero. The data is not copied
// and must not change before Commit. Names have at most 24 bytes; a name that is there already panics, since section
// names are constants of the packages that write them.
func Add[T any](w *Writer, name string, data []T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	var raw []byte
	if len(data) > 0 {
		raw = unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*size)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(name) == 0 || len(name) > nameSize || slices.ContainsFunc(w.sections, func(s section) bool { return s.name == name }) {
		panic(fmt.Sprintf("region: section name %q is empty, too long or taken", name))
	}
	w.sections = append(w.sections, section{entry{name: name, elemSize: uint32(size), count: uint64(len(data))}, raw})
}

// Commit writes the file beside path, syncs it and renames it into place, so that whoever opens path finds the old file or
// the whole new one. When it fails or ctx ends, nothing is left behind and the old file stands.
func (w *Writer) Commit(ctx context.Context, path string, meta Meta) (err error) {
	text, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	Add(w, metaSection, text)
	slices.SortFunc(w.sections, func(a, b section) int { return strings.Compare(a.name, b.name) })

	f, err := createBeside(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := w.write(ctx, f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// TryOutput makes the file that Commit would write to, and removes it again, so that what stands in its way is known
// before there is anything to write.
func TryOutput(path string) error {
	f, err := createBeside(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// createBeside makes a file in the directory of a path, from where it can be renamed to the path.
func createBeside(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// write lays the file out. The header comes last: a file that was not finished has none.
func (w *Writer) write(ctx context.Context, f *os.File) error {
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return err
	}
	sums := &blockSums{}
	body := bufio.NewWriterSize(io.MultiWriter(f, sums), 1<<20)
	offset := uint64(headerSize)
	var table []byte
	for i := range w.sections {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &w.sections[i]
		s.offset = offset
		pad := (alignment - len(s.data)%alignment) % alignment
		if _, err := body.Write(s.data); err != nil {
			return err
		}
		if _, err := body.Write(make([]byte, pad)); err != nil {
			return err
		}
		offset += uint64(len(s.data) + pad)
		table = append(table, s.encode()...)
	}
	if err := body.Flush(); err != nil {
		return err
	}
	crcs := sums.finish()
	identity := sha256.New()
	identity.Write(crcs)
	identity.Write(table)
	h := header{version: Version, crcs: offset, table: offset + uint64(len(crcs)), entries: uint32(len(w.sections)),
		tableCRC: crc32.Checksum(table, castagnoli)}
	h.fileSize = h.table + uint64(len(table))
	identity.Sum(h.identity[:0])
	for _, part := range [][]byte{crcs, table} {
		if _, err := f.Write(part); err != nil {
			return err
		}
	}
	_, err := f.WriteAt(h.encode(), 0)
	return err
}

// blockSums is a writer that keeps the CRC-32C of every block that passes through it.
type blockSums struct {
	crcs []byte
	sum  uint32
	n    int // bytes of the current block
}

func (b *blockSums) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part := rest[:min(len(rest), blockSize-b.n)]
		b.sum = crc32.Update(b.sum, castagnoli, part)
		b.n += len(part)
		rest = rest[len(part):]
		if b.n == blockSize {
			b.flush()
		}
	}
	return len(p), nil
}

func (b *blockSums) flush() {
	b.crcs = binary.LittleEndian.AppendUint32(b.crcs, b.sum)
	b.sum, b.n = 0, 0
}

func (b *blockSums) finish() []byte {
	if b.n > 0 {
		b.flush()
	}
	return b.crcs
}

// syncDir makes a rename durable where the system can; Windows cannot open directories, and does it by itself.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}
