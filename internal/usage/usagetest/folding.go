package usagetest

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// forever is the longest that can be configured, and keeps all that the tests add.
var forever = usage.Retention{Hours: math.MaxInt64, Days: math.MaxInt64}

// testFold folds at the beginning and the end of hours, after which everything reads as before.
func testFold(t *testing.T, s usage.Store) {
	apply(t, s, queried())
	want := map[account.Step][]usage.Row{}
	for _, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
		want[step] = read(t, s, always("org", step))
	}
	for _, now := range []time.Time{noon.AddDate(-1, 0, 0), noon.AddDate(0, 0, -20), time.Unix(hourOf(0), -1),
		time.Unix(hourOf(0), 0), noon, noon, time.Unix(hourOf(1), 0), noon.AddDate(0, 3, 0)} {
		fold(t, s, now, forever)
		for step, rows := range want {
			same(t, fmt.Sprintf("%s after folding at %v", step, now), rows, read(t, s, always("org", step)))
		}
	}
}

// testFoldLate adds to hours that were folded before: by a node that could not reach the store.
func testFoldLate(t *testing.T, s usage.Store) {
	for n := range int64(4) {
		apply(t, s, flush("node", uint64(n+1), count("org", "sa_1", account.ScopeTile, hourOf(-30), 1),
			count("org", "sa_1", account.ScopeTile, hourOf(0), 1),
			count("org", "sa_2", account.ScopeTile, hourOf(-30-int(n)), 1)))
		if n == 3 { // taken back
			apply(t, s, flush("other", 1, count("org", "sa_2", account.ScopeTile, hourOf(-30), -1)))
		}
		fold(t, s, noon, usage.DefaultRetention)
	}
	rows := read(t, s, always("org", account.StepHour))
	same(t, "hours", []usage.Row{row(hourOf(-33), "sa_2", account.ScopeTile, 1),
		row(hourOf(-32), "sa_2", account.ScopeTile, 1), row(hourOf(-31), "sa_2", account.ScopeTile, 1),
		row(hourOf(-30), "sa_1", account.ScopeTile, 4), row(hourOf(0), "sa_1", account.ScopeTile, 4)}, rows)
	for step, sum := range sums(t, s, "org") {
		same(t, "sum of "+string(step), count("", "", "", 0, 11).Usage, sum)
	}
}

// testFoldTogether folds by many at once, while counts come.
func testFoldTogether(t *testing.T, s usage.Store) {
	const nodes, flushes = 4, 10
	err := errors.Join(accounttest.Together(2*nodes, func(i int) error {
		for n := range flushes {
			if i >= nodes {
				if _, err := s.FoldUsage(t.Context(), noon, usage.DefaultRetention); err != nil {
					return err
				}
				continue
			}
			f := flush(nodeName(i), uint64(n+1), count("org", "sa_1", account.ScopeTile, hourOf(-n), 1),
				count("org", "sa_2", account.ScopeTile, hourOf(-40), 1))
			if _, err := s.AddUsage(t.Context(), f); err != nil {
				return err
			}
		}
		return nil
	})...)
	if err != nil {
		t.Fatal(err)
	}
	fold(t, s, noon, usage.DefaultRetention)
	for step, sum := range sums(t, s, "org") {
		same(t, "sum of "+string(step), count("", "", "", 0, 2*nodes*flushes).Usage, sum)
	}
}

// testFoldWhileReading folds more than a store may move at once, while sums are read, none of which may change.
func testFoldWhileReading(t *testing.T, s usage.Store) {
	const accounts, hours = 250, 4
	for h := range hours {
		var counts []usage.Count
		for i := range accounts {
			counts = append(counts, count("org", fmt.Sprintf("sa_%04d", i), account.ScopeTile, hourOf(-h-1), 1))
		}
		apply(t, s, flush("node", uint64(h+1), counts...))
	}
	var folding sync.WaitGroup
	over := make(chan struct{})
	folding.Go(func() {
		defer close(over)
		for more := true; more; {
			var err error
			if more, err = s.FoldUsage(t.Context(), noon, usage.DefaultRetention); err != nil {
				t.Errorf("FoldUsage: %v", err)
				return
			}
		}
	})
	for ended := false; !ended && !t.Failed(); {
		select {
		case <-over:
			ended = true // and once more
		default:
		}
		for step, sum := range sums(t, s, "org") {
			same(t, "sum of "+string(step), count("", "", "", 0, accounts*hours).Usage, sum)
		}
	}
	folding.Wait()
}

// testRetention removes hours and days that have been over for long enough, and no others.
func testRetention(t *testing.T, s usage.Store) {
	keep := usage.Retention{Hours: 48 * time.Hour, Days: 10 * 24 * time.Hour}
	day, _ := account.WindowDay.Span(noon)
	hours := []int{0, -47, -49, -50, -24 * 8, -24 * 12, -24 * 400}
	var counts []usage.Count
	for _, hour := range hours {
		for _, id := range []string{"", "sa_1"} {
			counts = append(counts, count("org", id, account.ScopeTile, hourOf(hour), 1), count("a", id, account.ScopeTile,
				hourOf(hour), 1))
		}
	}
	f := flush("node", 1, counts...)
	f.Minutes = []usage.Count{count("org", "sa_1", account.ScopeTile, noon.Truncate(time.Minute).Unix(), 1)}
	apply(t, s, f)
	for _, test := range []struct {
		what               string
		now                time.Time
		hours, days, month int
	}{
		// The third hour of the list was over two days ago, at 12:00, and the day of the sixth eleven days ago.
		{"half an hour after an hour has to go", noon, 2, 3, 2},
		{"an hour before", noon.Add(-time.Hour), 2, 3, 2}, // nothing comes back
		{"when the day of the fifth has been over for ten days", day.AddDate(0, 0, 3), 0, 3, 2},
		{"a second later", day.AddDate(0, 0, 3).Add(time.Second), 0, 2, 2},
		{"years later", noon.AddDate(5, 0, 0), 0, 0, 2},
	} {
		fold(t, s, test.now, keep)
		for _, name := range []string{"a", "org"} {
			got := [3]int{len(read(t, s, always(name, account.StepHour))), len(read(t, s, always(name, account.StepDay))),
				len(read(t, s, always(name, account.StepMonth)))}
			same(t, fmt.Sprintf("number of hours, days and months of %s, %s", name, test.what),
				[3]int{test.hours, test.days, test.month}, got)
		}
	}
	sum := sums(t, s, "org")[account.StepMonth]
	same(t, "sum of the months", count("", "", "", 0, int64(len(hours))).Usage, sum)
	same(t, "totals of a minute that is over", []usage.Total{}, apply(t, s, &usage.Flush{At: noon.AddDate(5, 0, 0),
		Ask: []usage.Subject{{Organization: "org", Account: "sa_1"}}}))
}
