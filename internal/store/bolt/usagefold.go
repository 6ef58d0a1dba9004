package bolt

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

const (
	// foldStep is how many records one commit folds or removes, so that others do not wait long for theirs.
	foldStep = 500
	// foldTime is after which time a fold leaves the rest to the next one.
	foldTime = 500 * time.Millisecond
)

// folding says when hours and days next have to be removed: to look through all organizations for them takes a while.
type folding struct {
	mu   sync.Mutex // one fold at a time
	keep usage.Retention
	due  time.Time
}

// FoldUsage implements usage.Store.
func (s *Store) FoldUsage(ctx context.Context, now time.Time, keep usage.Retention) (more bool, err error) {
	f := &s.fold
	f.mu.Lock()
	defer f.mu.Unlock()
	until := time.Now().Add(foldTime)
	if keep != f.keep {
		f.keep, f.due = keep, time.Time{}
	}
	hour, _ := account.StepHour.Span(now)
	for {
		n, err := s.foldSome(ctx, hour.Unix())
		if err != nil {
			return false, err
		}
		if n > 0 {
			f.due = time.Time{} // some of it may be too old
		}
		if n < foldStep {
			break
		}
		if time.Now().After(until) {
			return true, nil
		}
	}
	for {
		n, err := s.removeSome(ctx, now)
		if err != nil {
			return false, err
		}
		if n < foldStep {
			return false, nil
		}
		if time.Now().After(until) {
			return true, nil
		}
	}
}

// foldSome moves records of hours before one, and returns how many.
func (s *Store) foldSome(ctx context.Context, hour int64) (n int, err error) {
	old := func(v *view) (keys [][]byte, err error) {
		return keysWhile(v, recentBucket, func(key []byte) bool { return startsBefore(key, hour) }, foldStep)
	}
	err = s.view(ctx, func(v *view) error {
		keys, err := old(v)
		n = len(keys)
		return err
	})
	if n == 0 || err != nil {
		return 0, err
	}
	err = s.write(ctx, func(t *writeTx) error {
		keys, err := old(t.view)
		if n = len(keys); err != nil {
			return err
		}
		for _, key := range keys {
			if err := foldOne(t, key); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// foldOne moves the record under a key to its hour, day and month.
func foldOne(t *writeTx, key []byte) error {
	record, err := t.get(recentBucket, key)
	if err != nil {
		return err
	}
	used, err := decodeUsage(record)
	if err != nil {
		return err
	}
	r := keyReader{rest: key}
	var at place
	start := time.Unix(r.start(), 0)
	subject := usage.Subject{Organization: r.part()}
	if err := r.who(&at); err != nil {
		return err
	}
	subject.Account = at.account
	for _, step := range keptSteps {
		begin, _ := step.Span(start)
		a := addition{keptKey(step, begin.Unix(), subject, at.scope), used}
		if err := a.to(t, keptBucket); err != nil {
			return err
		}
	}
	return t.remove(recentBucket, key)
}

// removeSome removes what does not have to be kept any more, and returns how many records that were: if as many as
// foldStep, there may be more.
func (s *Store) removeSome(ctx context.Context, now time.Time) (n int, err error) {
	type found struct {
		bucket []byte
		keys   [][]byte
	}
	var gone []found
	due := s.fold.due
	err = s.view(ctx, func(v *view) error {
		v.remember()
		add := func(bucket []byte, keys [][]byte, err error) error {
			gone = append(gone, found{bucket, keys})
			n += len(keys)
			return err
		}
		keys, err := keysWhile(v, minutesBucket, func(key []byte) bool {
			return startsBefore(key, now.Add(-usage.MinutesKept).Unix())
		}, foldStep)
		if err := add(minutesBucket, keys, err); err != nil {
			return err
		}
		keys, err = keysWhile(v, marksBucket, func(key []byte) bool {
			return startsBefore(key, now.Add(-usage.MarksKept).Unix())
		}, foldStep)
		if err := add(marksBucket, keys, err); err != nil {
			return err
		}
		keys, err = oldNodes(v, now.Add(-usage.NumbersKept))
		if err := add(nodesBucket, keys, err); err != nil || now.Before(due) {
			return err
		}
		due = now.AddDate(1, 0, 0) // or earlier, where there is something to wait for
		for step, keep := range map[account.Step]time.Duration{account.StepHour: s.fold.keep.Hours,
			account.StepDay: s.fold.keep.Days} {
			keys, next, err := oldSpans(v, step, now.Add(-keep))
			if err := add(keptBucket, keys, err); err != nil {
				return err
			}
			if next = next.Add(keep); next.Before(due) {
				due = next
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if n == 0 {
		s.fold.due = due
		return 0, nil
	}
	err = s.write(ctx, func(t *writeTx) error {
		for _, f := range gone {
			for _, key := range f.keys {
				if err := t.remove(f.bucket, key); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && n < foldStep {
		s.fold.due = due
	}
	return n, err
}

// keysWhile returns the first keys of a bucket, as long as they are wanted, and no more than so many.
func keysWhile(v *view, bucket []byte, wanted func(key []byte) bool, limit int) (keys [][]byte, err error) {
	err = v.each(bucket, nil, func(key, _ []byte) error {
		if len(keys) == limit || !wanted(key) {
			return errEnough
		}
		keys = append(keys, bytes.Clone(key))
		return nil
	})
	if err == errEnough {
		err = nil
	}
	return keys, err
}

// startsBefore reports whether the start that a key begins with is before a moment.
func startsBefore(key []byte, moment int64) bool {
	r := keyReader{rest: key}
	return r.start() < moment && !r.bad
}

// oldNodes returns the keys of nodes that have not been seen since a moment.
func oldNodes(v *view, since time.Time) (keys [][]byte, err error) {
	err = v.each(nodesBucket, nil, func(key, record []byte) error {
		n, err := decodeNode(record)
		if n.at.Before(since) && len(keys) < foldStep {
			keys = append(keys, bytes.Clone(key))
		}
		return err
	})
	return keys, err
}

// oldSpans returns keys of spans that were over before a moment, and when the first of the others is over.
func oldSpans(v *view, step account.Step, moment time.Time) (keys [][]byte, first time.Time, err error) {
	steps := keptStep(step)
	first = moment.AddDate(100, 0, 0)
	for next := steps; len(keys) < foldStep; {
		key, _, err := v.from(keptBucket, next)
		if err != nil || key == nil || !bytes.HasPrefix(key, steps) {
			return keys, first, err
		}
		r := keyReader{rest: key[len(steps):]}
		organization := r.part()
		start := r.start()
		if r.bad {
			return nil, first, errRecord
		}
		_, end := step.Span(time.Unix(start, 0))
		switch {
		case end.Before(moment):
			keys = append(keys, bytes.Clone(key))
			next = append(bytes.Clone(key), 0)
			continue
		case end.Before(first):
			first = end
		}
		next = after(keptPrefix(step, organization))
	}
	return keys, first, nil
}
