package usagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

func testAdd(t *testing.T, s usage.Store) {
	same(t, "usage of a new store", []usage.Row{}, read(t, s, always("org", account.StepHour)))
	tile, tss := account.ScopeTile, account.ScopeTSS
	apply(t, s, flush("node", 1, count("org", "sa_1", tile, hourOf(0), 3), count("org", "sa_2", tss, hourOf(0), 5),
		count("org", "sa_1", tile, hourOf(-1), 7), count("org", "", tile, hourOf(0), 3)))
	apply(t, s, flush("node", 2, count("org", "sa_1", tile, hourOf(0), 10), count("org", "sa_2", tile, hourOf(0), 20)))
	apply(t, s, flush("node", 3)) // asks for nothing, either
	same(t, "hours", []usage.Row{row(hourOf(-1), "sa_1", tile, 7), row(hourOf(0), "sa_1", tile, 13),
		row(hourOf(0), "sa_2", tile, 20), row(hourOf(0), "sa_2", tss, 5)}, read(t, s, always("org", account.StepHour)))

	// What was taken back is not there, and each number by itself may be the one that is.
	taken := count("org", "sa_1", tile, hourOf(-1), -7)
	refused := usage.Count{Subject: usage.Subject{Organization: "org", Account: "sa_3"}, Scope: tile, Start: hourOf(0),
		Usage: account.Usage{Refused: 1}}
	less := usage.Count{Subject: refused.Subject, Scope: tss, Start: hourOf(0), Usage: account.Usage{Units: -4}}
	apply(t, s, flush("node", 4, taken, refused, less, count("org", "sa_2", tile, hourOf(0), -20)))
	same(t, "hours after some were taken back", []usage.Row{row(hourOf(0), "sa_1", tile, 13),
		row(hourOf(0), "sa_2", tss, 5), {Start: time.Unix(hourOf(0), 0).UTC(), Account: "sa_3", Scope: tile,
			Usage: refused.Usage}, {Start: time.Unix(hourOf(0), 0).UTC(), Account: "sa_3", Scope: tss, Usage: less.Usage}},
		read(t, s, always("org", account.StepHour)))
}

// testAddAgain repeats flushes whose answer may have been lost.
func testAddAgain(t *testing.T, s usage.Store) {
	one := usage.Subject{Organization: "org", Account: "sa_1"}
	var want int64
	for _, step := range []struct {
		node   string
		number uint64
		counts bool
	}{
		{"a", 5, true}, {"a", 5, false}, {"a", 4, false}, {"b", 4, true}, {"a", 6, true}, {"a", 6, false}, {"b", 5, true},
		{"", 1, true}, {"", 1, false}, {"a\x00", 6, true}, {"a", 1 << 62, true}, {"a", 7, false},
	} {
		f := flush(step.node, step.number, count("org", "sa_1", account.ScopeTile, hourOf(0), 1))
		f.Ask = []usage.Subject{one}
		if step.counts {
			want++
		}
		totals := apply(t, s, f)
		what := fmt.Sprintf("after %q %d", step.node, step.number)
		same(t, what, []usage.Row{row(hourOf(0), "sa_1", account.ScopeTile, want)},
			read(t, s, always("org", account.StepHour)))
		same(t, what+", totals", []usage.Total{
			{Subject: one, Scope: account.ScopeTile, Window: account.WindowDay, Requests: 10 * want, Units: 100 * want},
			{Subject: one, Scope: account.ScopeTile, Window: account.WindowMonth, Requests: 10 * want, Units: 100 * want},
		}, totals)
	}
	// A flush without counts has no number that would be remembered.
	apply(t, s, &usage.Flush{Node: "c", Number: 9, At: noon})
	apply(t, s, flush("c", 2, count("org", "sa_1", account.ScopeTile, hourOf(0), 1)))
	same(t, "after a flush without counts", []usage.Row{row(hourOf(0), "sa_1", account.ScopeTile, want+1)},
		read(t, s, always("org", account.StepHour)))
}

// testAddWhole reads while flushes come that each raise all rows: some of a flush alone is never seen.
func testAddWhole(t *testing.T, s usage.Store) {
	const accounts, flushes = 60, 15
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := range flushes {
			var counts []usage.Count
			for i := range accounts {
				counts = append(counts, count("org", fmt.Sprintf("sa_%03d", i), account.ScopeTile, hourOf(0), 1))
			}
			if _, err := s.AddUsage(t.Context(), flush("node", uint64(n+1), counts...)); err != nil {
				t.Errorf("AddUsage: %v", err)
				return
			}
		}
	})
	for last := int64(0); last < 10*flushes && !t.Failed(); {
		rows := read(t, s, always("org", account.StepMonth))
		if len(rows) != 0 && len(rows) != accounts {
			t.Fatalf("%d rows of %d are there", len(rows), accounts)
		}
		for _, r := range rows {
			if r.Requests != rows[0].Requests || r.Requests < last {
				t.Fatalf("a row has %d, the first %d, before it was %d", r.Requests, rows[0].Requests, last)
			}
		}
		if len(rows) > 0 {
			last = rows[0].Requests
		}
	}
	writer.Wait()
}

// testAddByMany has nodes count under the same accounts at once, each flush twice.
func testAddByMany(t *testing.T, s usage.Store) {
	const nodes, flushes = 6, 8
	err := errors.Join(accounttest.Together(nodes, func(i int) error {
		for n := range flushes {
			for range 2 {
				// Each names the accounts in the same order, as all flushes do.
				f := flush(nodeName(i), uint64(n+1), count("org", "", account.ScopeTile, hourOf(0), 2),
					count("org", "sa_1", account.ScopeTile, hourOf(0), 1), count("org", "sa_2", account.ScopeTile, hourOf(0), 1))
				if _, err := s.AddUsage(t.Context(), f); err != nil {
					return err
				}
			}
		}
		return nil
	})...)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "sums", []usage.Row{row(hourOf(0), "sa_1", account.ScopeTile, nodes*flushes),
		row(hourOf(0), "sa_2", account.ScopeTile, nodes*flushes)}, read(t, s, always("org", account.StepHour)))
}

// testTotals asks for windows, parts of which are folded.
func testTotals(t *testing.T, s usage.Store) {
	tile, tss := account.ScopeTile, account.ScopeTSS
	minute := noon.Truncate(time.Minute).Unix()
	whole, one := usage.Subject{Organization: "org"}, usage.Subject{Organization: "org", Account: "sa_1"}
	f := flush("node", 1, count("org", "sa_1", tile, hourOf(0), 1), count("org", "sa_1", tile, hourOf(-1), 2),
		count("org", "sa_1", tss, hourOf(-24), 4), count("org", "sa_1", tile, hourOf(-24*20), 8),
		count("org", "", tile, hourOf(0), 16), count("org", "", tile, hourOf(-24), 32),
		count("org", "sa_2", tile, hourOf(0), 64), count("other", "sa_1", tile, hourOf(0), 64))
	f.Minutes = []usage.Count{count("org", "sa_1", tile, minute-60, 1), count("org", "sa_1", tile, minute, 2),
		count("org", "sa_1", tile, minute+60, 4)}
	f.Ask = []usage.Subject{one, whole, {Organization: "none"}, {Organization: "org", Account: "none"}, {}}
	total := func(s usage.Subject, scope account.Scope, w account.Window, n int64) usage.Total {
		return usage.Total{Subject: s, Scope: scope, Window: w, Requests: 10 * n, Units: 100 * n}
	}
	want := []usage.Total{
		total(whole, tile, account.WindowDay, 16), total(whole, tile, account.WindowMonth, 48),
		total(one, tile, account.WindowDay, 3), total(one, tile, account.WindowMinute, 2),
		total(one, tile, account.WindowMonth, 3), total(one, tss, account.WindowMonth, 4),
	}
	sortTotals(want)
	same(t, "totals", want, apply(t, s, f))
	same(t, "totals of a flush that is repeated", want, apply(t, s, f))
	fold(t, s, noon, usage.DefaultRetention)
	same(t, "totals after folding", want, apply(t, s, f))
	same(t, "totals of nobody", []usage.Total{}, apply(t, s, &usage.Flush{Node: "node", At: noon}))
	same(t, "totals of the next month", []usage.Total{}, apply(t, s, &usage.Flush{Node: "node", At: noon.AddDate(0, 1, 0),
		Ask: f.Ask}))
	// What was only refused is 0, and what was taken back is less.
	refused := usage.Count{Subject: usage.Subject{Organization: "org", Account: "sa_9"}, Scope: tile, Start: hourOf(0),
		Usage: account.Usage{Refused: 9, Errors: 1}}
	back := flush("node", 2, count("org", "sa_1", tss, hourOf(-24), -4), count("org", "sa_1", tile, hourOf(0), -1),
		refused)
	back.Ask = []usage.Subject{refused.Subject, one}
	same(t, "totals after some were taken back", []usage.Total{total(one, tile, account.WindowDay, 2),
		total(one, tile, account.WindowMinute, 2), total(one, tile, account.WindowMonth, 2)}, apply(t, s, back))
}
