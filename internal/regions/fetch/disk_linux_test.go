package fetch

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestFullDisk: on a full disk the copy stays, what was received of a new file is removed, and the next attempt succeeds
// when there is room.
func TestFullDisk(t *testing.T) {
	first, second := content(t, 1, 4096), content(t, 2, size)
	s := newServer(t, etag(first, "a"))
	f := newFixture(t, s)
	f.asks(t, "")
	s.become(etag(second, "b"))
	for _, step := range []struct {
		limit   uint64 // of files: one that may not grow is on a disk without room
		problem string
		copy    []byte
	}{{size / 2, "make room", first}, {unix.RLIM_INFINITY, "", second}} {
		limit := unix.Rlimit{Cur: step.limit, Max: unix.RLIM_INFINITY}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		f.asks(t, step.problem)
		f.has(t, step.copy, ".json .lock")
	}
}
