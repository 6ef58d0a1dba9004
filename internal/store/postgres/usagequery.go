package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// spanStarts give, as SQL, the beginning of the span of a step that an hour lies in.
const (
	startOfDay   = "start - start % 86400"
	startOfMonth = "date_part('epoch', date_trunc('month', to_timestamp(start), 'UTC'))::bigint"
)

// Usage implements usage.Store. Rows that are kept and recent ones are read by one statement, and so as of one moment,
// and each no further than the page goes.
func (s *Store) Usage(ctx context.Context, q usage.Query) ([]usage.Row, error) {
	if !q.From.Before(q.To) {
		return nil, nil
	}
	// A row that is kept and a recent one may add up to 0, which is not listed: then a longer page is asked for, so that
	// none is too short.
	for limit := q.Limit; ; limit *= 2 {
		rows, more, err := s.usagePage(ctx, q, limit)
		if err != nil {
			return nil, err
		}
		if len(rows) >= q.Limit || !more {
			return rows[:min(len(rows), q.Limit)], nil
		}
	}
}

// usagePage returns the sums of the first rows of both kinds, limit of each, and whether there may be others.
func (s *Store) usagePage(ctx context.Context, q usage.Query, limit int) (rows []usage.Row, more bool, err error) {
	sql, args := usageSQL(q, limit)
	var kept, recent int
	err = s.query(ctx, sql, func(row pgx.Row) error {
		var r usage.Row
		var isKept bool
		var start int64
		var name, scope string
		if err := row.Scan(&isKept, &start, &name, &scope, &r.Requests, &r.Refused, &r.Errors, &r.Units); err != nil {
			return err
		}
		r.Start, r.Account, r.Scope = time.Unix(start, 0).UTC(), name, account.Scope(scope)
		rows = append(rows, r)
		if isKept {
			kept++
		} else {
			recent++
		}
		return nil
	}, args...)
	if err != nil {
		return nil, false, err
	}
	return addUp(rows, limit), kept == limit || recent == limit, nil
}

// addUp sorts rows, makes one of those of the same span, account and scope, and leaves out those that are 0. Of
// both kinds nothing is known beyond limit.
func addUp(rows []usage.Row, limit int) []usage.Row {
	slices.SortStableFunc(rows, compareRows)
	sums := rows[:0]
	for i := 0; i < len(rows) && limit > 0; limit-- {
		sum := rows[i]
		for i++; i < len(rows) && compareRows(rows[i], sum) == 0; i++ {
			sum.Usage = sum.Add(rows[i].Usage)
		}
		sum.Account = fromText(sum.Account) // they compare as the database has them
		if sum.Usage != (account.Usage{}) {
			sums = append(sums, sum)
		}
	}
	return sums
}

func compareRows(a, b usage.Row) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.Account, b.Account), cmp.Compare(a.Scope, b.Scope))
}

// usageSQL asks for the first rows after a position that are kept, and the first sums of recent ones. Where as many are
// kept as are wanted, recent hours behind them are not looked at.
func usageSQL(q usage.Query, limit int) (string, []any) {
	_, end := q.Step.Span(q.To.Add(-1))
	from := q.From
	if q.After != nil && q.After.Start > from.Unix() {
		from = time.Unix(q.After.Start, 0)
	}
	if begun, next := q.Step.Span(from); begun.Before(from) {
		from = next
	}
	args := []any{toText(q.Organization), string(q.Step), from.Unix(), end.Unix(), int64(limit)}
	arg := func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	}
	only := " AND account <> ''"
	if q.Account != "" {
		only += " AND account = " + arg(toText(q.Account))
	}
	if q.Scope != "" {
		only += " AND scope = " + arg(string(q.Scope))
	}
	keptAfter, hoursAfter := "", ""
	if q.After != nil {
		_, end := q.Step.Span(time.Unix(q.After.Start, 0))
		name, scope := arg(toText(q.After.Account)), arg(string(q.After.Scope))
		keptAfter = fmt.Sprintf(" AND (start, account, scope) > (%s::bigint, %s::text, %s::text)", arg(q.After.Start), name,
			scope)
		hoursAfter = fmt.Sprintf(" AND (start >= %s OR (account, scope) > (%s, %s))", arg(end.Unix()), name, scope)
	}
	start, longest := "start", 3600
	switch q.Step {
	case account.StepDay:
		start, longest = startOfDay, 86400
	case account.StepMonth:
		start, longest = startOfMonth, 31*86400
	}
	const counts = "requests, refused, errors, units"
	return `WITH kept AS MATERIALIZED (
		SELECT start, account, scope, ` + counts + ` FROM maps_usage
		WHERE organization = $1 AND step = $2 AND start >= $3 AND start < $4` + only + keptAfter + `
			AND (requests <> 0 OR refused <> 0 OR errors <> 0 OR units <> 0)
		ORDER BY start, account, scope LIMIT $5
	), last AS MATERIALIZED (
		SELECT start, account, scope FROM kept ORDER BY start, account, scope OFFSET $5 - 1
	), hours AS (
		SELECT ` + start + ` AS start, account, scope, ` + counts + ` FROM maps_usage_recent
		WHERE organization = $1 AND start >= $3
			AND start < least($4, (SELECT start + ` + strconv.Itoa(longest) + ` FROM last))
			AND (start < (SELECT start FROM last) OR
				(account, scope) <= ((SELECT account FROM last), (SELECT scope FROM last))) IS NOT FALSE` + only + hoursAfter + `
	), recent AS (
		SELECT start, account, scope, sum(requests)::bigint, sum(refused)::bigint, sum(errors)::bigint, sum(units)::bigint
		FROM hours GROUP BY start, account, scope ORDER BY start, account, scope LIMIT $5
	) SELECT true, * FROM kept UNION ALL SELECT false, * FROM recent`, args
}
