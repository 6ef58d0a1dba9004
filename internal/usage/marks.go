package usage

import (
	"context"
	"math"
	"slices"
	"time"
)

// The levels of quotas that are told of, in percent.
const (
	warnLevel = 80
	fullLevel = 100
)

// Reached says that an account or an organization has used a quota to the level of its mark: 80 or 100 percent.
type Reached struct {
	Mark
	Used int64
	End  time.Time // of the window
}

// share is the use from which on a level is reached. A quota of nothing has no levels.
func share(limit, level int64) int64 {
	if limit == 0 {
		return math.MaxInt64
	}
	return (limit*level + 99) / 100
}

// reached notes levels that were reached, each once in a window. It belongs to the meter's turn, and used is what the
// store says: what requests have reserved may be given back, where another quota has nothing left.
func (q *tracked) reached(s *span, used int64) {
	for _, level := range []int64{warnLevel, fullLevel} {
		if used < share(q.quota.Limit, level) {
			return
		}
		if told := s.start<<8 | level; q.told < told || q.told>>8 > s.start {
			q.told = told
			q.ledger.meter.note(Reached{
				Mark: Mark{Subject: q.ledger.Subject, Quota: q.quota, Start: s.start, Level: int(level)},
				Used: used, End: time.Unix(s.end, 0).UTC(),
			})
		}
	}
}

func (m *Meter) note(r Reached) {
	if m.hear == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.due = append(m.due, r)
}

// tell writes down which levels were reached, and tells of those of which no process had. While the store cannot be
// asked they wait until their window is over.
func (m *Meter) tell(ctx context.Context) {
	m.mu.Lock()
	due := m.due
	m.due = nil
	m.mu.Unlock()
	due = slices.DeleteFunc(due, func(r Reached) bool { return !m.now().Before(r.End) })
	for i, r := range due {
		first, err := m.mark(ctx, r.Mark)
		m.report(ctx, TaskMark, err)
		if err != nil {
			m.mu.Lock()
			m.due = append(due[i:], m.due...)
			m.mu.Unlock()
			return
		}
		if first {
			m.hear(r)
		}
	}
}

func (m *Meter) mark(ctx context.Context, mark Mark) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	return m.store.MarkQuota(ctx, mark)
}
