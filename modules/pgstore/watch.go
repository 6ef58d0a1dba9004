package pgstore

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// pollEvery is how often changes are asked for. It is what makes them arrive within a second; notifications only make it
	// sooner.
	pollEvery = 500 * time.Millisecond
	// pollAtMost is the least time between two questions, however many notifications come.
	pollAtMost = 20 * time.Millisecond
	// quickPoll is how long an answer on a connection that was good a moment ago may take, before another connection is tried:
	// the first may lead nowhere, and the second has to answer within the second, too.
	quickPoll = 200 * time.Millisecond
	// slowPoll is how long a new connection and its first answer may take.
	slowPoll = 1500 * time.Millisecond
	// retryFirst and retryEvery are the first and the longest pause between attempts when the database cannot be asked.
	retryFirst = 20 * time.Millisecond
	retryEvery = 250 * time.Millisecond
)

// Watch implements account.Watcher. It has a connection of its own, so that no number of requests can hold it up.
func (s *Store) Watch(ctx context.Context, to account.Listener) {
	var pruner sync.WaitGroup
	pruner.Go(func() { s.pruneUntil(ctx) })
	defer pruner.Wait()

	w := &watcher{store: s, to: to, at: s.start}
	defer w.disconnect()
	s.watched.Store(true)
	defer func() {
		s.watched.Store(false)
		s.away.Store(false)
	}()
	failures := 0
	for ctx.Err() == nil {
		asked := time.Now()
		err := w.poll(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			failures = 0
			s.away.Store(false)
			to.Synced(asked)
			w.wait(ctx, asked)
		default:
			failures++
			// One connection that breaks says nothing about the next. Silence does: it has lasted for a while.
			if failures > 1 || errors.Is(err, context.DeadlineExceeded) {
				s.away.Store(isAway(err))
				to.NotSynced(err)
			}
			sleep(ctx, min(retryFirst<<min(failures-1, 8), retryEvery))
		}
	}
}

type watcher struct {
	store *Store
	to    account.Listener
	at    cursor
	conn  *pgx.Conn // nil: none yet, or it broke
	// listening is whether notifications can come on conn.
	listening bool
	last      time.Duration // how long the last answer took
}

// poll reads the changes on the connection that there is, and else, or if that does not answer, on a new one.
func (w *watcher) poll(ctx context.Context) error {
	began := time.Now()
	if w.conn != nil {
		quick := min(max(quickPoll, 3*w.last), slowPoll)
		if w.tryRead(ctx, quick) == nil {
			w.last = time.Since(began)
			return nil
		}
		w.disconnect()
		began = time.Now()
	}
	err := w.connect(ctx)
	if err == nil {
		err = w.tryRead(ctx, slowPoll)
	}
	if err != nil {
		w.disconnect()
	}
	w.last = time.Since(began)
	return err
}

func (w *watcher) tryRead(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return w.readChanges(ctx)
}

func (w *watcher) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slowPoll)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, w.store.pool.Config().ConnConfig)
	if err != nil {
		return asDBError(err)
	}
	w.conn, w.listening = conn, false
	if !w.store.listen {
		return nil
	}
	if _, err = conn.Exec(ctx, "listen "+channel); err == nil {
		w.listening = true
		return nil
	}
	if conn.IsClosed() {
		return asDBError(err)
	}
	w.store.logger.Debug("the accounts database has no notifications; changes arrive by polling", zap.Error(asDBError(err)))
	return nil
}

func (w *watcher) disconnect() {
	if w.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = w.conn.Close(ctx) // it may be broken
	w.conn = nil
}

// wait returns when it is time to ask again, or before, when a notification says that it is worth it.
func (w *watcher) wait(ctx context.Context, asked time.Time) {
	if !w.listening {
		sleep(ctx, pollEvery-time.Since(asked))
		return
	}
	until, cancel := context.WithDeadline(ctx, asked.Add(pollEvery))
	_, err := w.conn.WaitForNotification(until)
	broken := err != nil && w.conn.IsClosed()
	cancel()
	if broken {
		w.disconnect()
	}
	sleep(ctx, pollAtMost-time.Since(asked))
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
