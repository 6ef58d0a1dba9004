package scratch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// Sorter sorts records that hold no pointers, in as much memory as it is given: what does not fit is sorted in runs on
// disk, which are merged when the records are read (external merge sort). All processors sort, each a part of the
// memory, which is a run of its own. Records that compare equal must be interchangeable: their order depends on the
// memory and on the number of processors.
type Sorter[T any] struct {
	dir     *Dir
	name    string
	compare func(a, b T) int
	buffer  []T
	limit   int // records in the buffer
	file    *os.File
	runs    []int64 // where each ends, in bytes
	total   int
}

const (
	minBuffer = 16 << 10 // the least memory of a run that is merged, in bytes
	minPart   = 32 << 10 // the least number of records that a goroutine is worth
	maxParts  = 8        // of the memory: each makes merging slower
)

// NewSorter makes a sorter that takes some bytes of memory and hardly more.
func NewSorter[T any](d *Dir, name string, memory int64, compare func(a, b T) int) *Sorter[T] {
	var zero T
	return &Sorter[T]{dir: d, name: name, compare: compare, limit: int(max(memory/int64(unsafe.Sizeof(zero)), 1024))}
}

// Len is how many records were added.
func (s *Sorter[T]) Len() int { return s.total }

// Add adds a record.
func (s *Sorter[T]) Add(v T) error {
	if len(s.buffer) == s.limit {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if len(s.buffer) == cap(s.buffer) { // doubling would take half as much again as is allowed
		grown := make([]T, len(s.buffer), min(s.limit, max(1024, 2*len(s.buffer))))
		copy(grown, s.buffer)
		s.buffer = grown
	}
	s.buffer = append(s.buffer, v)
	s.total++
	return nil
}

// sortParts sorts the buffer in parts, and returns where each ends.
func (s *Sorter[T]) sortParts() []int {
	n := max(min(len(s.buffer)/minPart, runtime.GOMAXPROCS(0), maxParts), 1)
	ends := make([]int, n)
	var wait sync.WaitGroup
	for i := range n {
		ends[i] = (i + 1) * len(s.buffer) / n
		part := s.buffer[i*len(s.buffer)/n : ends[i]]
		wait.Go(func() { slices.SortFunc(part, s.compare) })
	}
	wait.Wait()
	return ends
}

// flush writes the buffer as runs.
func (s *Sorter[T]) flush() error {
	if s.file == nil {
		var err error
		if s.file, err = s.dir.create(s.name, nil); err != nil {
			return fmt.Errorf("temporary files: %w", err)
		}
	}
	ends := s.sortParts()
	raw := bytesOf(s.buffer)
	if _, err := s.file.WriteAt(raw, s.end()); err != nil {
		return fmt.Errorf("temporary files: %w", err)
	}
	s.dir.grow(int64(len(raw)))
	start := s.end()
	for _, end := range ends {
		s.runs = append(s.runs, start+int64(len(bytesOf(s.buffer[:end]))))
	}
	s.buffer = s.buffer[:0]
	return nil
}

func (s *Sorter[T]) end() int64 {
	if len(s.runs) == 0 {
		return 0
	}
	return s.runs[len(s.runs)-1]
}

// bytesOf is the memory of some records.
func bytesOf[T any](records []T) []byte {
	if len(records) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&records[0])), len(records)*int(unsafe.Sizeof(records[0])))
}

// Each yields all records in order, until yield fails, and empties the sorter. The record is valid during the call.
func (s *Sorter[T]) Each(yield func(v *T) error) (err error) {
	defer func() { err = errors.Join(err, s.Free()) }()
	var runs []*run[T]
	if len(s.runs) == 0 && len(s.buffer) > 0 {
		start := 0
		for _, end := range s.sortParts() {
			runs = append(runs, &run[T]{buffer: s.buffer[start:end]})
			start = end
		}
	} else if len(s.runs) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
		s.buffer = nil
		if runs, err = s.open(); err != nil {
			return err
		}
	}
	return s.merge(runs, yield)
}

// Free forgets the records.
func (s *Sorter[T]) Free() error {
	s.buffer, s.total = nil, 0
	if s.file == nil {
		return nil
	}
	f, size := s.file, s.end()
	s.file, s.runs = nil, nil
	return s.dir.remove(f, size)
}

// run is one that is being merged.
type run[T any] struct {
	at, end int64 // what is to be read from the file
	buffer  []T
	next    int // in buffer
}

// open begins to read the runs on disk.
func (s *Sorter[T]) open() ([]*run[T], error) {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	records := max(int64(s.limit)/int64(len(s.runs)), minBuffer/size, 1)
	runs := make([]*run[T], 0, len(s.runs))
	start := int64(0)
	for _, end := range s.runs {
		r := &run[T]{at: start, end: end, buffer: make([]T, min(records, (end-start)/size))}
		if err := s.fill(r); err != nil {
			return nil, err
		}
		runs = append(runs, r)
		start = end
	}
	return runs, nil
}

// merge goes through all runs at once. The heap has the runs by their next records.
func (s *Sorter[T]) merge(heap []*run[T], yield func(v *T) error) error {
	for i := len(heap)/2 - 1; i >= 0; i-- {
		s.sink(heap, i)
	}
	for len(heap) > 0 {
		r := heap[0]
		if err := yield(&r.buffer[r.next]); err != nil {
			return err
		}
		if r.next++; r.next == len(r.buffer) {
			if r.at == r.end {
				heap[0] = heap[len(heap)-1]
				heap = heap[:len(heap)-1]
			} else if err := s.fill(r); err != nil {
				return err
			}
		}
		s.sink(heap, 0)
	}
	return nil
}

// fill reads the next records of a run.
func (s *Sorter[T]) fill(r *run[T]) error {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	r.buffer, r.next = r.buffer[:min(int64(cap(r.buffer)), (r.end-r.at)/size)], 0
	n, err := s.file.ReadAt(bytesOf(r.buffer), r.at)
	if err != nil && !(errors.Is(err, io.EOF) && n == len(bytesOf(r.buffer))) {
		return fmt.Errorf("temporary files: %w", err)
	}
	r.at += int64(n)
	return nil
}

// sink moves a run down to its place.
func (s *Sorter[T]) sink(heap []*run[T], i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if s.compare(heap[child].buffer[heap[child].next], heap[least].buffer[heap[least].next]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
