//go:build unix

package region

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// stamp knows an open file by its size and by when it was last written.
type stamp struct {
	file *os.File
	fd   int
	size int64
	time unix.Timespec
}

// newStamp takes the file over, to be closed by close.
func newStamp(file *os.File) (stamp, error) {
	s := stamp{file: file, fd: int(file.Fd())}
	var now unix.Stat_t
	if err := fstat(s.fd, &now); err != nil {
		return s, &os.PathError{Op: "stat", Path: file.Name(), Err: err}
	}
	s.size, s.time = now.Size, now.Mtim
	return s, nil
}

// changed reports whether the file has been written, cut or lengthened since. It asks the system, which takes most of a
// microsecond, and allocates nothing.
func (s *stamp) changed() bool {
	var now unix.Stat_t
	return fstat(s.fd, &now) != nil || now.Size != s.size || now.Mtim != s.time
}

// fetch has the system read a part of the file into its memory, with a call that may take its time. A page of a
// mapped file that has to be read first, from a disk or over a network, holds up more than the goroutine that touches
// it: the collector of garbage stops all others and waits for this one. What cannot be read is found when it is
// touched.
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
