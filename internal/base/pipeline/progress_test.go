package pipeline

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
	b := NewBar(func(stage string, done, total int64) { got = append(got, told{stage, done, total}) })
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

// TestSplit: what the parts of a stage do is told as a part of it, and is all of it when all have come to their ends.
func TestSplit(t *testing.T) {
	last := int64(0)
	b := NewBar(func(stage string, done, total int64) {
		if stage != "compile" || done < last || total != 2<<20 {
			t.Errorf("%s: %d of %d after %d", stage, done, total, last)
		}
		last = done
	})
	parts := b.Split("compile", 1, 2)
	parts[0].Start("roads", 10)
	parts[1].Start("houses", 3)
	time.Sleep(interval)
	parts[0].Add(5)
	parts[1].Add(1)
	if b.done != 1<<19+1<<19/3 {
		t.Errorf("%d done", b.done)
	}
	parts[1].Finish()
	parts[1].Start("streets", 4)
	time.Sleep(interval)
	parts[1].Add(100)
	if b.done != 1<<19+1<<19+3<<17 {
		t.Errorf("%d done", b.done)
	}
	parts[0].Finish()
	parts[1].Finish()
	if b.done != b.total-1 { // the last one is for Finish
		t.Errorf("%d of %d done", b.done, b.total)
	}
	b.Finish()
	if last != b.total {
		t.Errorf("%d of %d told", last, b.total)
	}
}

// TestNobody: a bar that nobody watches may be used all the same.
func TestNilBar(t *testing.T) {
	for _, b := range []*Bar{nil, NewBar(nil)} {
		b.Start("nodes", 1)
		b.Add(1)
		b.Split("compile", 1)[0].Finish()
		b.Finish()
	}
}
