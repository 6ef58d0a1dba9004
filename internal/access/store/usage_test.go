package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

var noon = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

func used(organization, id string, scope account.Scope, at time.Time, n int64) usage.Count {
	return usage.Count{Subject: usage.Subject{Organization: organization, Account: id}, Scope: scope, Start: at.Unix(),
		Usage: account.Usage{Requests: n, Refused: 2 * n, Errors: 3 * n, Units: 4 * n}}
}

func flush(t testing.TB, s *Store, node string, number uint64, counts ...usage.Count) {
	t.Helper()
	is(t, "AddUsage", nil, s.AddUsage(t.Context(), usage.Flush{Node: node, Number: number, Counts: counts}))
}

// TestTotals: what is added once is summed up by account and by organization, in the minute, the day and the month.
func TestTotals(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		minute := used("org", "sa_a", "TILE", noon, 1)
		minute.Minute = true
		for range 2 { // the second time, its answer was lost
			flush(t, s, "n", 1, minute, used("org", "sa_a", "TILE", noon.Add(13*time.Hour), 10),
				used("org", "sa_b", "ONM", noon.Add(-48*time.Hour), 100), used("other", "sa_c", "TILE", noon, 1000))
		}
		flush(t, s, "n", 1, used("org", "sa_a", "TSS", noon, 1)) // an older flush
		flush(t, s, "m", 1, used("org", "sa_a", "TILE", noon, 5))
		totals := must(s.Totals(t.Context(), "org", []string{"sa_a", "", "sa_none"}, noon.Add(30*time.Second)))
		slices.SortFunc(totals, func(a, b usage.Total) int {
			return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Window, b.Window), cmp.Compare(a.Scope, b.Scope))
		})
		total := func(id string, w account.Window, scope account.Scope, n int64) usage.Total {
			return usage.Total{Account: id, Window: w, Scope: scope, Requests: n, Units: 4 * n}
		}
		same(t, "totals", []usage.Total{
			total("", account.WindowDay, "TILE", 6), total("", account.WindowMinute, "TILE", 1),
			total("", account.WindowMonth, "ONM", 100), total("", account.WindowMonth, "TILE", 6),
			total("sa_a", account.WindowDay, "TILE", 6), total("sa_a", account.WindowMinute, "TILE", 1),
			total("sa_a", account.WindowMonth, "TILE", 6),
		}, totals)
		// What was taken back is not listed.
		flush(t, s, "n", 2, used("org", "sa_b", "ONM", noon.Add(-48*time.Hour), -100))
		same(t, "after that", nil, must(s.Usage(t.Context(), usage.Query{Organization: "org", Account: "sa_b",
			Step: account.StepMonth, From: noon.AddDate(0, -2, 0), To: noon, Limit: 10})))
	})
}

// TestUsageIsAdded: what is listed is the sum of what was counted, in order, for every step, account and scope, however it
// is paged and how often a flush is repeated.
func TestUsageIsAdded(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		number := 0
		rapid.Check(t, func(t *rapid.T) {
			number++
			q := usage.Query{Organization: fmt.Sprintf("org-%d", number), Limit: rapid.IntRange(1, 20).Draw(t, "limit"),
				Step:    rapid.SampledFrom([]account.Step{account.StepHour, account.StepDay, account.StepMonth}).Draw(t, "step"),
				Account: rapid.SampledFrom([]string{"", "sa_1"}).Draw(t, "only account"),
				Scope:   rapid.SampledFrom([]account.Scope{"", "TILE"}).Draw(t, "only scope"),
				From:    noon.AddDate(0, -3, 0), To: noon.AddDate(0, 3, 0)}
			sums := map[usage.Position]account.Usage{}
			for n := range rapid.IntRange(1, 4).Draw(t, "flushes") {
				f := usage.Flush{Node: q.Organization, Number: uint64(n + 1)}
				for range rapid.IntRange(0, 30).Draw(t, "counts") {
					c := used(q.Organization, rapid.SampledFrom([]string{"sa_1", "sa_2"}).Draw(t, "account"),
						rapid.SampledFrom(account.AllScopes[:3]).Draw(t, "scope"),
						noon.Add(time.Duration(rapid.IntRange(-40, 40).Draw(t, "hours"))*time.Hour), rapid.Int64Range(1, 9).Draw(t, "n"))
					f.Counts = append(f.Counts, c)
					if (q.Account == "" || q.Account == c.Account) && (q.Scope == "" || q.Scope == c.Scope) {
						start, _ := q.Step.Span(time.Unix(c.Start, 0))
						at := usage.Position{Start: start.Unix(), Account: c.Account, Scope: c.Scope}
						sums[at] = sums[at].Add(c.Usage)
					}
				}
				for range rapid.IntRange(1, 2).Draw(t, "times sent") {
					if err := s.AddUsage(context.Background(), f); err != nil {
						t.Fatal(err)
					}
				}
			}
			var want, got []usage.Row
			for at, u := range sums {
				want = append(want, usage.Row{Start: time.Unix(at.Start, 0).UTC(), Account: at.Account, Scope: at.Scope, Usage: u})
			}
			slices.SortFunc(want, func(a, b usage.Row) int {
				return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Scope, b.Scope))
			})
			for {
				page := must(s.Usage(context.Background(), q))
				if got = append(got, page...); len(page) < q.Limit {
					break
				}
				last := page[len(page)-1]
				q.After = &usage.Position{Start: last.Start.Unix(), Account: last.Account, Scope: last.Scope}
			}
			if !slices.Equal(want, got) {
				t.Fatalf("listed: %v, want %v", got, want)
			}
		})
	})
}

// TestSweepUsage: what is old is removed, but not in the first hour of a process.
func TestSweepUsage(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		now := s.Now()
		var counts []usage.Count
		for _, age := range []time.Duration{0, 30 * 24 * time.Hour, 40 * 24 * time.Hour, 500 * 24 * time.Hour} {
			c := used("org", "sa_a", "TILE", now.Add(-age), 1)
			c.Minute = true
			counts = append(counts, c)
		}
		flush(t, s, "n", 1, counts...)
		left := func() (n [3]int) {
			for i, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
				n[i] = len(must(s.Usage(t.Context(), usage.Query{Organization: "org", Step: step, From: now.AddDate(-3, 0, 0),
					To: now.AddDate(1, 0, 0), Limit: 100})))
			}
			return n
		}
		months := left()[2]
		is(t, "SweepUsage", nil, s.SweepUsage(t.Context(), usage.DefaultRetention))
		same(t, "left in the first hour", [3]int{4, 4, months}, left())
		s.aging.started = s.aging.started.Add(-agingDelay)
		is(t, "SweepUsage", nil, s.SweepUsage(t.Context(), usage.DefaultRetention))
		same(t, "left", [3]int{2, 3, months}, left())
		minutes := must(s.Totals(t.Context(), "org", []string{"sa_a"}, now.Add(-30*24*time.Hour)))
		if slices.ContainsFunc(minutes, func(u usage.Total) bool { return u.Window == account.WindowMinute }) {
			t.Error("an old minute is left")
		}
	})
}

// TestAgingClock: a clock that is 402 days ahead for a while makes nothing old. One that is set back is followed.
func TestAgingClock(t *testing.T) {
	var c agingClock
	c.begin(noon)
	c.started = c.started.Add(-agingDelay)
	for _, said := range []time.Duration{0, 402 * 24 * time.Hour, 402*24*time.Hour + time.Minute, time.Minute, -time.Hour} {
		now, ok := c.now(noon.Add(said))
		if off := now.Sub(noon); !ok || off > time.Minute || said < 0 && off != said {
			t.Errorf("when the clock says %v, it is %v", said, off)
		}
	}
}

func TestMarkQuota(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		mark := usage.Mark{Subject: usage.Subject{Organization: "org", Account: "sa_a"}, Start: noon.Unix(), Level: 80,
			Quota: account.Quota{Scope: "*", Unit: account.UnitUnits, Window: account.WindowMinute, Limit: 10}}
		var firsts atomic.Int64
		errs := together(6, func(int) error {
			first, err := s.MarkQuota(context.Background(), mark)
			if first {
				firsts.Add(1)
			}
			return err
		})
		mark.Level = 100
		same(t, "without an error", 6, count(errs, nil))
		same(t, "first marks of a level", int64(1), firsts.Load())
		same(t, "the first mark of another level", true, must(s.MarkQuota(t.Context(), mark)))
		same(t, "the second one", false, must(s.MarkQuota(t.Context(), mark)))
	})
}
