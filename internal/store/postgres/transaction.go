package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A change takes two messages to the database and back. The first begins a transaction and reads what the change
// depends on, under row locks; the second writes, and commits. So a server that stops between the two holds the locks
// of one account or one pair at most, and not for long; the lock that all changes have in common (see change) is
// never held across the network.

// preamble begins a transaction whose locks nobody waits for forever. Settings of the transaction end with it.
var preamble = []string{
	"begin isolation level read committed",
	"set local statement_timeout = 1500",
	"set local idle_in_transaction_session_timeout = 3000",
}

// transaction is what write runs.
type transaction struct {
	// read queues the first message. What it finds is kept in variables of the caller, which every run sets anew.
	read func(b *pgx.Batch)
	// write queues the second message, and returns what others have to be told. An error, or a message without anything
	// in it, ends the transaction without a change.
	write func(b *pgx.Batch) ([]change, error)
	// patient is whether it has as long as a flush, since no request waits for it.
	patient bool
}

// write runs a transaction. When it returns nil, the change is as durable as the database makes it. Is the connection
// lost while it commits, then whether it did is not known, and the error does not match account.ErrUnchanged.
func (s *Store) write(ctx context.Context, t transaction) error {
	run := func(ctx context.Context, conn *pgx.Conn) error { return t.run(ctx, conn, s.listen) }
	if t.patient {
		return s.callWithin(ctx, flushTimeout, run)
	}
	return s.call(ctx, run)
}

func (t *transaction) run(ctx context.Context, conn *pgx.Conn, notify bool) error {
	first, begin := new(pgx.Batch), preamble
	if t.patient {
		begin = flushPreamble
	}
	for _, sql := range begin {
		first.Queue(sql)
	}
	t.read(first)
	if err := conn.SendBatch(ctx, first).Close(); err != nil {
		rollback(ctx, conn)
		return asDBError(err)
	}
	second := new(pgx.Batch)
	changes, err := t.write(second)
	if err != nil || second.Len() == 0 && len(changes) == 0 {
		rollback(ctx, conn)
		return err
	}
	for _, c := range changes {
		c.queue(second)
	}
	committed := false
	second.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() != "COMMIT" {
			return errRolledBack
		}
		committed = true
		return nil
	})
	if notify && len(changes) > 0 {
		// After the commit: where there is no such thing, nothing is lost.
		second.Queue("select pg_notify($1, '')", channel)
	}
	err = conn.SendBatch(ctx, second).Close()
	if committed {
		return nil
	}
	rollback(ctx, conn)
	return unlessRefused(asDBError(err))
}

var errRolledBack = &dbError{text: "rolled a change back", lost: true}

// unlessRefused keeps a change from being repeated if it may have taken place: only a server's word that it did not
// is good enough.
func unlessRefused(err error) error {
	e, ok := errors.AsType[*dbError](err)
	if !ok || e == errRolledBack || e.code != "" && (!e.lost || e.code == "40001" || e.code == "40P01") {
		return err
	}
	return asUnsure(err)
}

// asUnsure makes an error that does not match account.ErrUnchanged.
func asUnsure(err error) error {
	e, ok := errors.AsType[*dbError](err)
	if !ok {
		return err
	}
	unsure := *e
	unsure.lost, unsure.unsure = false, true
	return &unsure
}

// rollback makes the connection fit for others. If it fails, the pool gives the connection up.
func rollback(ctx context.Context, conn *pgx.Conn) {
	if !conn.IsClosed() && conn.PgConn().TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, "rollback")
	}
}

// optional makes the scan of a row that need not be there: found is set to whether it was.
func optional(found *bool, scan func(row pgx.Row) error) func(row pgx.Row) error {
	return func(row pgx.Row) error {
		err := scan(row)
		*found = err == nil
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	}
}
