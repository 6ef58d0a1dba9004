package pipeline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCancelled: Run returns when its context has ended, and no goroutine of it stays.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 200 {
			if err := Ranges(ctx, 100, 1, func(int, int) (int, error) { return 0, nil }, func(int) error { return nil }); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
	})
}

// TestRanges: each number is worked on once, in order.
func TestRanges(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 95} {
		next := 0
		err := Ranges(t.Context(), n, 10, func(from, to int) ([2]int, error) { return [2]int{from, to}, nil },
			func(r [2]int) error {
				if r[0] != next || r[1] <= r[0] || r[1]-r[0] > 10 {
					t.Errorf("of %d: %v after %d", n, r, next)
				}
				next = r[1]
				return nil
			})
		if err != nil || next != n {
			t.Errorf("%d of %d, %v", next, n, err)
		}
	}
}

// TestBar: a stage is reported at its beginning and its end, and in between once in an interval. It is not done before
// Finish. The parts of a stage count as shares of it.
func TestBar(t *testing.T) {
	type report struct {
		Stage       string
		Done, Total int64
	}
	synctest.Test(t, func(t *testing.T) {
		var got []report
		b := NewBar(func(stage string, done, total int64) { got = append(got, report{stage, done, total}) })
		b.Add(5) // before any stage
		b.Start("nodes", 10)
		for range 20 {
			b.Add(1)
		}
		time.Sleep(interval)
		b.Add(1)
		b.Finish()
		b.Start("ways", 0)
		b.Finish()
		const part = 1 << 20
		parts := b.Split("compile", 1, 2)
		for i, steps := range []func(){func() { parts[0].Start("roads", 10) }, func() { parts[1].Start("houses", 2) },
			func() { parts[0].Add(5) }, func() { parts[1].Add(1) }, parts[1].Finish, func() { parts[1].Start("streets", 4) },
			func() { parts[1].Add(100) }, parts[0].Finish, parts[1].Finish, b.Finish} {
			time.Sleep(interval)
			if steps(); i == 9 {
				b.Stop()
				b.Start("after the end", 1)
			}
		}
		want := []report{{"nodes", 0, 10}, {"nodes", 9, 10}, {"nodes", 10, 10}, {"ways", 0, 1}, {"ways", 1, 1}}
		for _, done := range []int64{0, 0, 0, part / 2, part * 3 / 4, part, part, part * 11 / 8, part * 15 / 8, 2*part - 1, 2 * part} {
			want = append(want, report{"compile", done, 2 * part})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	for _, silent := range []*Bar{nil, NewBar(nil)} {
		silent.Start("nodes", 1)
		silent.Add(1)
		silent.Split("compile", 1)[0].Finish()
		silent.Finish()
	}
}
