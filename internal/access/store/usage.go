package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// usageBatch is the number of rows of usage that one statement adds. The maximum number of parameters, nine per row, is
// 32,766 in SQLite and 65,535 in PostgreSQL.
const usageBatch = 200

type usageKey struct {
	organization string
	step         account.Step
	start        int64
	account      string
	scope        account.Scope
}

func (k usageKey) compare(other usageKey) int {
	return cmp.Or(cmp.Compare(k.organization, other.organization), cmp.Compare(k.step, other.step),
		cmp.Compare(k.start, other.start), cmp.Compare(k.account, other.account), cmp.Compare(k.scope, other.scope))
}

// AddUsage implements usage.Store. It adds each count to its hour, day and month, for the account and for the whole
// organization.
func (s *Store) AddUsage(ctx context.Context, f usage.Flush) error {
	sums := make(map[usageKey]account.Usage)
	for _, c := range f.Counts {
		at := time.Unix(c.Start, 0)
		steps := []account.Step{account.StepHour, account.StepDay, account.StepMonth}
		if c.Minute {
			steps = append(steps, account.StepMinute)
		}
		for _, step := range steps {
			start, _ := step.Span(at)
			key := usageKey{c.Organization, step, start.Unix(), c.Account, c.Scope}
			sums[key] = sums[key].Add(c.Usage)
			key.account = ""
			sums[key] = sums[key].Add(c.Usage)
		}
	}
	// In the same order on all servers, to prevent deadlocks.
	keys := slices.SortedFunc(maps.Keys(sums), usageKey.compare)
	return s.write(ctx, func(t *tx) error {
		first, err := t.exec(insert("maps_usage_flushes", "node, number, seen_at", 1)+
			` ON CONFLICT (node) DO UPDATE SET number = excluded.number, seen_at = excluded.seen_at
			WHERE maps_usage_flushes.number < excluded.number`, f.Node, int64(f.Number), s.Now().Unix())
		if err != nil || first == 0 {
			return err // the flush was added before
		}
		for batch := range slices.Chunk(keys, usageBatch) {
			args := make([]any, 0, 9*len(batch))
			for _, k := range batch {
				u := sums[k]
				args = append(args, k.organization, string(k.step), k.start, k.account, string(k.scope), u.Requests, u.Refused,
					u.Errors, u.Units)
			}
			if _, err := t.exec(insert("maps_usage", usageColumns, len(batch))+addUsage, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

const addUsage = ` ON CONFLICT (organization, step, start, account, scope) DO UPDATE SET
	requests = maps_usage.requests + excluded.requests, refused = maps_usage.refused + excluded.refused,
	errors = maps_usage.errors + excluded.errors, units = maps_usage.units + excluded.units`

// Totals implements usage.Store.
func (s *Store) Totals(ctx context.Context, organization string, accounts []string,
	at time.Time) (totals []usage.Total, err error) {
	fields := func(u *usage.Total) []any {
		return []any{text(&u.Account), text(&u.Window), text(&u.Scope), number(&u.Requests), number(&u.Units)}
	}
	args := []any{organization}
	for _, window := range account.AllWindows {
		start, _ := window.Span(at)
		args = append(args, string(window), start.Unix())
	}
	const sql = `SELECT account, step, scope, requests, units FROM maps_usage WHERE organization = $1
		AND (step = $2 AND start = $3 OR step = $4 AND start = $5 OR step = $6 AND start = $7) AND account IN (`
	err = s.read(ctx, func(t *tx) error {
		totals = nil
		for batch := range slices.Chunk(accounts, usageBatch) {
			in, args := "", slices.Clone(args)
			for _, id := range batch {
				args = append(args, id)
				in += fmt.Sprintf(", $%d", len(args))
			}
			more, err := list(t, fields, sql+in[2:]+")", args...)
			if err != nil {
				return err
			}
			totals = append(totals, more...)
		}
		return nil
	})
	return totals, err
}

// Usage implements usage.Store.
func (s *Store) Usage(ctx context.Context, q usage.Query) (rows []usage.Row, err error) {
	var start int64
	var row usage.Row
	fields := []any{number(&start), text(&row.Account), text(&row.Scope), number(&row.Requests), number(&row.Refused),
		number(&row.Errors), number(&row.Units)}
	args := []any{q.Organization, string(q.Step), q.From.Unix(), q.To.Unix()}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	sql := `SELECT start, account, scope, requests, refused, errors, units FROM maps_usage
		WHERE organization = $1 AND step = $2 AND start >= $3 AND start < $4 AND account <> ''
		AND (requests <> 0 OR refused <> 0 OR errors <> 0 OR units <> 0)`
	if q.Account != "" {
		sql += " AND account = " + arg(q.Account)
	}
	if q.Scope != "" {
		sql += " AND scope = " + arg(string(q.Scope))
	}
	if q.After != nil {
		// The first condition is for the index.
		from := arg(q.After.Start)
		sql += " AND start >= " + from + " AND (start, account, scope) > (" + from + ", " + arg(q.After.Account) + ", " +
			arg(string(q.After.Scope)) + ")"
	}
	sql += " ORDER BY start, account, scope LIMIT " + arg(int64(q.Limit))
	err = s.read(ctx, func(t *tx) error {
		rows = nil
		return t.each(fields, func() error {
			row.Start = time.Unix(start, 0).UTC()
			rows = append(rows, row)
			return nil
		}, sql, args...)
	})
	return rows, err
}

// MarkQuota implements usage.Store.
func (s *Store) MarkQuota(ctx context.Context, m usage.Mark) (first bool, err error) {
	_, end := m.Quota.Window.Span(time.Unix(m.Start, 0))
	err = s.write(ctx, func(t *tx) error {
		n, err := t.exec(insert("maps_quota_marks", markColumns, 1)+" ON CONFLICT DO NOTHING",
			m.Organization, m.Account, m.Quota.Scope, string(m.Quota.Unit), string(m.Quota.Window), m.Quota.Limit, m.Start,
			int64(m.Level), end.Unix())
		first = n > 0
		return err
	})
	return first && err == nil, err
}

const (
	// minutesKept is how long minutes are kept. Quotas need only the current one.
	minutesKept = 10 * time.Minute
	// flushesKept is how long the number of the last flush of a process is kept, longer than a flush is repeated.
	flushesKept = 32 * 24 * time.Hour
	// marksKept is how long marks are kept after their window.
	marksKept = time.Hour
)

// SweepUsage implements usage.Store.
func (s *Store) SweepUsage(ctx context.Context, keep usage.Retention) error {
	now, ok := s.aging.now(s.Now())
	if !ok {
		return nil
	}
	before := func(age time.Duration) int64 { return now.Add(-age).Unix() }
	for _, old := range []struct {
		table, key, where string
		args              []any
	}{
		{"maps_usage", usageKeyColumns, "step = $1 AND start < $2",
			[]any{string(account.StepMinute), before(minutesKept)}},
		{"maps_usage", usageKeyColumns, "step = $1 AND start < $2",
			[]any{string(account.StepHour), before(keep.Hours) - 3600}},
		{"maps_usage", usageKeyColumns, "step = $1 AND start < $2",
			[]any{string(account.StepDay), before(keep.Days) - 24*3600}},
		{"maps_usage_flushes", "node", "seen_at < $1", []any{before(flushesKept)}},
		{"maps_quota_marks", markKeyColumns, "ends < $1",
			[]any{before(marksKept)}},
	} {
		sql := fmt.Sprintf("DELETE FROM %s WHERE (%s) IN (SELECT %s FROM %s WHERE %s LIMIT %d)", old.table, old.key, old.key,
			old.table, old.where, sweepStep)
		for n := int64(sweepStep); n == sweepStep; {
			err := s.write(ctx, func(t *tx) (err error) {
				n, err = t.exec(sql, old.args...)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// agingClock is the clock for removing old usage. A clock that is temporarily ahead must not remove months of it, so
// this clock advances no faster than the monotonic clock, and is not used in its first hour.
type agingClock struct {
	mu      sync.Mutex
	started time.Time // by the monotonic clock
	read    time.Time // when it was last read, by the monotonic clock
	at      time.Time // its time then
}

const agingDelay = time.Hour

func (c *agingClock) begin(now time.Time) {
	c.started = time.Now()
	c.read, c.at = c.started, now
}

// now returns the earlier of the time of the database's clock and the latest time that this clock can have reached.
func (c *agingClock) now(said time.Time) (now time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reached := c.at.Add(time.Since(c.read))
	c.read, c.at = time.Now(), said.Round(0)
	if reached.Before(said) {
		c.at = reached.Round(0)
	}
	return c.at, time.Since(c.started) >= agingDelay
}
