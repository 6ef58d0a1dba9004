// Package usagetest holds the tests that every usage.Store passes, and the plainest store that does (Memory).
package usagetest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Memory is the plainest usage.Store there is: maps under one lock. It forgets everything with the process, so it is
// for tests alone: as the model that other stores are compared with, and as a store for tests of what stands on one.
type Memory struct {
	mu      sync.Mutex
	counts  map[key]account.Usage // hours that nothing was folded of yet
	folded  map[key]account.Usage
	flushes map[string]uint64 // node → number of its last flush
	marks   map[usage.Mark]bool
}

type key struct {
	step  account.Step
	start int64
	usage.Subject
	scope account.Scope
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{counts: map[key]account.Usage{}, folded: map[key]account.Usage{}, flushes: map[string]uint64{},
		marks: map[usage.Mark]bool{}}
}

func add(to map[key]account.Usage, k key, u account.Usage) {
	to[k] = to[k].Add(u)
}

// startOf is the beginning of the span of a step that a moment lies in.
func startOf(step account.Step, unix int64) int64 {
	start, _ := step.Span(time.Unix(unix, 0))
	return start.Unix()
}

// AddUsage implements usage.Store.
func (m *Memory) AddUsage(ctx context.Context, f *usage.Flush) ([]usage.Total, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(f.Hours)+len(f.Minutes) > 0 && f.Number > m.flushes[f.Node] {
		m.flushes[f.Node] = f.Number
		for _, c := range f.Hours {
			add(m.counts, key{account.StepHour, c.Start, c.Subject, c.Scope}, c.Usage)
		}
		for _, c := range f.Minutes {
			add(m.folded, key{account.StepMinute, c.Start, c.Subject, c.Scope}, c.Usage)
		}
	}
	var totals []usage.Total
	for _, s := range f.Ask {
		for _, window := range account.AllWindows {
			start, _ := window.Span(f.At)
			for _, scope := range account.AllScopes {
				sum := m.sum(key{account.Step(window), start.Unix(), s, scope})
				if sum.Requests != 0 || sum.Units != 0 {
					totals = append(totals, usage.Total{Subject: s, Scope: scope, Window: window, Requests: sum.Requests,
						Units: sum.Units})
				}
			}
		}
	}
	return totals, nil
}

// sum adds up what a span holds, folded or not.
func (m *Memory) sum(k key) account.Usage {
	sum := map[key]account.Usage{k: m.folded[k]}
	for c, u := range m.counts {
		if c.Subject == k.Subject && c.scope == k.scope && k.step != account.StepMinute &&
			startOf(k.step, c.start) == k.start {
			add(sum, k, u)
		}
	}
	return sum[k]
}

// Usage implements usage.Store.
func (m *Memory) Usage(ctx context.Context, q usage.Query) ([]usage.Row, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	spans := map[key]account.Usage{}
	for k, u := range m.folded {
		if k.step == q.Step {
			add(spans, k, u)
		}
	}
	for k, u := range m.counts {
		add(spans, key{q.Step, startOf(q.Step, k.start), k.Subject, k.scope}, u)
	}
	rows := []usage.Row{}
	for k, u := range spans {
		row := usage.Row{Start: time.Unix(k.start, 0).UTC(), Account: k.Account, Scope: k.scope, Usage: u}
		switch {
		case k.Organization != q.Organization || k.Account == "" || u == account.Usage{}:
		case q.Account != "" && k.Account != q.Account || q.Scope != "" && k.scope != q.Scope:
		case row.Start.Before(q.From) || !row.Start.Before(q.To):
		case q.After != nil && compareRows(row, usage.Row{Start: time.Unix(q.After.Start, 0), Account: q.After.Account,
			Scope: q.After.Scope}) <= 0:
		default:
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, compareRows)
	return rows[:min(len(rows), q.Limit)], nil
}

func compareRows(a, b usage.Row) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Scope, b.Scope))
}

// FoldUsage implements usage.Store.
func (m *Memory) FoldUsage(ctx context.Context, now time.Time, keep usage.Retention) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	hour := startOf(account.StepHour, now.Unix())
	for k, u := range m.counts {
		if k.start >= hour {
			continue
		}
		delete(m.counts, k)
		for _, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
			add(m.folded, key{step, startOf(step, k.start), k.Subject, k.scope}, u)
		}
	}
	for k := range m.folded {
		age := now.Sub(time.Unix(k.start, 0))
		if k.step == account.StepMinute && age > 10*time.Minute ||
			k.step == account.StepHour && age-time.Hour > keep.Hours ||
			k.step == account.StepDay && age-24*time.Hour > keep.Days {
			delete(m.folded, k)
		}
	}
	return false, nil
}

// MarkQuota implements usage.Store.
func (m *Memory) MarkQuota(ctx context.Context, mark usage.Mark) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	first := !m.marks[mark]
	m.marks[mark] = true
	return first, nil
}

// Interface guard
var _ usage.Store = (*Memory)(nil)
