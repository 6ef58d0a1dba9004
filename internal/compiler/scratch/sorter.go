package scratch

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// Sorter sorts elements of an Array (external merge sort): it sorts runs of them on all processors, and merges the runs
// when they are read. Elements that compare equal must be interchangeable, since their order depends on the memory and
// on the number of processors.
type Sorter[T any] struct {
	all     *Array[T]
	compare func(a, b T) int
	limit   int   // of elements that are sorted at a time
	sorted  int   // the number of elements in runs
	runs    []int // the end of each
}

// maxParts is the most runs that are sorted at a time. More runs make merging slower.
const maxParts = 8

// NewSorter makes a sorter that works on so many bytes of memory at a time.
func NewSorter[T any](d *Dir, name string, memory int64, compare func(a, b T) int) *Sorter[T] {
	return &Sorter[T]{all: NewArray[T](d, name), compare: compare,
		limit: int(max(memory/int64(unsafe.Sizeof(*new(T))), 1024))}
}

// Len returns the number of elements.
func (s *Sorter[T]) Len() int { return s.all.Len() }

// Add adds an element.
func (s *Sorter[T]) Add(v T) error {
	if s.all.Len()-s.sorted == s.limit {
		s.sort()
	}
	return s.all.Append(v)
}

// sort makes runs of the elements that are not in one yet.
func (s *Sorter[T]) sort() {
	rest := s.all.Slice()[s.sorted:]
	size := len(rest)/min(runtime.GOMAXPROCS(0), maxParts) + 1
	var wait sync.WaitGroup
	for run := range slices.Chunk(rest, size) {
		s.sorted += len(run)
		s.runs = append(s.runs, s.sorted)
		wait.Go(func() { slices.SortFunc(run, s.compare) })
	}
	wait.Wait()
}

// Each calls yield with all elements in order, until it fails, and empties the sorter. The element is valid during the
// call.
func (s *Sorter[T]) Each(yield func(v *T) error) (err error) {
	defer func() { err = errors.Join(err, s.Free()) }()
	s.sort()
	var heap [][]T // the rest of each run, by its first element
	start := 0
	for _, end := range s.runs {
		heap = append(heap, s.all.Slice()[start:end])
		start = end
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		s.sink(heap, i)
	}
	for len(heap) > 0 {
		if err := yield(&heap[0][0]); err != nil {
			return err
		}
		if heap[0] = heap[0][1:]; len(heap[0]) == 0 {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		s.sink(heap, 0)
	}
	return nil
}

// sink moves a run down to its place.
func (s *Sorter[T]) sink(heap [][]T, i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if s.compare(heap[child][0], heap[least][0]) < 0 {
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

// Free removes all elements.
func (s *Sorter[T]) Free() error {
	s.sorted, s.runs = 0, nil
	return s.all.Free()
}
