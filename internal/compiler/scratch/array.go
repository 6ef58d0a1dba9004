package scratch

import (
	"fmt"
	"os"
	"reflect"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// Array is a growable array in a mapped temporary file, of elements that hold no pointers. Room on the disk is set
// aside when it grows, so that a full disk is an error of Append and not a fault later. The zero Array is empty and
// cannot grow.
type Array[T any] struct {
	dir    *Dir
	name   string
	file   *os.File
	mapped mmap.MMap
	data   []T // up to the capacity
	n      int
}

const (
	firstBytes = 64 << 10
	pageBytes  = 64 << 10 // a multiple of every system's page
	// doubledBytes is the size up to which an array doubles; beyond, it grows by as much, or by a quarter: steps that are
	// larger take more room on the disk, smaller ones more time.
	doubledBytes = 1 << 20
)

// NewArray makes an empty array. Its name is for those who look into the directory.
func NewArray[T any](d *Dir, name string) *Array[T] {
	if t := reflect.TypeFor[T](); holdsPointers(t) {
		panic(fmt.Sprintf("scratch: %v holds pointers", t))
	}
	return &Array[T]{dir: d, name: name}
}

func holdsPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return holdsPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	}
	return t.Kind() > reflect.Complex128 || t.Kind() == reflect.Uintptr
}

// Len is the number of elements.
func (a *Array[T]) Len() int { return a.n }

// Slice is the array's content, to be read and written in place. It is valid until the array grows or is freed.
func (a *Array[T]) Slice() []T { return a.data[:a.n:a.n] }

// Append adds elements. Without any it does nothing, not even where others read meanwhile.
func (a *Array[T]) Append(v ...T) error {
	if len(v) == 0 {
		return nil
	}
	if a.n+len(v) > len(a.data) {
		if err := a.reserve(a.n + len(v)); err != nil {
			return err
		}
	}
	copy(a.data[a.n:], v)
	a.n += len(v)
	return nil
}

// Extend adds elements that are zero, for the caller to fill, and returns them. What Slice returned before is no longer
// valid.
func (a *Array[T]) Extend(n int) ([]T, error) {
	if a.n+n > len(a.data) {
		if err := a.reserve(a.n + n); err != nil {
			return nil, err
		}
	}
	a.n += n
	added := a.data[a.n-n : a.n : a.n]
	clear(added) // what Truncate cut off may have been there
	return added, nil
}

// Reserve makes room for so many elements in all, and no more than that, where it is known how many will come.
func (a *Array[T]) Reserve(n int) error {
	if n <= len(a.data) {
		return nil
	}
	return a.reserve(n)
}

// Truncate cuts the array down to n elements. Their room stays set aside.
func (a *Array[T]) Truncate(n int) { a.n = min(a.n, n) }

// reserve makes room for at least n elements.
func (a *Array[T]) reserve(n int) error {
	if a.file == nil {
		var err error
		if a.file, err = a.dir.create(a.name, a.unmap); err != nil {
			return fmt.Errorf("temporary files: %w", err)
		}
	}
	var zero T
	size := int64(unsafe.Sizeof(zero))
	before := int64(len(a.mapped))
	bytes := max(int64(n)*size, before+max(before/4, min(before, doubledBytes)), firstBytes)
	bytes = (bytes + pageBytes - 1) / pageBytes * pageBytes
	if err := reserve(a.file, before, bytes); err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	a.dir.grow(bytes - before)
	if err := a.unmap(); err != nil {
		return err
	}
	return a.remap(bytes)
}

// remap maps the file, which has some bytes.
func (a *Array[T]) remap(bytes int64) error {
	var zero T
	mapped, err := mmap.MapRegion(a.file, int(bytes), mmap.RDWR, 0, 0)
	if err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	a.mapped = mapped
	a.data = unsafe.Slice((*T)(unsafe.Pointer(&mapped[0])), int(bytes/int64(unsafe.Sizeof(zero))))
	return nil
}

func (a *Array[T]) unmap() error {
	if a.mapped == nil {
		return nil
	}
	a.data = nil
	if err := a.mapped.Unmap(); err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	return nil
}

// Trim gives the room back that is set aside beyond the content. What Slice returned before is no longer valid.
func (a *Array[T]) Trim() error {
	var zero T
	before := int64(len(a.mapped))
	bytes := (int64(a.n)*int64(unsafe.Sizeof(zero)) + pageBytes - 1) / pageBytes * pageBytes
	if bytes >= before {
		return nil
	}
	if bytes == 0 {
		return a.Free()
	}
	if err := a.unmap(); err != nil {
		return err
	}
	if err := a.file.Truncate(bytes); err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	a.dir.grow(bytes - before)
	return a.remap(bytes)
}

// Free removes the file. The array is empty then, and may grow again.
func (a *Array[T]) Free() error {
	if a.file == nil {
		return nil
	}
	size := int64(len(a.mapped))
	if err := a.unmap(); err != nil {
		return err
	}
	f := a.file
	a.file, a.n = nil, 0
	return a.dir.remove(f, size)
}

// writeZeros fills a part of a file, which sets room aside for it.
func writeZeros(f *os.File, from, to int64) error {
	zeros := make([]byte, min(to-from, 1<<20))
	for from < to {
		n, err := f.WriteAt(zeros[:min(to-from, int64(len(zeros)))], from)
		if err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
