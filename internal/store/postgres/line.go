package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"
)

// line is a connection of the watcher's own. Between questions it listens for notifications, as an extra: nothing
// waits for that.
type line struct {
	store  *Store
	send   func(event)
	hangUp context.CancelFunc
	// questions takes one at a time, when the line is free.
	questions chan cursor
	// made, free, asked and begun belong to the watcher: whether it is connected, whether it can be asked, when it was
	// asked last, and when it began to be made.
	made, free bool
	asked      time.Time
	begun      time.Time
	// wantsToListen and listening belong to the goroutine of the line, once that runs.
	wantsToListen, listening bool
}

// event is what a watcher hears of a question or a line.
type event struct {
	line   *line // nil: a connection of the pool
	answer *answer
	err    error
	// refused: a connection could not be made.
	refused bool
	// noticed: a notification came.
	noticed bool
}

// errListen: LISTEN was not answered, which says nothing about the database.
var errListen error = &dbError{text: "did not answer LISTEN", lost: true}

// run connects, says so by an event without anything in it, and then answers questions until it breaks, which is its
// last event.
func (l *line) run(ctx context.Context) {
	conn, err := l.connect(ctx)
	if err != nil {
		l.send(event{line: l, err: err, refused: true})
		return
	}
	l.send(event{line: l})
	l.send(event{line: l, err: l.serve(ctx, conn)})
}

// connect makes a connection, or takes one from the pool where the database lets no more be made. Calls have to do
// with the others then.
func (l *line) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, l.store.pool.Config().ConnConfig)
	if err == nil {
		return conn, nil
	}
	if err = asDBError(err); !isRefused(err) || l.store.pool.Stat().TotalConns() < 2 {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, l.store.trips.times(5, poolLimit, lineLimit))
	defer cancel()
	if pooled := l.store.firstIdle(limited); pooled != nil {
		return pooled.Hijack(), nil
	}
	return nil, err
}

func (l *line) serve(ctx context.Context, conn *pgx.Conn) error {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 100*time.Millisecond)
		defer cancel()
		_ = conn.Close(ctx) // it may be broken
	}()
	for {
		after, err := l.nextQuestion(ctx, conn)
		if err != nil {
			return asDBError(err)
		}
		limited, cancel := context.WithTimeout(ctx, lineLimit)
		a, err := ask(limited, conn, after)
		cancel()
		if err != nil {
			return err
		}
		l.send(event{line: l, answer: a})
		if l.wantsToListen {
			if err := l.listen(ctx, conn); err != nil {
				return err
			}
		}
	}
}

func (l *line) listen(ctx context.Context, conn *pgx.Conn) error {
	l.wantsToListen = false
	ctx, cancel := context.WithTimeout(ctx, l.store.trips.times(4, listenLimit, lineLimit))
	defer cancel()
	_, err := conn.Exec(ctx, "listen "+channel)
	switch {
	case err == nil:
		l.listening = true
		return nil
	case ctx.Err() != nil:
		return errListen
	case conn.IsClosed():
		return asDBError(err)
	}
	l.store.logger.Debug("the accounts database has no notifications; changes arrive by polling",
		zap.Error(asDBError(err)))
	return nil
}

// nextQuestion waits for a question, and reports notifications until it comes.
func (l *line) nextQuestion(ctx context.Context, conn *pgx.Conn) (after cursor, err error) {
	if !l.listening {
		select {
		case after = <-l.questions:
			return after, nil
		case <-ctx.Done():
			return after, ctx.Err()
		}
	}
	for {
		waiting, stop := context.WithCancel(ctx)
		asked := make(chan bool, 1)
		go func() {
			select {
			case after = <-l.questions:
				asked <- true
				stop() // the connection does not break when waiting on it is given up
			case <-waiting.Done():
				asked <- false
			}
		}()
		_, err := conn.WaitForNotification(waiting)
		stop()
		if <-asked {
			return after, nil
		}
		if err != nil {
			return after, err
		}
		l.send(event{line: l, noticed: true})
	}
}
