package region

import (
	"strings"

	"github.com/edsrzf/mmap-go"
)

// Draft opens sections before Commit: those whose names begin with a prefix. They have been written, and do not change
// any more. If some of them are of Direct, only the goroutine that uses it may call Draft. The caller releases the
// draft before Commit.
func (w *Writer) Draft(prefix string) (*File, error) {
	f := &File{path: w.body.file.Name(), entries: map[string]entry{}, apart: map[string][]byte{}}
	f.refs.Store(1)
	w.mu.Lock()
	defer w.mu.Unlock()
	largest := uint64(headerSize)
	add := func(s *SectionWriter) {
		e := s.entry
		e.count = s.bytes / uint64(s.elemSize)
		f.entries[s.name] = e
	}
	for _, s := range w.written {
		if strings.HasPrefix(s.name, prefix) {
			add(s)
		}
	}
	if len(f.entries) > 0 {
		err := w.body.w.Flush()
		if largest = w.body.offset; err == nil && largest > headerSize {
			f.mapped, err = mmap.MapRegion(w.body.file, int(largest), mmap.RDONLY, 0, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, s := range w.waiting {
		if strings.HasPrefix(s.name, prefix) {
			s.offset = headerSize // until Commit
			f.apart[s.name] = s.content()
			largest = max(largest, s.bytes)
			add(s)
		}
	}
	f.checked = make([]uint32, largest>>blockShift+1)
	for i := range f.checked {
		f.checked[i] = 1 // there are no checksums yet
	}
	return f, nil
}
