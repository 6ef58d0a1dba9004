package region

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A block that is not in memory is read by a call to the system. Were it read by touching its pages, a file system
// that hangs would hold up the collector of garbage, and so the process.
func TestBlocksAreFetched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.region")
	write(t, path)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	resident := make([]byte, (len(f.mapped)+os.Getpagesize()-1)/os.Getpagesize())
	if err := unix.Madvise(f.mapped, unix.MADV_RANDOM); err != nil { // touching a page would read that page alone
		t.Fatal(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&f.mapped[0])), uintptr(len(f.mapped)),
		uintptr(unsafe.Pointer(&resident[0]))); errno != 0 {
		t.Fatal(errno)
	}
	absent := 0
	for _, page := range resident[1:] {
		absent += 1 - int(page&1)
	}
	if absent < len(resident)/2 {
		t.Skip("left out: this file system keeps its files in memory")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &before); err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &after); err != nil {
		t.Fatal(err)
	}
	if n := after.Majflt - before.Majflt; n > 0 {
		t.Errorf("%d pages were read from the disk by being touched, of %d that were not in memory", n, absent)
	}
}
