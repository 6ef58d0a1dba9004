package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// AddUsage implements usage.Store. What it returns is read after the commit, which others wait for.
func (s *Store) AddUsage(ctx context.Context, f *usage.Flush) (totals []usage.Total, err error) {
	if len(f.Hours)+len(f.Minutes) > 0 {
		hours, minutes := additionsOf(f.Hours), additionsOf(f.Minutes)
		err = s.write(ctx, func(t *writeTx) error {
			if again, err := number(t, f); again || err != nil {
				return err
			}
			if err := addAll(t, recentBucket, hours); err != nil {
				return err
			}
			return addAll(t, minutesBucket, minutes)
		})
		if err != nil {
			return nil, err
		}
	}
	err = s.view(ctx, func(v *view) error {
		totals, err = totalsOf(v, f.Ask, f.At)
		return err
	})
	return totals, err
}

// number writes down the number of a flush, and reports whether it was added before.
func number(t *writeTx, f *usage.Flush) (again bool, err error) {
	err = t.update(nodesBucket, appendPart(nil, f.Node), func(before []byte) ([]byte, error) {
		last := nodeRecord{}
		if before != nil {
			var err error
			if last, err = decodeNode(before); err != nil {
				return nil, err
			}
		}
		if again = f.Number <= last.number; again {
			return nil, errUnchanged
		}
		return encodeNode(nodeRecord{f.Number, f.At}), nil
	})
	return again, err
}

// addition is a count under the key that it is added to.
type addition struct {
	key   []byte
	usage account.Usage
}

// additionsOf returns counts in the order of their keys, so that bbolt's pages are gone through once.
func additionsOf(counts []usage.Count) []addition {
	list := make([]addition, len(counts))
	for i := range counts {
		c := &counts[i]
		list[i] = addition{appendWho(spanPrefix(c.Start, c.Organization), c.Account, c.Scope), c.Usage}
	}
	slices.SortFunc(list, func(a, b addition) int { return bytes.Compare(a.key, b.key) })
	return list
}

func addAll(t *writeTx, bucket []byte, list []addition) error {
	for i := range list {
		if err := list[i].to(t, bucket); err != nil {
			return err
		}
	}
	return nil
}

// to adds to what is there. A sum that is 0 is not kept.
func (a *addition) to(t *writeTx, bucket []byte) error {
	return t.update(bucket, a.key, func(before []byte) ([]byte, error) {
		sum := a.usage
		if before != nil {
			was, err := decodeUsage(before)
			if err != nil {
				return nil, err
			}
			sum = sum.Add(was)
		}
		if sum == (account.Usage{}) {
			return nil, nil
		}
		return encodeUsage(sum), nil
	})
}

// totalsOf returns what subjects have used in the windows of a moment.
func totalsOf(v *view, ask []usage.Subject, at time.Time) (totals []usage.Total, err error) {
	if len(ask) == 0 {
		return nil, nil
	}
	v.remember()
	month, end := account.WindowMonth.Span(at)
	hours, err := recentHours(v, month.Unix(), end.Unix())
	if err != nil {
		return nil, err
	}
	day, tomorrow := account.WindowDay.Span(at)
	minute, _ := account.WindowMinute.Span(at)
	for _, s := range ask {
		var used [len(account.AllWindows)][len(account.AllScopes)]account.Usage
		add := func(bucket, prefix []byte, windows ...int) error {
			prefix = appendAccount(prefix, s.Account)
			return v.each(bucket, prefix, func(key, record []byte) error {
				u, err := decodeUsage(record)
				if i := slices.Index(account.AllScopes[:], account.Scope(key[len(prefix):])); i >= 0 {
					for _, w := range windows {
						used[w][i] = used[w][i].Add(u)
					}
				}
				return err
			})
		}
		if err := add(minutesBucket, spanPrefix(minute.Unix(), s.Organization), 0); err != nil {
			return nil, err
		}
		if err := add(keptBucket, appendStart(keptPrefix(account.StepDay, s.Organization), day.Unix()), 1); err != nil {
			return nil, err
		}
		if err := add(keptBucket, appendStart(keptPrefix(account.StepMonth, s.Organization), month.Unix()),
			2); err != nil {
			return nil, err
		}
		for _, hour := range hours {
			in := []int{1, 2}
			if hour < day.Unix() || hour >= tomorrow.Unix() {
				in = in[1:]
			}
			if err := add(recentBucket, spanPrefix(hour, s.Organization), in...); err != nil {
				return nil, err
			}
		}
		for w, scopes := range used {
			for i, u := range scopes {
				if u.Requests != 0 || u.Units != 0 {
					totals = append(totals, usage.Total{Subject: s, Scope: account.AllScopes[i], Window: account.AllWindows[w],
						Requests: u.Requests, Units: u.Units})
				}
			}
		}
	}
	return totals, nil
}

// recentHours returns the starts of hours of which something is not folded yet, from one moment to before another.
func recentHours(v *view, from, to int64) (hours []int64, err error) {
	for {
		key, _, err := v.from(recentBucket, appendStart(nil, from))
		if key == nil || err != nil {
			return hours, err
		}
		r := keyReader{rest: key}
		hour := r.start()
		if r.bad {
			return nil, errRecord
		}
		if hour >= to {
			return hours, nil
		}
		hours, from = append(hours, hour), hour+1
	}
}

// MarkQuota implements usage.Store. Marks are kept by the ends of their windows, after which they are removed.
func (s *Store) MarkQuota(ctx context.Context, m usage.Mark) (first bool, err error) {
	_, end := m.Quota.Window.Span(time.Unix(m.Start, 0))
	key := appendPart(appendPart(appendStart(nil, end.Unix()), m.Organization), m.Account)
	key = binary.AppendVarint(binary.AppendVarint(appendQuota(key, m.Quota), m.Start), int64(m.Level))
	err = s.write(ctx, func(t *writeTx) error {
		there, err := t.get(marksBucket, key)
		if first = there == nil && err == nil; !first {
			return err
		}
		return t.add(marksBucket, key, nil)
	})
	return first && err == nil, err
}

// Interface guard
var _ usage.Store = (*Store)(nil)
