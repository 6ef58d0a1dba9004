package region

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync/atomic"

	"github.com/edsrzf/mmap-go"

	"github.com/mapsedge/caddy-maps/internal/base/files"
)

const (
	metaSection     = "meta"
	coverageSection = "coverage"
)

// File is an open region file, mapped into memory. It is safe for concurrent use.
//
// Reading after the file was unmapped kills the process, so readers hold a reference: Open returns the first one,
// Acquire adds another, and the last Release unmaps.
type File struct {
	path     string
	stamp    stamp
	mapped   mmap.MMap
	header   header
	entries  map[string]entry
	apart    map[string][]byte // sections of a draft that are not in its file yet
	checked  []uint32          // for each block, 1 if its CRC has been checked
	refs     atomic.Int64
	coverage View[uint32]
}

// Open maps a region file and checks its header and section table. The path is that of a regular file or a symbolic
// link to one. The error is one line that names the path.
func Open(path string) (*File, error) {
	f, err := open(path)
	var system *os.PathError
	if err != nil && !errors.As(err, &system) {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return f, err
}

func open(path string) (f *File, err error) {
	file, info, err := files.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if f == nil {
			file.Close()
		}
	}()
	page := make([]byte, headerSize)
	n, err := file.ReadAt(page, 0)
	if err != nil && n == 0 && info.Size() > 0 {
		return nil, err
	}
	h, err := decodeHeader(page[:n], info.Size())
	if err != nil {
		return nil, err
	}
	mapped, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot be mapped into memory: %w", err)
	}
	opened := &File{path: path, mapped: mapped, header: h, entries: make(map[string]entry, h.entries),
		checked: make([]uint32, (h.crcs-headerSize+blockSize-1)/blockSize)}
	// The stamp comes before the first comparison with a checksum, so that Changed sees every later change.
	if opened.stamp, err = newStamp(file); err != nil {
		_ = mapped.Unmap() // the first error says what is wrong
		return nil, err
	}
	opened.refs.Store(1)
	if err := opened.readTable(); err != nil {
		opened.Release()
		return nil, err
	}
	opened.coverage, err = Section[uint32](opened, coverageSection)
	if err != nil {
		opened.Release()
		return nil, err
	}
	return opened, nil
}

func (f *File) readTable() (err error) {
	defer Recover(&err, FaultsPanic())
	end := f.header.table + uint64(f.header.entries)*entrySize
	f.stamp.fetch(f.header.table, end)
	table := f.mapped[f.header.table:end]
	if crc32.Checksum(table, castagnoli) != f.header.tableCRC {
		return errors.New("is damaged: its section table does not match its checksum")
	}
	for row := range slices.Chunk(table, entrySize) {
		e, err := decodeEntry(row, f.header.crcs)
		if err != nil {
			return err
		}
		f.entries[e.name] = e
	}
	return nil
}

// Acquire takes a reference. It returns false if the last one has been released.
func (f *File) Acquire() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release releases a reference. The last one unmaps the file.
func (f *File) Release() {
	if f.refs.Add(-1) == 0 {
		_ = f.mapped.Unmap() // nothing depends on it
		f.stamp.close()
	}
}

// Changed reports whether the file has been written to or truncated since it was opened. Checksums are compared only
// once, so data read before Changed returns true may be anything; data read before it returns false is what Commit
// wrote. The caller holds a reference. On Windows it is always false.
func (f *File) Changed() bool { return f.stamp.changed() }

// Path returns the path given to Open.
func (f *File) Path() string { return f.path }

// Has reports whether the file has a section.
func (f *File) Has(name string) bool { _, ok := f.entries[name]; return ok }

// Info describes a file, for `caddy maps info`.
type Info struct {
	Meta
	Path     string        `json:"path"`
	Size     int64         `json:"size"` // bytes
	Format   int           `json:"format"`
	Checksum string        `json:"checksum"` // SHA-256 over the blocks' checksums and the section table, hexadecimal
	Sections []SectionInfo `json:"sections"`
}

// SectionInfo describes one section.
type SectionInfo struct {
	Name     string `json:"name"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
}

// Checksum identifies the file's content: SHA-256 over the blocks' checksums and the section table, in hexadecimal.
func (f *File) Checksum() string { return hex.EncodeToString(f.header.identity[:]) }

// Info describes the file.
func (f *File) Info() (info Info, err error) {
	defer Recover(&err, FaultsPanic())
	info = Info{Path: f.path, Size: int64(f.header.fileSize), Format: int(f.header.version), Checksum: f.Checksum()}
	text, err := Section[byte](f, metaSection)
	if err != nil {
		return info, err
	}
	if text.Len() > maxMeta {
		return info, fmt.Errorf("%s is damaged: its description has %d bytes", f.path, text.Len())
	}
	if err := json.Unmarshal(text.All(), &info.Meta); err != nil {
		return info, fmt.Errorf("%s has a description that cannot be read: %w", f.path, err)
	}
	for _, e := range f.entries {
		info.Sections = append(info.Sections, SectionInfo{e.name, int64(e.count), int64(e.count) * int64(e.elemSize)})
	}
	slices.SortFunc(info.Sections, func(a, b SectionInfo) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return info, nil
}

// Read returns how many bytes of the sections have been read and checked so far.
func (f *File) Read() int64 {
	blocks := int64(0)
	for i := range f.checked {
		blocks += int64(atomic.LoadUint32(&f.checked[i]))
	}
	return blocks * blockSize
}

// Verify checks every block of the file. It reads all of it.
func (f *File) Verify(ctx context.Context) (err error) {
	defer Recover(&err, FaultsPanic())
	for block := range f.checked {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.check(uint64(block))
	}
	return nil
}

// check compares a block with its CRC, and panics with a *DamageError if they differ. It may run concurrently.
func (f *File) check(block uint64) {
	start := headerSize + block<<blockShift
	end := min(start+blockSize, f.header.crcs)
	sum := f.header.crcs + block*4
	f.stamp.fetch(start, end)
	f.stamp.fetch(sum, sum+4)
	want := binary.LittleEndian.Uint32(f.mapped[sum:])
	if crc32.Checksum(f.mapped[start:end], castagnoli) != want {
		panic(&DamageError{Path: f.path, Problem: fmt.Sprintf("block %d (bytes %d to %d) does not match its checksum", block,
			start, end)})
	}
	atomic.StoreUint32(&f.checked[block], 1)
}
