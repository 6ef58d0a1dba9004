package usagetest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Run tests a kind of store. open returns a new, empty one each time, and closes it when the test ends, unless it is
// closed by then: where a store has a method Close, that is called twice.
func Run(t *testing.T, open func(t *testing.T) usage.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, usage.Store)
	}{
		{"add", testAdd},
		{"add again", testAddAgain},
		{"add all or nothing", testAddWhole},
		{"add by many", testAddByMany},
		{"totals", testTotals},
		{"query", testQuery},
		{"query by pages", testPages},
		{"query keeps organizations apart", testOrganizations},
		{"fold", testFold},
		{"fold late counts", testFoldLate},
		{"fold twice at once", testFoldTogether},
		{"fold while others read", testFoldWhileReading},
		{"retention", testRetention},
		{"marks", testMarks},
		{"context ended", testContext},
		{"closed", testClosed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	t.Run("like the model", func(t *testing.T) { testModel(t, open) })
}

// noon is the present time of the tests, in the middle of a month.
var noon = time.Date(2026, 3, 15, 12, 34, 56, 789, time.UTC)

// always is a query for all of an organization's usage.
func always(organization string, step account.Step) usage.Query {
	return usage.Query{Organization: organization, Step: step, From: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		To: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), Limit: 1000}
}

// hourOf is the beginning of an hour, so many hours from that of noon.
func hourOf(offset int) int64 { return noon.Truncate(time.Hour).Unix() + int64(offset)*3600 }

// count makes what an account used, with every number another one.
func count(organization, id string, scope account.Scope, start, n int64) usage.Count {
	return usage.Count{Subject: usage.Subject{Organization: organization, Account: id}, Scope: scope, Start: start,
		Usage: account.Usage{Requests: 10 * n, Refused: 2 * n, Errors: n, Units: 100 * n}}
}

// row is what is read of a count.
func row(start int64, id string, scope account.Scope, n int64) usage.Row {
	return usage.Row{Start: time.Unix(start, 0).UTC(), Account: id, Scope: scope,
		Usage: count("", "", "", 0, n).Usage}
}

// flush makes a flush of hours, which it sorts as a flush has to be.
func flush(node string, number uint64, hours ...usage.Count) *usage.Flush {
	sortCounts(hours)
	return &usage.Flush{Node: node, Number: number, At: noon, Hours: hours}
}

func sortCounts(list []usage.Count) {
	slices.SortFunc(list, func(a, b usage.Count) int {
		return cmp.Or(cmp.Compare(a.Organization, b.Organization), cmp.Compare(a.Account, b.Account),
			cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Start, b.Start))
	})
}

func apply(t *testing.T, s usage.Store, f *usage.Flush) []usage.Total {
	t.Helper()
	totals, err := s.AddUsage(t.Context(), f)
	if err != nil {
		t.Fatalf("AddUsage(%s, %d): %v", f.Node, f.Number, err)
	}
	sortTotals(totals)
	return totals
}

func sortTotals(totals []usage.Total) {
	slices.SortFunc(totals, func(a, b usage.Total) int {
		return cmp.Or(cmp.Compare(a.Organization, b.Organization), cmp.Compare(a.Account, b.Account),
			cmp.Compare(a.Window, b.Window), cmp.Compare(a.Scope, b.Scope))
	})
}

func read(t *testing.T, s usage.Store, q usage.Query) []usage.Row {
	t.Helper()
	rows, err := s.Usage(t.Context(), q)
	if err != nil {
		t.Fatalf("Usage(%+v): %v", q, err)
	}
	return rows
}

// fold folds until there is no more to do.
func fold(t *testing.T, s usage.Store, now time.Time, keep usage.Retention) {
	t.Helper()
	for range 1000 {
		more, err := s.FoldUsage(t.Context(), now, keep)
		if err != nil {
			t.Fatalf("FoldUsage: %v", err)
		}
		if !more {
			return
		}
	}
	t.Fatal("FoldUsage has always more to do")
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := gocmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// sums are what an organization used in all, by step.
func sums(t *testing.T, s usage.Store, organization string) map[account.Step]account.Usage {
	t.Helper()
	all := map[account.Step]account.Usage{}
	for _, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
		var sum account.Usage
		for _, r := range read(t, s, always(organization, step)) {
			sum = sum.Add(r.Usage)
		}
		all[step] = sum
	}
	return all
}

// testMarks makes sure that each level of each window of each quota is reached once, whoever says so.
func testMarks(t *testing.T, s usage.Store) {
	start, _ := account.WindowMonth.Span(noon)
	first := usage.Mark{Subject: usage.Subject{Organization: "org", Account: "sa_1"}, Level: 80, Start: start.Unix(),
		Quota: account.Quota{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowMonth, Limit: 1000}}
	marks := []usage.Mark{first}
	for _, change := range []func(*usage.Mark){
		func(m *usage.Mark) { m.Level = 100 },
		func(m *usage.Mark) { m.Start -= 28 * 86400 }, // February
		func(m *usage.Mark) { m.Account = "" },
		func(m *usage.Mark) { m.Organization = "other" },
		func(m *usage.Mark) { m.Organization, m.Account = "orgsa_1", "" },
		func(m *usage.Mark) { m.Quota.Scope = account.EveryScope },
		func(m *usage.Mark) { m.Quota.Unit = account.UnitUnits },
		func(m *usage.Mark) { m.Quota.Window = account.WindowDay },
		func(m *usage.Mark) { m.Quota.Limit = 2000 },
	} {
		m := first
		change(&m)
		marks = append(marks, m)
	}
	for i, m := range marks {
		var mu sync.Mutex
		won := 0
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				is, err := s.MarkQuota(t.Context(), m)
				if err != nil {
					t.Errorf("MarkQuota: %v", err)
				}
				if is {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		if all.Wait(); won != 1 {
			t.Errorf("mark %d was the first %d times, want 1", i, won)
		}
	}
	fold(t, s, noon, usage.DefaultRetention)
	if is, err := s.MarkQuota(t.Context(), first); is || err != nil {
		t.Errorf("a mark whose window is not over is the first again after folding, error %v", err)
	}
}

func testContext(t *testing.T, s usage.Store) {
	apply(t, s, flush("node", 1, count("org", "sa_1", account.ScopeTile, hourOf(0), 1)))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range calls(ended, s) {
		if !account.IsUnavailable(err) {
			t.Errorf("%s under an ended context: error %v, want one that says unavailable", what, err)
		}
	}
	same(t, "what was used", []usage.Row{row(hourOf(0), "sa_1", account.ScopeTile, 1)},
		read(t, s, always("org", account.StepHour)))
}

// calls makes each call once, and returns its error.
func calls(ctx context.Context, s usage.Store) map[string]error {
	_, addErr := s.AddUsage(ctx, flush("node", 2, count("org", "sa_1", account.ScopeTile, hourOf(0), 1)))
	_, askErr := s.AddUsage(ctx, &usage.Flush{Node: "node", At: noon, Ask: []usage.Subject{{Organization: "org"}}})
	_, readErr := s.Usage(ctx, always("org", account.StepDay))
	_, foldErr := s.FoldUsage(ctx, noon, usage.DefaultRetention)
	_, markErr := s.MarkQuota(ctx, usage.Mark{Level: 80})
	return map[string]error{"AddUsage": addErr, "AddUsage, asking": askErr, "Usage": readErr, "FoldUsage": foldErr,
		"MarkQuota": markErr}
}

func testClosed(t *testing.T, s usage.Store) {
	c, ok := s.(io.Closer)
	if !ok {
		t.Skip("this store cannot be closed")
	}
	if err := c.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	for what, err := range calls(t.Context(), s) {
		if !account.IsUnavailable(err) {
			t.Errorf("%s of a closed store: error %v, want one that says unavailable", what, err)
		}
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close, again: %v", err)
	}
}

func nodeName(i int) string { return fmt.Sprintf("node-%d", i) }
