package postgres

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// pollEvery is how often changes are asked for. It is what makes them arrive within a second; notifications only
	// make it sooner.
	pollEvery = 500 * time.Millisecond
	// pollAtMost is the least time between two questions, however many notifications come.
	pollAtMost = 20 * time.Millisecond
	// hedgeAfter is how long an answer may take before the question is put on another connection as well, since the
	// first may lead nowhere. On a slow link it is two round trips.
	hedgeAfter = 200 * time.Millisecond
	// silence is how long nothing may answer before the database counts as away. On a slow link it is eight round trips,
	// since a connection may have to be made.
	silence = 1500 * time.Millisecond
	// retryFirst and retryEvery are the first and the longest pause between attempts that fail.
	retryFirst = 20 * time.Millisecond
	retryEvery = 250 * time.Millisecond

	// lineLimit is how long a connection of the watcher's own is waited for. While it is late, others are asked.
	lineLimit = 10 * time.Second
	// poolLimit is how long a connection of the pool is waited for. On a slow link it is five round trips.
	poolLimit = 2 * time.Second
	// listenLimit is how long LISTEN may take. On a slow link it is four round trips.
	listenLimit = 2 * time.Second
	// listenPause is how long LISTEN is done without after it was not answered.
	listenPause = time.Minute

	// maxLines and maxPooled are how many connections of the watcher's own are made or waited for at once, and how many
	// of the pool.
	maxLines, maxPooled = 6, 3
	// linePause is how long is waited, when a second connection is being made beside the first, before another is begun:
	// of a network that was gone for a while, new ones hear first.
	linePause = 1500 * time.Millisecond
	// lineFirst and lineEvery are the first and the longest pause between attempts to make one while the pool answers.
	lineFirst = 100 * time.Millisecond
	lineEvery = 5 * time.Second
)

// Watch implements account.Watcher. It has a connection of its own, with notifications. Where that cannot be had, or
// does not answer at once, it asks on connections of the pool as well, before any call, and whatever answers first
// counts.
func (s *Store) Watch(ctx context.Context, to account.Listener) {
	w := &watcher{store: s, to: to, at: s.start, events: make(chan event)}
	w.noteAnswer()
	defer func() {
		s.answered.Store(nil)
		s.away.Store(false)
	}()
	defer w.tasks.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.tasks.Go(func() { s.pruneUntil(ctx) })
	w.run(ctx)
}

// watcher puts a question, on more and more connections until one answers, waits, and puts the next. One goroutine
// alone has its fields, and hears of everything that takes time by events.
type watcher struct {
	store  *Store
	to     account.Listener
	events chan event
	tasks  sync.WaitGroup

	at     cursor    // the last change that was reported
	synced time.Time // when the latest question was put of those that were answered

	asking bool      // an answer is wanted
	begun  time.Time // since when, or since when one was wanted last
	// wanted ends when the answer is there that was wanted last, which unwanted says.
	wanted   context.Context
	unwanted context.CancelFunc
	next     time.Time // when there is something to do, if nothing is heard until then
	pooled   int       // questions under way on connections of the pool
	// refused is how many connections could not be made since the last answer, one after the other, the last of them at
	// refusedAt. Those that broke together are one. why is what went wrong last, at whyAt.
	refused   int
	refusedAt time.Time
	why       error
	whyAt     time.Time

	lines      []*line
	nextLine   time.Time     // no line is made before
	pause      time.Duration // before the next line, while the pool answers
	warned     bool          // that there is no line
	nextListen time.Time     // LISTEN is not tried before
}

func (w *watcher) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			w.ask(ctx)
		case e := <-w.events:
			w.hear(ctx, e)
		}
		timer.Reset(time.Until(w.next))
	}
}

// ask puts the question: at first on a line alone, and where there is none, or it does not answer, on others too.
func (w *watcher) ask(ctx context.Context) {
	now := time.Now()
	hedge := w.hedge()
	w.next = now.Add(hedge)
	if !w.asking {
		w.asking, w.begun = true, now
		w.wanted, w.unwanted = context.WithCancel(ctx)
		if w.askLine() {
			return
		}
		// One that was asked a moment ago may still answer.
		for _, l := range w.lines {
			if l.made && now.Sub(l.asked) < hedge {
				w.next = l.asked.Add(hedge)
				return
			}
		}
	}
	if w.pooled < maxPooled {
		w.askPool(ctx)
	}
	w.makeLine(ctx)
	if now.Sub(w.begun) > w.store.trips.times(8, silence, lineLimit) {
		if w.why == nil || now.Sub(w.whyAt) > silence {
			w.why = errAway
		}
		w.notSynced(w.why)
	}
}

// hedge is how long one attempt is waited for before another is made.
func (w *watcher) hedge() time.Duration { return w.store.trips.times(2, hedgeAfter, lineLimit/2) }

// askLine asks on a line that is free.
func (w *watcher) askLine() bool {
	for _, l := range w.lines {
		if l.free {
			l.free, l.asked = false, time.Now()
			l.questions <- w.at // it has room for one
			return true
		}
	}
	return false
}

// askPool asks on a connection of the pool that is free, or becomes so while an answer is wanted.
func (w *watcher) askPool(ctx context.Context) {
	w.pooled++
	wanted, after, send := w.wanted, w.at, w.sender(ctx)
	w.tasks.Go(func() {
		limit := w.store.trips.times(5, poolLimit, lineLimit)
		waiting, cancel := context.WithTimeout(wanted, limit)
		conn := w.store.firstIdle(waiting)
		cancel()
		if conn == nil {
			send(event{err: errNoneFree})
			return
		}
		defer conn.Release()
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		a, err := ask(ctx, conn.Conn(), after)
		send(event{answer: a, err: err})
	})
}

// errNoneFree: the pool had no connection that was free.
var errNoneFree error = &dbError{text: "has no connection free"}

// makeLine begins to make another line.
func (w *watcher) makeLine(ctx context.Context) {
	now := time.Now()
	if len(w.lines) == maxLines || now.Before(w.nextLine) {
		return
	}
	w.nextLine = now.Add(linePause)
	if !slices.ContainsFunc(w.lines, func(l *line) bool { return !l.made }) {
		w.nextLine = now.Add(w.hedge())
	}
	l := &line{store: w.store, begun: now, questions: make(chan cursor, 1), send: w.sender(ctx)}
	l.wantsToListen = w.store.listen && !now.Before(w.nextListen)
	ctx, l.hangUp = context.WithCancel(ctx)
	w.lines = append(w.lines, l)
	w.tasks.Go(func() { l.run(ctx) })
}

func (w *watcher) sender(ctx context.Context) func(event) {
	return func(e event) {
		select {
		case w.events <- e:
		case <-ctx.Done():
		}
	}
}

func (w *watcher) hear(ctx context.Context, e event) {
	if e.line == nil {
		w.pooled--
	} else if !slices.Contains(w.lines, e.line) {
		return // it was given up
	}
	switch {
	case e.err != nil:
		w.hearFailure(ctx, e)
	case e.answer != nil:
		w.hearAnswer(e)
	case e.noticed:
		if !w.asking { // else the question is put after what the notification is about
			w.next = w.begun.Add(pollAtMost)
		}
	default:
		w.hearMade(e.line)
	}
}

func (w *watcher) hearAnswer(e event) {
	a := e.answer
	if e.line != nil {
		e.line.free = true
		w.settleOn(e.line)
	}
	w.store.trips.add(a.trip)
	if !a.clock.IsZero() {
		w.store.clock.read(a.clock, a.asked, a.trip)
	}
	if !w.take(a) {
		if w.asking {
			w.askLine() // of the line that is free again: the answer that is wanted is still to come
		}
		return
	}
	w.refused, w.why = 0, nil
	w.noteAnswer()
	if w.asking {
		w.asking, w.next = false, a.asked.Add(pollEvery)
		w.unwanted()
	}
	if a.more() {
		w.next = time.Now()
	} else if a.asked.After(w.synced) {
		w.synced = a.asked
		w.to.Synced(a.asked)
	}
	if e.line == nil && !w.hasLine() {
		w.doWithout()
	}
}

// noteAnswer says that the database is there.
func (w *watcher) noteAnswer() {
	now := time.Now()
	w.store.answered.Store(&now)
	w.store.away.Store(false)
}

func (w *watcher) hasLine() bool {
	return slices.ContainsFunc(w.lines, func(l *line) bool { return l.made })
}

// doWithout takes note of an answer that came by the pool while no line could be made. There is no hurry then to make
// one.
func (w *watcher) doWithout() {
	now := time.Now()
	w.pause = min(max(2*w.pause, lineFirst), lineEvery)
	if next := now.Add(w.pause); next.After(w.nextLine) {
		w.nextLine = next
	}
	if w.pause == lineEvery && !w.warned {
		w.warned = true
		w.store.logger.Warn("the accounts database lets no connection be made to hear of changes on; " +
			"it is asked for them on those of requests")
	}
}

// take reports what an answer says, and moves the cursor. It reports false for an answer that says nothing certain,
// because another came first that went further.
func (w *watcher) take(a *answer) bool {
	if a.missed {
		if a.after != w.at {
			return false
		}
		w.at = a.newest
		w.store.logger.Warn("changes of other servers were missed; everything known is asked for again")
		w.to.ChangesMissed()
		return true
	}
	news, ok := a.list.after(w.at)
	if !ok {
		return false
	}
	for _, c := range news {
		switch c.kind {
		case accountDeleted:
			w.to.AccountDeleted(c.subject, c.version)
		case grantEnded:
			w.to.GrantEnded(c.subject)
		case keysChanged:
			if c.version == keyGone {
				w.to.KeyRemoved(c.subject)
			}
			w.to.KeysChanged()
		}
		w.at = cursor{c.id, c.nonce}
	}
	for _, known := range a.accounts {
		w.to.AccountChanged(known)
	}
	for _, known := range a.organizations {
		w.to.OrganizationChanged(known)
	}
	return true
}

func (w *watcher) hearFailure(ctx context.Context, e event) {
	if e.refused && e.line.begun.After(w.refusedAt) {
		w.refused++
		w.refusedAt = time.Now()
	}
	again := min(retryFirst<<min(max(w.refused-1, 0), 8), retryEvery)
	if e.line != nil {
		w.lose(e.line, e.err, again)
	}
	if !w.asking {
		if len(w.lines) == 0 {
			w.makeLine(ctx)
		}
		return
	}
	if e.err != errNoneFree && e.err != errListen {
		now := time.Now()
		w.why, w.whyAt = e.err, now
		if soon := now.Add(again); soon.Before(w.next) {
			w.next = soon
		}
	}
	// A connection that breaks says nothing about the next one, and a database that says no is there.
	waiting := w.pooled > 0 || slices.ContainsFunc(w.lines, func(l *line) bool { return !l.free })
	if !waiting && w.refused > 1 && isAway(w.why) {
		w.notSynced(w.why)
	}
}

func (w *watcher) notSynced(err error) {
	w.store.away.Store(isAway(err))
	w.to.NotSynced(err)
}

// hearMade takes a line that is connected now, unless there is one already.
func (w *watcher) hearMade(l *line) {
	w.pause, w.nextLine = 0, time.Time{}
	if slices.ContainsFunc(w.lines, func(other *line) bool { return other.free }) {
		w.giveUp(l)
		return
	}
	l.made, l.free = true, true
	if w.warned {
		w.warned = false
		w.store.logger.Info("the accounts database lets a connection be made to hear of changes on again")
	}
	if w.asking {
		w.askLine()
	}
}

// settleOn keeps a line that has answered, and gives up those that were to answer in its place.
func (w *watcher) settleOn(l *line) {
	for _, other := range slices.Clone(w.lines) {
		if other != l {
			w.giveUp(other)
		}
	}
}

func (w *watcher) giveUp(l *line) {
	l.hangUp()
	if !l.made {
		w.nextLine = time.Time{} // it was for the sake of this one
	}
	w.lines = slices.DeleteFunc(w.lines, func(other *line) bool { return other == l })
}

// lose takes note of a line that broke, or could not be made, and is not to be tried again before a pause.
func (w *watcher) lose(l *line, err error, pause time.Duration) {
	w.giveUp(l)
	switch {
	case err == errListen:
		w.nextListen = time.Now().Add(listenPause)
		w.store.logger.Debug("the accounts database does not answer LISTEN; changes arrive by polling")
	case !l.made:
		w.nextLine = time.Now().Add(pause)
	}
}
