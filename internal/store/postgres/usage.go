package postgres

import (
	"context"
	"errors"
	"math/bits"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// flushTimeout bounds a flush, for which no request waits but the first of an account, and a fold. A flush of a second
// takes some milliseconds; one that waited for the database may be large.
const flushTimeout = 15 * time.Second

// flushPreamble begins the transaction of a flush.
var flushPreamble = []string{preamble[0], "set local statement_timeout = 10000", preamble[2]}

// addUsage adds the counts of a flush, unless one with its number or a higher one of its node is there. The lock of the
// node's row keeps a repetition waiting for a first attempt that is still being carried out. Rows are locked in the
// order in which they are given, which is the same for all nodes, so that no two wait for each other.
const addUsage = `WITH flush AS (
	INSERT INTO maps_usage_flushes AS f (node, number, seen) VALUES ($1, $2, $3)
	ON CONFLICT (node) DO UPDATE SET number = excluded.number, seen = excluded.seen WHERE f.number < excluded.number
	RETURNING node
), hours AS (
	INSERT INTO maps_usage_recent AS u (organization, account, scope, start, requests, refused, errors, units)
	SELECT c.* FROM flush, unnest($4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[],
		$10::bigint[], $11::bigint[]) AS c
	ON CONFLICT (organization, account, scope, start) DO UPDATE SET ` + addCounts + `
), minutes AS (
	INSERT INTO maps_usage AS u (step, organization, account, scope, start, requests, refused, errors, units)
	SELECT 'minute', c.* FROM flush, unnest($12::text[], $13::text[], $14::text[], $15::bigint[], $16::bigint[],
		$17::bigint[], $18::bigint[], $19::bigint[]) AS c
	ON CONFLICT (organization, step, start, account, scope) DO UPDATE SET ` + addCounts + `
) SELECT count(*) FROM flush`

const addCounts = `(requests, refused, errors, units) = (u.requests + excluded.requests, u.refused + excluded.refused,
		u.errors + excluded.errors, u.units + excluded.units)`

// countColumns are the columns of a list of counts, as parameters of addUsage.
func countColumns(list []usage.Count) []any {
	n := len(list)
	texts := make([]string, 3*n)
	numbers := make([]int64, 5*n)
	for i := range list {
		c := &list[i]
		texts[i], texts[n+i], texts[2*n+i] = toText(c.Organization), toText(c.Account), string(c.Scope)
		numbers[i], numbers[n+i], numbers[2*n+i] = c.Start, c.Requests, c.Refused
		numbers[3*n+i], numbers[4*n+i] = c.Errors, c.Units
	}
	return []any{texts[:n], texts[n : 2*n], texts[2*n:], numbers[:n], numbers[n : 2*n], numbers[2*n : 3*n],
		numbers[3*n : 4*n], numbers[4*n:]}
}

// AddUsage implements usage.Store. It takes one round trip.
func (s *Store) AddUsage(ctx context.Context, f *usage.Flush) ([]usage.Total, error) {
	var add []any
	if len(f.Hours)+len(f.Minutes) > 0 {
		add = append([]any{toText(f.Node), int64(f.Number), f.At.Unix()}, countColumns(f.Hours)...)
		add = append(add, countColumns(f.Minutes)...)
	}
	asked := newTotals(f)
	inDoubt := false
	err := s.callWithin(ctx, flushTimeout, func(ctx context.Context, conn *pgx.Conn) error {
		b := new(pgx.Batch)
		if add != nil {
			for _, sql := range flushPreamble {
				b.Queue(sql)
			}
			b.Queue(addUsage, add...)
		}
		asked.queue(b)
		if add != nil {
			b.Queue("commit")
		}
		if b.Len() == 0 {
			return nil
		}
		err := asDBError(conn.SendBatch(ctx, b).Close())
		if err != nil && add != nil {
			rollback(ctx, conn)
			inDoubt = inDoubt || !errors.Is(unlessRefused(err), account.ErrUnchanged)
		}
		return err
	})
	if err != nil {
		if inDoubt {
			err = asUnsure(err)
		}
		return nil, err
	}
	return asked.list(), nil
}

// totals are what the subjects that a flush asks for have used.
type totals struct {
	ask []usage.Subject
	// windows are those of the present time: minute, day and month.
	windows [len(account.AllWindows)]struct{ start, end int64 }
	sums    []subjectSums
}

// subjectSums are by window and scope.
type subjectSums [len(account.AllWindows)][len(account.AllScopes)]struct{ requests, units int64 }

func newTotals(f *usage.Flush) *totals {
	t := &totals{ask: f.Ask}
	for i, w := range account.AllWindows {
		start, end := w.Span(f.At)
		t.windows[i].start, t.windows[i].end = start.Unix(), end.Unix()
	}
	return t
}

// askTotals gives what is kept of the three windows, and the recent hours of the month, each with its start. The
// subqueries are not merged into one join, which might read all that there is, and the sums keep recent rows from being
// looked for by their start, which nearly all of them have.
const askTotals = `SELECT a.n, u.step, u.scope, u.start, u.requests, u.units
	FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a (organization, account, n) CROSS JOIN LATERAL (
		SELECT k.step, k.scope, k.start, k.requests, k.units FROM maps_usage AS k
		WHERE k.organization = a.organization AND k.step = 'minute' AND k.start = $3 AND k.account = a.account
		UNION ALL
		SELECT k.step, k.scope, k.start, k.requests, k.units FROM maps_usage AS k
		WHERE k.organization = a.organization AND k.step = 'day' AND k.start = $4 AND k.account = a.account
		UNION ALL
		SELECT k.step, k.scope, k.start, k.requests, k.units FROM maps_usage AS k
		WHERE k.organization = a.organization AND k.step = 'month' AND k.start = $5 AND k.account = a.account
		UNION ALL
		SELECT 'hour', r.scope, r.start, r.requests, r.units FROM maps_usage_recent AS r
		WHERE r.organization = a.organization AND r.account = a.account AND r.start + 0 >= $5 AND r.start + 0 < $6
		OFFSET 0
	) AS u`

func (t *totals) queue(b *pgx.Batch) {
	if len(t.ask) == 0 {
		return
	}
	organizations, accounts := make([]string, len(t.ask)), make([]string, len(t.ask))
	for i, s := range t.ask {
		organizations[i], accounts[i] = toText(s.Organization), toText(s.Account)
	}
	month := t.windows[2]
	b.Queue(askTotals, organizations, accounts, t.windows[0].start, t.windows[1].start, month.start, month.end).
		Query(func(rows pgx.Rows) error {
			t.sums = make([]subjectSums, len(t.ask))
			var n, start, requests, units int64
			var step, scope string
			_, err := pgx.ForEachRow(rows, []any{&n, &step, &scope, &start, &requests, &units}, func() error {
				t.add(int(n-1), step, account.Scope(scope), start, requests, units)
				return nil
			})
			return err
		})
}

func (t *totals) add(n int, step string, scope account.Scope, start, requests, units int64) {
	set := scope.Set()
	if set == 0 {
		return // of a newer server
	}
	for i, w := range account.AllWindows {
		recent := step == string(account.StepHour) && w != account.WindowMinute &&
			start >= t.windows[i].start && start < t.windows[i].end
		if recent || step == string(w) {
			sum := &t.sums[n][i][bits.TrailingZeros8(uint8(set))]
			sum.requests += requests
			sum.units += units
		}
	}
}

func (t *totals) list() (list []usage.Total) {
	for n, sums := range t.sums {
		for i, w := range account.AllWindows {
			for j, scope := range account.AllScopes {
				if sum := sums[i][j]; sum.requests != 0 || sum.units != 0 {
					list = append(list, usage.Total{Subject: t.ask[n], Scope: scope, Window: w, Requests: sum.requests,
						Units: sum.units})
				}
			}
		}
	}
	return list
}

// MarkQuota implements usage.Store. A call that is repeated because its answer was lost is told the same.
func (s *Store) MarkQuota(ctx context.Context, m usage.Mark) (first bool, err error) {
	_, end := m.Quota.Window.Span(time.Unix(m.Start, 0))
	nonce := newNonce()
	err = s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, `INSERT INTO maps_quota_marks AS m (organization, account, scope, unit, quota_window,
				quota, start, level, ends, nonce) VALUES (`+parameters(1, 10)+`)
			ON CONFLICT (organization, account, scope, unit, quota_window, quota, start, level)
			DO UPDATE SET nonce = excluded.nonce WHERE m.nonce = excluded.nonce`,
			toText(m.Organization), toText(m.Account), m.Quota.Scope, string(m.Quota.Unit), string(m.Quota.Window),
			m.Quota.Limit, m.Start, int64(m.Level), end.Unix(), nonce)
		first = tag.RowsAffected() > 0
		return asDBError(err)
	})
	return first && err == nil, err
}
