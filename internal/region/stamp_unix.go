//go:build unix

package region

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// stamp is the size and the modification time of an open file.
type stamp struct {
	file *os.File
	fd   int
	size int64
	time unix.Timespec
}

// newStamp takes ownership of the file.
func newStamp(file *os.File) (stamp, error) {
	s := stamp{file: file, fd: int(file.Fd())}
	var now unix.Stat_t
	if err := fstat(s.fd, &now); err != nil {
		return s, &os.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	s.size, s.time = now.Size, now.Mtim
	return s, nil
}

// changed reports whether the file has been written or resized since. It takes a system call of less than a
// microsecond, and allocates nothing.
func (s *stamp) changed() bool {
	var now unix.Stat_t
	return fstat(s.fd, &now) != nil || now.Size != s.size || now.Mtim != s.time
}

// fetch reads a part of the file into the page cache with a blocking system call. Without it, a page fault that waits
// for a disk or a network would hold up the garbage collector, and with it all goroutines. Errors show up when the page
// is touched.
func (s *stamp) fetch(from, to uint64) {
	buf := fetched.Get().(*[blockSize]byte)
	defer fetched.Put(buf)
	for from < to {
		n, err := s.file.ReadAt(buf[:min(to-from, blockSize)], int64(from))
		if err != nil {
			return
		}
		from += uint64(n)
	}
}

var fetched = sync.Pool{New: func() any { return new([blockSize]byte) }}

func (s *stamp) close() { _ = s.file.Close() } // it was only read

func fstat(fd int, into *unix.Stat_t) error {
	for {
		if err := unix.Fstat(fd, into); err != syscall.EINTR {
			return err
		}
	}
}
