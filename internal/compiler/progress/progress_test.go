package progress

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBar: a stage is told at its beginning and its end, in between not more often than every interval, and is not done
// before it is finished.
func TestBar(t *testing.T) {
	type told struct {
		Stage       string
		Done, Total int64
	}
	var got []told
	b := New(func(stage string, done, total int64) { got = append(got, told{stage, done, total}) })
	b.Add(5) // of no stage
	b.Start("nodes", 10)
	for range 20 {
		b.Add(1)
	}
	time.Sleep(interval)
	b.Add(1)
	b.Finish()
	b.Start("ways", 0)
	b.Finish()
	want := []told{{"nodes", 0, 10}, {"nodes", 9, 10}, {"nodes", 10, 10}, {"ways", 0, 1}, {"ways", 1, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNobody: a bar that nobody watches may be used all the same.
func TestNobody(t *testing.T) {
	b := New(nil)
	b.Start("nodes", 1)
	b.Add(1)
	b.Finish()
}
