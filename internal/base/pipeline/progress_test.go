package pipeline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBar: a stage is reported at its start and its end, in between not more often than every interval, and is not done
// before it is finished. A Bar without a report can be used as well.
func TestBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type report struct {
			Stage       string
			Done, Total int64
		}
		var got []report
		for _, b := range []*Bar{nil, NewBar(nil), NewBar(func(stage string, done, total int64) {
			got = append(got, report{stage, done, total})
		})} {
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
			b.Stop()
			b.Split("compile", 1)[0].Finish()
		}
		want := []report{{"nodes", 0, 10}, {"nodes", 9, 10}, {"nodes", 10, 10}, {"ways", 0, 1}, {"ways", 1, 1}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSplit: the progress of the parts of a stage is reported as that of the stage, which is complete when all parts are.
func TestSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		for _, step := range []struct {
			do   func()
			want int64
		}{
			{func() { parts[0].Add(5); parts[1].Add(1) }, 1<<19 + 1<<19/3},
			{func() { parts[1].Finish(); parts[1].Start("streets", 4) }, 1<<19 + 1<<19},
			{func() { parts[1].Add(100) }, 1<<19 + 1<<19 + 3<<17},
			{func() { parts[0].Finish(); parts[1].Finish() }, 2<<20 - 1}, // only Finish counts the last step
			{b.Finish, 2 << 20},
		} {
			time.Sleep(interval)
			if step.do(); b.done != step.want {
				t.Errorf("%d done, want %d", b.done, step.want)
			}
		}
		if last != b.total {
			t.Errorf("%d of %d reported", last, b.total)
		}
	})
}
