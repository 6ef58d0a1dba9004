//go:build unix

package region

import (
	"os"
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

// changed reports whether the file has been written, cut or lengthened since. It asks the system, which takes most of a microsecond,
// and allocates nothing.
func (s *stamp) changed() bool {
	var now unix.Stat_t
	return fstat(s.fd, &now) != nil || now.Size != s.size || now.Mtim != s.time
}

func (s *stamp) close() { _ = s.file.Close() } // it was only read

func fstat(fd int, into *unix.Stat_t) error {
	for {
		if err := unix.Fstat(fd, into); err != syscall.EINTR {
			return err
		}
	}
}
