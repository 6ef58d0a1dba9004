package region

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"unsafe"
)

// View is a section of a file as an array, read in place. Reading checks blocks at their first use. It panics with a
// *DamageError if one does not match its CRC, or with a fault if the file was truncated: callers defer Recover.
//
// The zero View is an empty section.
type View[T any] struct {
	data  []T
	file  *File
	start uint64 // of the section, in bytes after the header page
}

// Section returns a section of the file; a missing one is empty. T must be the type that was written: another element
// size is an error.
func Section[T any](f *File, name string) (View[T], error) {
	var zero T
	e, ok := f.entries[name]
	if !ok {
		return View[T]{}, nil
	}
	if uint64(e.elemSize) != uint64(unsafe.Sizeof(zero)) {
		return View[T]{}, fmt.Errorf("%s: section %q has elements of %d bytes, not %d",
			f.path, name, e.elemSize, unsafe.Sizeof(zero))
	}
	v := View[T]{file: f, start: e.offset - headerSize}
	if raw, apart := f.apart[name]; apart && e.count > 0 {
		v.data = unsafe.Slice((*T)(unsafe.Pointer(&raw[0])), e.count)
	} else if e.count > 0 {
		v.data = unsafe.Slice((*T)(unsafe.Pointer(&f.mapped[e.offset])), e.count)
	}
	return v, nil
}

// Len returns the number of elements.
func (v *View[T]) Len() int { return len(v.data) }

// At returns a pointer to element i, which is read-only.
func (v *View[T]) At(i int) *T {
	p := &v.data[i]
	size := uint64(unsafe.Sizeof(*p))
	first := v.start + uint64(i)*size
	if atomic.LoadUint32(&v.file.checked[first>>blockShift]) == 0 {
		v.check(i, i+1)
	} else if (size > alignment || size&(size-1) != 0) &&
		atomic.LoadUint32(&v.file.checked[(first+size-1)>>blockShift]) == 0 {
		v.check(i, i+1) // other elements never span two blocks
	}
	return p
}

// Range returns elements i to j, without j. The slice is a part of the mapped file: it is read-only, and valid until
// the reference to the file is released.
func (v *View[T]) Range(i, j int) []T {
	s := v.data[i:j:j]
	if i < j {
		v.check(i, j)
	}
	return s
}

// All returns the whole section. It is for small sections, since the first call checks all of it.
func (v *View[T]) All() []T { return v.Range(0, len(v.data)) }

// check checks the blocks of elements i to j, without j, unless they have been checked; i < j.
func (v *View[T]) check(i, j int) {
	var zero T
	size := uint64(unsafe.Sizeof(zero))
	last := (v.start + uint64(j)*size - 1) >> blockShift
	for block := (v.start + uint64(i)*size) >> blockShift; block <= last; block++ {
		if atomic.LoadUint32(&v.file.checked[block]) == 0 {
			v.file.check(block)
		}
	}
}

// Search finds x in a sorted section: its index, or where it would be inserted, and whether it is there.
func Search[T cmp.Ordered](v *View[T], x T) (int, bool) {
	i, j := 0, v.Len()
	for i < j {
		if h := int(uint(i+j) >> 1); *v.At(h) < x {
			i = h + 1
		} else {
			j = h
		}
	}
	return i, i < v.Len() && *v.At(i) == x
}
