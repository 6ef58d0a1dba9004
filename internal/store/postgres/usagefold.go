package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// foldStep is how many recent rows one transaction moves, or how many old ones it removes.
const foldStep = 4000

// moveUsage locks rows in the same order as addUsage.
const moveUsage = `WITH over AS MATERIALIZED (
		SELECT organization, account, scope, start FROM maps_usage_recent WHERE start < $1
		ORDER BY organization, account, scope, start LIMIT $2 FOR UPDATE
	), moved AS (
		DELETE FROM maps_usage_recent AS r USING over AS o WHERE r.organization = o.organization
			AND r.account = o.account AND r.scope = o.scope AND r.start = o.start
		RETURNING r.organization, r.account, r.scope, r.start, r.requests, r.refused, r.errors, r.units
	), spans AS (
		SELECT 'hour' AS step, start AS begins, m.* FROM moved AS m
		UNION ALL SELECT 'day', ` + startOfDay + `, m.* FROM moved AS m
		UNION ALL SELECT 'month', ` + startOfMonth + `, m.* FROM moved AS m
	), added AS (
		INSERT INTO maps_usage AS u (step, start, organization, account, scope, requests, refused, errors, units)
		SELECT step, begins, organization, account, scope, sum(requests), sum(refused), sum(errors), sum(units) FROM spans
		GROUP BY step, begins, organization, account, scope
		ON CONFLICT (organization, step, start, account, scope) DO UPDATE SET ` + addCounts + `
	) SELECT count(*) FROM moved`

// removeUsage leaves rows that a flush is just adding to, rather than wait for it.
const removeUsage = `DELETE FROM maps_usage WHERE (organization, step, start, account, scope) IN (
		SELECT organization, step, start, account, scope FROM maps_usage WHERE step = $1 AND start < $2
		ORDER BY start LIMIT $3 FOR UPDATE SKIP LOCKED)`

// lengths are those of spans that have to be over before they are old, in seconds.
var lengths = map[account.Step]int64{account.StepHour: 3600, account.StepDay: 24 * 3600}

// FoldUsage implements usage.Store. The lock of a row is what one process at a time has. It is patient: what the next
// call has to do is the same, so that what once takes too long would take too long for ever.
func (s *Store) FoldUsage(ctx context.Context, now time.Time, keep usage.Retention) (more bool, err error) {
	hour, _ := account.StepHour.Span(now)
	before := func(age time.Duration) int64 { return now.Add(-age).Unix() }
	var mine bool
	err = s.write(ctx, transaction{
		patient: true,
		read: func(b *pgx.Batch) {
			b.Queue("SELECT value FROM maps_state WHERE name = 'fold' FOR UPDATE SKIP LOCKED").
				QueryRow(optional(&mine, func(row pgx.Row) error { return row.Scan(new(int64)) }))
		},
		write: func(b *pgx.Batch) ([]change, error) {
			more = false
			if !mine {
				return nil, nil
			}
			b.Queue(moveUsage, hour.Unix(), int64(foldStep)).QueryRow(func(row pgx.Row) error {
				var n int64
				err := row.Scan(&n)
				more = more || n == foldStep
				return err
			})
			for step, age := range map[account.Step]time.Duration{account.StepMinute: usage.MinutesKept,
				account.StepHour: keep.Hours, account.StepDay: keep.Days} {
				// How long a span is comes after the age, to which it cannot be added where that is the longest duration.
				start := before(age) - lengths[step]
				b.Queue(removeUsage, string(step), start, int64(foldStep)).Exec(func(tag pgconn.CommandTag) error {
					more = more || tag.RowsAffected() == foldStep
					return nil
				})
			}
			b.Queue("DELETE FROM maps_usage_flushes WHERE seen < $1", before(usage.NumbersKept))
			b.Queue("DELETE FROM maps_quota_marks WHERE ends < $1", before(usage.MarksKept))
			return nil, nil
		},
	})
	return more && err == nil, err
}
