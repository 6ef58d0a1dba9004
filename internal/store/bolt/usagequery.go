package bolt

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Usage implements usage.Store.
func (s *Store) Usage(ctx context.Context, q usage.Query) (rows []usage.Row, err error) {
	err = s.view(ctx, func(v *view) error {
		rows = nil
		return eachRow(ctx, v, &usageScan{Query: q}, func(r *usageRow) error {
			if len(rows) == q.Limit {
				return errEnough
			}
			rows = append(rows, usage.Row{Start: time.Unix(r.start, 0).UTC(), Account: r.account, Scope: r.scope,
				Usage: r.Usage})
			return nil
		})
	})
	return rows, err
}

// usageScan is a Query whose limit its reader sees to.
type usageScan struct {
	usage.Query
	sums bool // also of the organization as a whole, which has no account
}

type usageRow struct {
	place
	account.Usage
}

// errEnough ends a scan.
var errEnough = errUnchanged

// eachRow calls a function for what was used, in order: what is folded, and each hour that is not, are sorted by
// themselves, and are merged. It ends with ctx, also where it finds nothing that is asked for in all that it reads.
func eachRow(ctx context.Context, v *view, q *usageScan, fn func(*usageRow) error) error {
	v.remember()
	var parts []*usagePart
	add := func(p *usagePart) error {
		err := p.advance(ctx)
		if err == nil && p.next != nil {
			parts = append(parts, p)
		}
		return err
	}
	from, to := q.From.Unix(), q.To.Unix()
	if q.To.Nanosecond() > 0 {
		to++
	}
	hours, err := recentHours(v, from, math.MaxInt64)
	if err != nil {
		return err
	}
	for _, hour := range hours {
		start, _ := q.Step.Span(time.Unix(hour, 0))
		if start.Unix() >= to {
			break
		}
		p := &usagePart{view: v, query: q, bucket: recentBucket, prefix: spanPrefix(hour, q.Organization), fixed: true,
			to: to}
		p.row.start = start.Unix()
		if p.seek(from); p.next == nil {
			continue
		}
		if err := add(p); err != nil {
			return err
		}
	}
	kept := &usagePart{view: v, query: q, bucket: keptBucket, prefix: keptPrefix(q.Step, q.Organization), to: to}
	kept.seek(from)
	if err := add(kept); err != nil {
		return err
	}
	for len(parts) > 0 {
		row := parts[0].row
		for _, p := range parts[1:] {
			if p.row.compare(row.place) < 0 {
				row = p.row
			}
		}
		row.Usage = account.Usage{}
		left := parts[:0]
		for _, p := range parts {
			if p.row.place == row.place {
				row.Usage = row.Usage.Add(p.row.Usage)
				if err := p.advance(ctx); err != nil {
					return err
				}
			}
			if p.next != nil {
				left = append(left, p)
			}
		}
		parts = left
		if row.Usage == (account.Usage{}) {
			continue
		}
		if err := fn(&row); err == errEnough {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.start, q.start), cmp.Compare(p.account, q.account), cmp.Compare(p.scope, q.scope))
}

// usagePart is a part of what is kept that is sorted by itself.
type usagePart struct {
	*view
	query          *usageScan
	bucket, prefix []byte
	fixed          bool // all of it has the start that row has at first
	to             int64
	next           []byte // the key to go on from; nil at the end
	row            usageRow
}

// key is that of a start, unless it is fixed, with the first account that is asked for.
func (p *usagePart) key(start int64) []byte {
	key := bytes.Clone(p.prefix)
	if !p.fixed {
		key = appendStart(key, start)
	}
	switch {
	case p.query.Account != "":
		return appendAccount(key, p.query.Account)
	case p.query.sums:
		return key
	}
	return append(key, behindNobody...)
}

// seek goes to the first row from a moment on that is behind the page before.
func (p *usagePart) seek(from int64) {
	switch after := p.query.After; {
	case p.fixed && p.row.start < from:
	case after == nil || after.Start < from || p.fixed && after.Start < p.row.start:
		p.next = p.key(from)
	case p.fixed && after.Start > p.row.start:
	default:
		key := bytes.Clone(p.prefix)
		if !p.fixed {
			key = appendStart(key, after.Start)
		}
		p.next = append(appendWho(key, after.Account, after.Scope), 0)
		if first := p.key(after.Start); bytes.Compare(p.next, first) < 0 {
			p.next = first
		}
	}
}

// advance reads the next row that is asked for.
func (p *usagePart) advance(ctx context.Context) error {
	for p.next != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		key, record, err := p.from(p.bucket, p.next)
		p.next = nil
		if err != nil || !bytes.HasPrefix(key, p.prefix) {
			return err
		}
		r := keyReader{rest: key[len(p.prefix):]}
		if !p.fixed {
			p.row.start = r.start()
		}
		if err := r.who(&p.row.place); err != nil {
			return err
		}
		switch at := p.row.place; {
		case at.start >= p.to, p.fixed && p.query.Account != "" && at.account > p.query.Account:
			return nil
		case at.account == "" && !p.query.sums, p.query.Account != "" && at.account < p.query.Account:
			p.next = p.key(at.start)
		case p.query.Account != "" && at.account > p.query.Account:
			p.next = p.key(at.start + 1)
		case p.query.Scope != "" && at.scope != p.query.Scope:
			p.next = append(bytes.Clone(key), 0)
		default:
			p.next = append(bytes.Clone(key), 0)
			p.row.Usage, err = decodeUsage(record)
			return err
		}
	}
	return nil
}

// exportUsage calls a function for all usage, as if all of it were folded.
func exportUsage(ctx context.Context, v *view, each func(account.Record) error) error {
	organizations, err := usersOf(v)
	if err != nil {
		return err
	}
	for _, organization := range organizations {
		for _, step := range keptSteps {
			q := usageScan{sums: true, Query: usage.Query{Organization: organization, Step: step,
				From: time.Unix(math.MinInt64, 0), To: time.Unix(math.MaxInt64, 0)}}
			if err := eachRow(ctx, v, &q, func(r *usageRow) error {
				return each(account.Record{Usage: &account.UsageRecord{Step: step, Start: time.Unix(r.start, 0).UTC(),
					Organization: organization, Account: r.account, Scope: string(r.scope), Usage: r.Usage}})
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// usersOf returns the organizations that have usage.
func usersOf(v *view) ([]string, error) {
	seen := map[string]bool{}
	// in collects the organizations that stand in keys behind a prefix.
	in := func(bucket, prefix []byte) error {
		for next := prefix; ; {
			key, _, err := v.from(bucket, next)
			if err != nil || !bytes.HasPrefix(key, prefix) || key == nil {
				return err
			}
			r := keyReader{rest: key[len(prefix):]}
			name := r.part()
			if r.bad {
				return errRecord
			}
			seen[name] = true
			next = after(appendPart(bytes.Clone(prefix), name))
		}
	}
	v.remember()
	hours, err := recentHours(v, math.MinInt64, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	for _, hour := range hours {
		if err := in(recentBucket, appendStart(nil, hour)); err != nil {
			return nil, err
		}
	}
	for _, step := range keptSteps {
		if err := in(keptBucket, keptStep(step)); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}
