package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
)

// maxBatch is the maximum number of changes in one commit.
const maxBatch = 256

// writer makes all changes of an SQLite file, on one connection. Changes that wait during a commit share the next
// commit, so that the rate of changes is not limited to the disk's rate of syncs. A change that fails does not affect
// the others.
type writer struct {
	session *session
	db      *sql.DB
	present func() error // returns an error if changes would be lost
	calls   chan *call
	closing chan struct{}
	closed  chan struct{}
}

// call is one change.
type call struct {
	run   func(*tx) error
	taken atomic.Bool // by the writer, or by a caller that gives up
	err   error
	done  chan struct{}
}

func newWriter(session *session, db *sql.DB, present func() error) *writer {
	w := &writer{session: session, db: db, present: present, calls: make(chan *call), closing: make(chan struct{}),
		closed: make(chan struct{})}
	go w.loop()
	return w
}

// do returns when the change is on disk or has failed. If the context ends, it gives up a change that is still waiting,
// but waits for the result of one that has begun.
func (w *writer) do(ctx context.Context, run func(*tx) error) error {
	c := &call{run: run, done: make(chan struct{})}
	select {
	case w.calls <- c:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closed:
		return &Error{err: errClosed}
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if c.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-c.done
	}
	return c.err
}

func (w *writer) close() {
	close(w.closing)
	<-w.closed
}

func (w *writer) loop() {
	defer close(w.closed)
	for {
		select {
		case first := <-w.calls:
			w.commit(w.gather(first))
		case <-w.closing:
			_ = w.session.Close()
			_ = w.db.Close()
			return
		}
	}
}

// gather returns the changes that are waiting.
func (w *writer) gather(first *call) []*call {
	batch := []*call{first}
	for len(batch) < maxBatch {
		select {
		case c := <-w.calls:
			batch = append(batch, c)
		default:
			return batch
		}
	}
	return batch
}

func (w *writer) commit(batch []*call) {
	n := 0
	for _, c := range batch {
		if c.taken.CompareAndSwap(false, true) {
			batch[n] = c
			n++
		}
	}
	batch = batch[:n]
	err := w.present()
	if err == nil && n > 0 {
		// A savepoint for each change would copy every page that it changes. In most batches no change fails.
		err = w.session.transaction(context.Background(), "BEGIN IMMEDIATE", func(t *tx) error {
			for _, c := range batch {
				if c.err = c.protected(t); c.err != nil && n > 1 {
					return errAgain
				} else if c.err != nil {
					return c.err
				}
			}
			return nil
		})
	}
	if errors.Is(err, errAgain) {
		err = w.session.transaction(context.Background(), "BEGIN IMMEDIATE", func(t *tx) error {
			for _, c := range batch {
				if err := c.attempt(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = w.present() // before anything is acknowledged
	}
	for _, c := range batch {
		if err != nil {
			c.err = err // even "not found" may depend on another change of the transaction
		}
		close(c.done)
	}
}

// errAgain means that a change of a batch failed. The batch is repeated with a savepoint for each change.
var errAgain = errors.New("a change failed")

// attempt runs a change with a savepoint. The returned error is that of the whole transaction.
func (c *call) attempt(t *tx) error {
	if _, err := t.exec("SAVEPOINT change"); err != nil {
		return err
	}
	if c.err = c.protected(t); c.err != nil {
		if _, err := t.exec("ROLLBACK TO change"); err != nil {
			return c.err // a full disk, for example, has ended the transaction
		}
	}
	_, err := t.exec("RELEASE change")
	return err
}

// protected converts a panic of the change into an error.
func (c *call) protected(t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a change panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return c.run(t)
}

// session runs transactions on one connection, one at a time.
type session struct {
	*sql.Conn
	prepared map[string]*sql.Stmt
}

func newSession(ctx context.Context, db *sql.DB) (*session, error) {
	conn, err := db.Conn(ctx)
	return &session{conn, make(map[string]*sql.Stmt)}, sqliteError(err)
}

// Close closes the prepared statements first. SQLite keeps a connection with open statements, and checkpoints the file
// only when its last connection closes.
func (s *session) Close() error {
	for _, statement := range s.prepared {
		_ = statement.Close()
	}
	return s.Conn.Close()
}

// transaction runs a transaction that starts with the statement begin. It commits if run returns nil.
func (s *session) transaction(ctx context.Context, begin string, run func(*tx) error) error {
	if _, err := s.exec(ctx, begin, nil); err != nil {
		return err
	}
	err := run(&tx{ctx: ctx, querier: s})
	if err == nil {
		_, err = s.exec(ctx, "COMMIT", nil)
	}
	if err != nil {
		// Some errors, such as that of a full disk, end the transaction.
		_, _ = s.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

func (s *session) exec(ctx context.Context, text string, args []any) (int64, error) {
	statement, err := s.statement(ctx, text) //nolint:sqlclosecheck // session.Close closes it
	if err != nil {
		return 0, err
	}
	var result sql.Result
	if statement != nil {
		result, err = statement.ExecContext(ctx, args...)
	} else {
		result, err = s.ExecContext(ctx, sqliteText(text), args...)
	}
	if err != nil {
		return 0, sqliteError(err)
	}
	n, err := result.RowsAffected()
	return n, sqliteError(err)
}

func (s *session) query(ctx context.Context, text string, args []any) (rows, error) {
	statement, err := s.statement(ctx, text) //nolint:sqlclosecheck // session.Close closes it
	switch {
	case err != nil:
		return nil, err
	case statement == nil:
		return found(s.QueryContext(ctx, sqliteText(text), args...))
	}
	return found(statement.QueryContext(ctx, args...))
}

// statement returns nil for statements that are not kept prepared: long ones and those of the schema.
func (s *session) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if len(text) > maxPrepared || strings.HasPrefix(text, "CREATE") || strings.HasPrefix(text, "PRAGMA") {
		return nil, nil
	}
	if known := s.prepared[text]; known != nil {
		return known, nil
	}
	made, err := s.PrepareContext(ctx, sqliteText(text))
	if err != nil {
		return nil, sqliteError(err)
	}
	s.prepared[text] = made
	return made, nil
}

func (s *session) lock(context.Context, string) error { return nil } // there is one writer
