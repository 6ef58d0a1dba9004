package usagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// testModel makes random calls, of few enough subjects and hours that they meet, and compares every answer with
// Memory's.
func testModel(t *testing.T, open func(t *testing.T) usage.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &pairOfStores{store: open(t), model: NewMemory(), now: noon}
		if c, ok := p.store.(interface{ Close() error }); ok {
			defer c.Close()
		}
		rt.Repeat(map[string]func(*rapid.T){
			"add":   p.add,
			"query": p.query,
			"fold":  p.fold,
			"mark":  p.mark,
			"wait":  p.wait,
		})
	})
}

type pairOfStores struct {
	store, model usage.Store
	now          time.Time
}

var (
	drawOrganization = rapid.SampledFrom([]string{"org", "org\x00", "", "o"})
	drawAccount      = rapid.SampledFrom([]string{"", "sa_1", "sa_1\x00", "sa_2"})
	drawScope        = rapid.SampledFrom([]account.Scope{account.ScopeTile, account.ScopeTSS})
	drawStep         = rapid.SampledFrom([]account.Step{account.StepHour, account.StepDay, account.StepMonth})
	drawAgo          = rapid.SampledFrom([]int{0, 1, 2, 30, 24 * 10, 24 * 20, 24 * 40, 24 * 70})
	drawNumber       = rapid.Int64Range(-3, 9)
)

func drawSubject(t *rapid.T) usage.Subject {
	return usage.Subject{Organization: drawOrganization.Draw(t, "organization"), Account: drawAccount.Draw(t, "account")}
}

// both makes one call on each store and compares what it gave.
func both[T any](t *rapid.T, p *pairOfStores, what string, call func(usage.Store) (T, error)) {
	want, wantErr := call(p.model)
	got, gotErr := call(p.store)
	if wantErr != nil || gotErr != nil {
		t.Fatalf("%s: error %v, the model's is %v", what, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s differs from the model (-model +store):\n%s", what, diff)
	}
}

// drawCounts draws counts of different subjects, scopes and spans.
func (p *pairOfStores) drawCounts(t *rapid.T, span time.Duration, label string) []usage.Count {
	type named struct {
		usage.Subject
		scope account.Scope
		start int64
	}
	seen := map[named]bool{}
	var counts []usage.Count
	for range rapid.IntRange(0, 6).Draw(t, label) {
		n := named{drawSubject(t), drawScope.Draw(t, "scope"), 0}
		ago := min(drawAgo.Draw(t, "ago"), int(100*time.Hour*24/span))
		n.start = p.now.Add(-time.Duration(ago) * span).Truncate(span).Unix()
		if seen[n] {
			continue
		}
		seen[n] = true
		counts = append(counts, usage.Count{Subject: n.Subject, Scope: n.scope, Start: n.start, Usage: account.Usage{
			Requests: drawNumber.Draw(t, "requests"), Refused: drawNumber.Draw(t, "refused"),
			Errors: drawNumber.Draw(t, "errors"), Units: drawNumber.Draw(t, "units")}})
	}
	sortCounts(counts)
	return counts
}

func (p *pairOfStores) add(t *rapid.T) {
	f := &usage.Flush{Node: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "node"), At: p.now,
		Number: rapid.Uint64Range(1, 20).Draw(t, "number"), Hours: p.drawCounts(t, time.Hour, "hours"),
		Minutes: p.drawCounts(t, time.Minute, "minutes")}
	asked := map[usage.Subject]bool{}
	for range rapid.IntRange(0, 4).Draw(t, "ask") {
		if s := drawSubject(t); !asked[s] {
			f.Ask = append(f.Ask, s)
			asked[s] = true
		}
	}
	both(t, p, "AddUsage", func(s usage.Store) ([]usage.Total, error) {
		totals, err := s.AddUsage(context.Background(), f)
		sortTotals(totals)
		return totals, err
	})
}

func (p *pairOfStores) query(t *rapid.T) {
	q := always(drawOrganization.Draw(t, "organization"), drawStep.Draw(t, "step"))
	q.Account, q.Limit = drawAccount.Draw(t, "account"), rapid.IntRange(1, 10).Draw(t, "limit")
	if rapid.Bool().Draw(t, "of one scope") {
		q.Scope = drawScope.Draw(t, "scope")
	}
	if rapid.Bool().Draw(t, "of a span") {
		q.From = time.Unix(startOf(q.Step, p.now.Add(-time.Duration(drawAgo.Draw(t, "from"))*time.Hour).Unix()), 0)
		q.To = p.now.Add(-time.Duration(drawAgo.Draw(t, "to")) * time.Hour)
	}
	if rapid.Bool().Draw(t, "further") {
		at := p.now.Add(-time.Duration(drawAgo.Draw(t, "after")) * time.Hour)
		q.After = &usage.Position{Start: startOf(q.Step, at.Unix()), Account: drawAccount.Draw(t, "after account"),
			Scope: drawScope.Draw(t, "after scope")}
	}
	both(t, p, "Usage", func(s usage.Store) ([]usage.Row, error) { return s.Usage(context.Background(), q) })
}

func (p *pairOfStores) fold(t *rapid.T) {
	keep := usage.DefaultRetention
	if rapid.Bool().Draw(t, "keep less") {
		keep = usage.Retention{Hours: 24 * time.Hour, Days: 15 * 24 * time.Hour}
	}
	both(t, p, "FoldUsage", func(s usage.Store) (struct{}, error) {
		for {
			more, err := s.FoldUsage(context.Background(), p.now, keep)
			if !more || err != nil {
				return struct{}{}, err
			}
		}
	})
}

func (p *pairOfStores) mark(t *rapid.T) {
	start, _ := account.WindowMonth.Span(p.now)
	m := usage.Mark{Subject: drawSubject(t), Start: start.Unix(),
		Level: rapid.SampledFrom([]int{80, 100}).Draw(t, "level"),
		Quota: account.Quota{Scope: string(drawScope.Draw(t, "scope")), Unit: account.UnitUnits,
			Window: account.WindowMonth, Limit: 5}}
	both(t, p, "MarkQuota", func(s usage.Store) (bool, error) { return s.MarkQuota(context.Background(), m) })
}

// wait lets time pass. It stays apart from the ends of hours, so that no moment is one at which something is just over.
func (p *pairOfStores) wait(t *rapid.T) {
	p.now = p.now.Add(time.Duration(rapid.SampledFrom([]int{1, 60, 60 * 24 * 3}).Draw(t, "minutes")) * time.Minute)
}
