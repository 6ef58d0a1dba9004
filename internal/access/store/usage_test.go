package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
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

func listUsage(t testing.TB, s *Store, q usage.Query) []usage.Row {
	t.Helper()
	return must[[]usage.Row](t)(s.Usage(context.Background(), q))
}

func TestUsage(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		flush := usage.Flush{Node: "n", Number: 1, Counts: []usage.Count{
			used("org", "sa_a", "TILE", noon, 1), used("org", "sa_a", "TILE", noon.Add(13*time.Hour), 10),
			used("org", "sa_b", "ONM", noon.Add(-48*time.Hour), 100), used("other", "sa_c", "TILE", noon, 1000),
		}}
		flush.Counts[0].Minute = true
		for range 2 { // the second time, its answer was lost
			is(t, "AddUsage", nil, s.AddUsage(t.Context(), flush))
		}
		is(t, "an older flush", nil, s.AddUsage(t.Context(), usage.Flush{Node: "n", Number: 1,
			Counts: []usage.Count{used("org", "sa_a", "TSS", noon, 1)}}))
		is(t, "of another node", nil, s.AddUsage(t.Context(), usage.Flush{Node: "m", Number: 1,
			Counts: []usage.Count{used("org", "sa_a", "TILE", noon, 5)}}))

		row := func(at time.Time, id string, scope account.Scope, n int64) usage.Row {
			return usage.Row{Start: at, Account: id, Scope: scope, Usage: used("", "", "", at, n).Usage}
		}
		day, month := func(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }, time.Month(3)
		first := time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC)
		april := first.AddDate(0, 1, 0)
		all := usage.Query{Organization: "org", From: first, To: first.AddDate(0, 2, 0), Limit: 100}
		for step, want := range map[account.Step][]usage.Row{
			account.StepHour: {row(noon.Add(-48*time.Hour), "sa_b", "ONM", 100), row(noon, "sa_a", "TILE", 6),
				row(noon.Add(13*time.Hour), "sa_a", "TILE", 10)},
			account.StepDay:   {row(day(29), "sa_b", "ONM", 100), row(day(31), "sa_a", "TILE", 6), row(april, "sa_a", "TILE", 10)},
			account.StepMonth: {row(first, "sa_a", "TILE", 6), row(first, "sa_b", "ONM", 100), row(april, "sa_a", "TILE", 10)},
		} {
			q := all
			q.Step = step
			same(t, string(step), want, listUsage(t, s, q))
			q.Account = "sa_b"
			same(t, string(step)+" of one account", 1, len(listUsage(t, s, q)))
			q.Account, q.Scope = "", "TILE"
			same(t, string(step)+" of one scope", 2, len(listUsage(t, s, q)))
		}
		// Totals of an account and of its organization, in the minute, the day and the month of a moment.
		totals := must[[]usage.Total](t)(s.Totals(t.Context(), "org", []string{"sa_a", "", "sa_none"}, noon.Add(30*time.Second)))
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
		is(t, "taken back", nil, s.AddUsage(t.Context(), usage.Flush{Node: "n", Number: 2,
			Counts: []usage.Count{used("org", "sa_b", "ONM", noon.Add(-48*time.Hour), -100)}}))
		all.Step, all.Account = account.StepMonth, "sa_b"
		same(t, "after that", nil, listUsage(t, s, all))
	})
}

// TestUsageIsAdded: what is listed is the sum of what was counted, for every step, however it is paged and whatever is
// repeated.
func TestUsageIsAdded(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		number := 0
		rapid.Check(t, func(t *rapid.T) {
			number++
			organization := fmt.Sprintf("org-%d", number)
			want := map[account.Step]map[usage.Position]account.Usage{account.StepHour: {}, account.StepDay: {}, account.StepMonth: {}}
			for flush := range rapid.IntRange(1, 4).Draw(t, "flushes") {
				f := usage.Flush{Node: organization, Number: uint64(flush + 1)}
				for range rapid.IntRange(0, 30).Draw(t, "counts") {
					c := used(organization, rapid.SampledFrom([]string{"sa_1", "sa_2"}).Draw(t, "account"),
						rapid.SampledFrom(account.AllScopes[:3]).Draw(t, "scope"),
						noon.Add(time.Duration(rapid.IntRange(-40, 40).Draw(t, "hours"))*time.Hour), rapid.Int64Range(1, 9).Draw(t, "n"))
					f.Counts = append(f.Counts, c)
					for step, rows := range want {
						start, _ := step.Span(time.Unix(c.Start, 0))
						at := usage.Position{Start: start.Unix(), Account: c.Account, Scope: c.Scope}
						rows[at] = rows[at].Add(c.Usage)
					}
				}
				for range rapid.IntRange(1, 2).Draw(t, "times sent") {
					if err := s.AddUsage(context.Background(), f); err != nil {
						t.Fatal(err)
					}
				}
			}
			for step, rows := range want {
				q := usage.Query{Organization: organization, Step: step, From: noon.AddDate(0, -3, 0), To: noon.AddDate(0, 3, 0),
					Limit: rapid.IntRange(1, 20).Draw(t, "limit")}
				var last *usage.Position
				for {
					page, err := s.Usage(context.Background(), q)
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range page {
						at := usage.Position{Start: r.Start.Unix(), Account: r.Account, Scope: r.Scope}
						if rows[at] != r.Usage {
							t.Fatalf("%s %v is %v, want %v", step, at, r.Usage, rows[at])
						}
						if last != nil && cmp.Or(cmp.Compare(last.Start, at.Start), cmp.Compare(last.Account, at.Account),
							cmp.Compare(last.Scope, at.Scope)) >= 0 {
							t.Fatalf("%v after %v", at, *last)
						}
						delete(rows, at)
						last = &at
					}
					if len(page) < q.Limit {
						break
					}
					q.After = last
				}
				if len(rows) > 0 {
					t.Fatalf("%s lacks %v", step, rows)
				}
			}
		})
	})
}

// TestSweepUsage: what is old is removed, by a clock that no wrong time of day moves.
func TestSweepUsage(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		now := s.Now()
		var counts []usage.Count
		for _, age := range []time.Duration{0, 30 * 24 * time.Hour, 40 * 24 * time.Hour, 500 * 24 * time.Hour} {
			c := used("org", "sa_a", "TILE", now.Add(-age), 1)
			c.Minute = true
			counts = append(counts, c)
		}
		is(t, "AddUsage", nil, s.AddUsage(t.Context(), usage.Flush{Node: "n", Number: 1, Counts: counts}))
		left := func() (n [3]int) {
			for i, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
				n[i] = len(listUsage(t, s, usage.Query{Organization: "org", Step: step, From: now.AddDate(-3, 0, 0),
					To: now.AddDate(1, 0, 0), Limit: 100}))
			}
			return n
		}
		sweep := func() {
			t.Helper()
			is(t, "SweepUsage", nil, s.SweepUsage(t.Context(), usage.DefaultRetention))
		}
		months := left()[2]
		if sweep(); left() != [3]int{4, 4, months} {
			t.Errorf("in its first hour a sweep left %v", left())
		}
		s.aging.started = s.aging.started.Add(-agingDelay)
		if sweep(); left() != [3]int{2, 3, months} {
			t.Errorf("a sweep left %v", left())
		}
		minutes := must[[]usage.Total](t)(s.Totals(t.Context(), "org", []string{"sa_a"}, now.Add(-30*24*time.Hour)))
		if slices.ContainsFunc(minutes, func(u usage.Total) bool { return u.Window == account.WindowMinute }) {
			t.Error("an old minute is left")
		}
	})
}

// TestAgingClock: a clock that is 402 days ahead for a while makes nothing old.
func TestAgingClock(t *testing.T) {
	var c agingClock
	c.begin(noon)
	c.started = c.started.Add(-agingDelay)
	for _, said := range []time.Duration{0, 402 * 24 * time.Hour, 402*24*time.Hour + time.Minute, time.Minute, 2 * time.Minute} {
		now, ok := c.now(noon.Add(said))
		if off := now.Sub(noon); !ok || off > time.Minute {
			t.Errorf("when the clock says %v, it is %v", said, off)
		}
	}
	if now, _ := c.now(noon.Add(-time.Hour)); !now.Equal(noon.Add(-time.Hour)) {
		t.Errorf("a clock that is set back is not followed: %v", now)
	}
}

func TestMarkQuota(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		mark := usage.Mark{Subject: usage.Subject{Organization: "org", Account: "sa_a"}, Start: noon.Unix(), Level: 80,
			Quota: account.Quota{Scope: "*", Unit: account.UnitUnits, Window: account.WindowMinute, Limit: 10}}
		firsts := 0
		errs := together(6, func(int) error {
			_, err := s.MarkQuota(context.Background(), mark)
			return err
		})
		other := mark
		other.Level = 100
		for _, m := range []usage.Mark{mark, other, other} {
			if first := must[bool](t)(s.MarkQuota(t.Context(), m)); first {
				firsts++
			}
		}
		if count(errs, nil) != 6 || firsts != 1 {
			t.Errorf("%v, and %d of the later marks were new", errs, firsts)
		}
	})
}
