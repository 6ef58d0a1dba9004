package fetch

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// On a full disk the copy stays, what was received of a new file is removed, and the next attempt succeeds
// when there is room.
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

func limitFiles(t *testing.T, size uint64) {
	t.Helper()
	limit := unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}
