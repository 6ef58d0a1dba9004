package scratch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// Array is a growable array in a mapped temporary file. Its elements have a fixed size and no pointers. It allocates
// space on the disk when it grows, so that a full disk is an error of Append and not a fault later. The zero Array is
// empty and cannot grow.
type Array[T any] struct {
	file mapping
	data []T // up to the capacity
	n    int
}

// NewArray makes an empty array. Its name becomes a part of the file's name. It panics if T has no fixed size.
func NewArray[T any](d *Dir, name string) *Array[T] {
	if binary.Size(*new(T)) < 0 {
		panic(fmt.Sprintf("scratch: %T has no fixed size", *new(T)))
	}
	return &Array[T]{file: mapping{dir: d, name: name}}
}

// Len returns the number of elements.
func (a *Array[T]) Len() int { return a.n }

// Slice returns the elements, to be read and written in place. It is valid until the array grows or is freed.
func (a *Array[T]) Slice() []T { return a.data[:a.n:a.n] }

// Append adds elements. Without any it does nothing, and is safe while other goroutines read.
func (a *Array[T]) Append(v ...T) error {
	if len(v) == 0 {
		return nil
	}
	added, err := a.Extend(len(v))
	copy(added, v)
	return err
}

// Extend adds n zero elements and returns them, for the caller to fill. Earlier results of Slice become invalid.
func (a *Array[T]) Extend(n int) ([]T, error) {
	if a.n+n > len(a.data) {
		if err := a.reserve(a.n + n); err != nil {
			return nil, err
		}
	}
	a.n += n
	return a.data[a.n-n : a.n : a.n], nil
}

// Truncate shortens the array to n elements. The file keeps its size.
func (a *Array[T]) Truncate(n int) {
	if n < a.n {
		clear(a.data[n:a.n]) // for Extend
		a.n = n
	}
}

// reserve makes room for at least n elements.
func (a *Array[T]) reserve(n int) error {
	size := int(unsafe.Sizeof(*new(T)))
	if err := a.file.grow(n * size); err != nil {
		return fmt.Errorf("temporary files: %w", err) // the elements stay
	}
	a.data = unsafe.Slice((*T)(unsafe.Pointer(&a.file.bytes[0])), len(a.file.bytes)/size)
	return nil
}

// Free removes the file. The array is empty then and can grow again.
func (a *Array[T]) Free() error {
	a.data, a.n = nil, 0
	return a.file.remove()
}

// mapping is a temporary file that is mapped into memory.
type mapping struct {
	dir   *Dir
	name  string
	file  *os.File // nil without bytes
	bytes mmap.MMap
}

const (
	pageBytes = 64 << 10 // a multiple of the page size of every system
	// Files double up to firstSteps. Then they grow by an eighth, at most by stepBytes. Larger steps take more space on
	// the disk, smaller ones more time.
	firstSteps = 128 << 10
	stepBytes  = 1 << 20
)

var zeros [pageBytes]byte

// grow makes the file at least so many bytes long. It writes the new bytes, because only that allocates space on every
// file system.
func (m *mapping) grow(least int) error {
	if m.file == nil {
		if err := m.dir.create(m); err != nil {
			return err
		}
	}
	before := len(m.bytes)
	step := min(before, max(firstSteps, min(before/8, stepBytes)))
	size := (max(least, before+step) + pageBytes - 1) / pageBytes * pageBytes
	for at := before; at < size; at += pageBytes {
		if _, err := m.file.WriteAt(zeros[:], int64(at)); err != nil {
			return err
		}
	}
	mapped, err := mmap.MapRegion(m.file, size, mmap.RDWR, 0, 0)
	if err != nil {
		return err
	}
	m.dir.grow(int64(size - before))
	err = m.unmap()
	m.bytes = mapped
	return err
}

func (m *mapping) unmap() error {
	if m.bytes == nil {
		return nil
	}
	return m.bytes.Unmap()
}

// remove closes the file and removes it.
func (m *mapping) remove() error {
	if m.file == nil {
		return nil
	}
	f := m.file
	m.file = nil
	m.dir.grow(-int64(len(m.bytes)))
	m.dir.mu.Lock()
	delete(m.dir.open, m)
	m.dir.mu.Unlock()
	return errors.Join(m.unmap(), f.Close(), os.Remove(f.Name()))
}
