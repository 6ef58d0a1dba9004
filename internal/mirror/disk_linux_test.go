package mirror

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// On a disk that is full the copy stays, what has come of another file makes room, and all goes on when there is some.
func TestFullDisk(t *testing.T) {
	first, second := content(t, 1, 4096), content(t, 2, size)
	s := newServer(t, file(first, `"a"`, time.Time{}))
	f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
	f.asks(t, "")
	s.become(file(second, `"b"`, time.Time{}))
	limitFiles(t, size/2) // files that may not grow are a disk without room
	f.asks(t, "make room")
	f.has(t, first)
	f.leaves(t, ".json", ".lock")
	limitFiles(t, unix.RLIM_INFINITY)
	f.asks(t, "")
	f.has(t, second)
}

// A file that the disk has no room for is not begun.
func TestNoRoom(t *testing.T) {
	first := content(t, 1, size)
	s := newServer(t, file(first, `"a"`, time.Time{}))
	f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
	if free, known := f.free(f.Path); !known || free <= 0 {
		t.Fatalf("the disk has %d bytes left: %v", free, known)
	}
	room := int64(len(first)) - 1
	f.free = func(string) (int64, bool) { return room, true }
	f.asks(t, "make room")
	if _, _, sent := s.last(t); sent >= size {
		t.Errorf("%d bytes were sent", sent)
	}
	f.leaves(t, ".lock")
	room++
	f.asks(t, "")
	f.has(t, first)
}

func limitFiles(t *testing.T, size uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}
