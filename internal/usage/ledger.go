package usage

import (
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// mostHours is for how many hours the counts of one scope wait apart for a store that is away. What is older is
	// counted in the oldest of them.
	mostHours = 26
	// mostMinutes is the same for minutes, of which nobody asks for older ones.
	mostMinutes = 3
)

// ledger is what is known of one account, or one organization as a whole: its quotas, and counts that were drained from
// Counters and are not in the store yet.
type ledger struct {
	Subject
	meter    *Meter
	planned  atomic.Pointer[plan]
	planning sync.Mutex

	// What follows belongs to the meter's turn.
	hours, minutes         []waiting
	sentHours, sentMinutes []waiting // in the flush that is under way
	waits, asks            bool      // in the lists of the meter
	forgotten              bool      // another one has taken its place, or may
}

// waiting is a count of one scope in an hour or a minute.
type waiting struct {
	scope int
	start int64
	account.Usage
}

func newLedger(m *Meter, s Subject) *ledger {
	l := &ledger{Subject: s, meter: m}
	l.planned.Store(new(plan))
	return l
}

// add counts what was used in a minute.
func (l *ledger) add(scope int, minute int64, u account.Usage) {
	hour := minute / 60 * 3600
	l.hours = gather(l.hours, waiting{scope, hour, u}, mostHours, true)
	if l.planned.Load().minutes {
		l.minutes = gather(l.minutes, waiting{scope, minute * 60, u}, mostMinutes, false)
	}
}

// restore adds what was sent and did not arrive.
func (l *ledger) restore() {
	for _, w := range l.sentHours {
		l.hours = gather(l.hours, w, mostHours, true)
	}
	for _, w := range l.sentMinutes {
		l.minutes = gather(l.minutes, w, mostMinutes, false)
	}
}

// gather adds a count to a list that has at most so many of each scope. Beyond that it merges the two oldest, or drops
// the oldest.
func gather(list []waiting, w waiting, most int, merge bool) []waiting {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].scope == w.scope && list[i].start == w.start {
			list[i].Usage = list[i].Add(w.Usage)
			return list
		}
	}
	list = append(list, w)
	oldest, second, n := -1, -1, 0
	for i := range list {
		if list[i].scope != w.scope {
			continue
		}
		n++
		switch {
		case oldest < 0 || list[i].start < list[oldest].start:
			oldest, second = i, oldest
		case second < 0 || list[i].start < list[second].start:
			second = i
		}
	}
	if n <= most {
		return list
	}
	if merge {
		list[second].Usage = list[second].Add(list[oldest].Usage)
	}
	list[oldest] = list[len(list)-1]
	return list[:len(list)-1]
}
