// Package store keeps accounts, publishable keys, grants, signing keys and usage in an SQL database: an SQLite file for
// one server (OpenSQLite), or PostgreSQL for several servers that share it (OpenPostgres). Both have the same tables
// and statements; the interface database hides the differences. It does not decide which changes are allowed: callers
// pass functions that do.
//
// Start with schema.go for the tables, and with sqlite.go and postgres.go for how a change becomes durable.
package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// Store implements account.Store and usage.Store with a database.
type Store struct {
	db     database
	logger *zap.Logger
	revisions
	health health
	aging  agingClock

	stop  context.CancelFunc
	tasks sync.WaitGroup
	once  sync.Once
}

// database is SQLite or PostgreSQL. Statements name their parameters $1, $2, and so on.
type database interface {
	// read runs statements that change nothing. In a snapshot they all see the same state.
	read(ctx context.Context, run func(*tx) error) error
	snapshot(ctx context.Context, run func(*tx) error) error
	// write runs a transaction, and makes it durable before it returns nil. It may call run several times.
	write(ctx context.Context, run func(*tx) error) error
	// fill is a write that may take longer than other calls. It calls run once.
	fill(ctx context.Context, run func(*tx) error) error
	// watch polls the database twice a second until ctx ends. It reports to the store whether the database responds and
	// what other servers have changed.
	watch(ctx context.Context, s *Store)
	now() time.Time
	close() error
}

// tx is a transaction, or a connection for statements that only read.
type tx struct {
	ctx context.Context
	querier
	// forUpdate is the end of a SELECT that locks its rows until the transaction ends.
	forUpdate string
	// changes are the organizations that the transaction changes, with keysChanged for the signing keys.
	changes []string
	// touched is whether the transaction has changed a row.
	touched bool
}

// keysChanged represents the signing keys in a list of changed organizations. No organization has an empty name.
const keysChanged = ""

type querier interface {
	exec(ctx context.Context, sql string, args []any) (rows int64, err error)
	query(ctx context.Context, sql string, args []any) (rows, error)
	// lock waits until no other transaction holds the lock of this name, and holds it until the transaction ends.
	lock(ctx context.Context, name string) error
}

type rows interface {
	Next() bool
	Scan(to ...any) error
	Err() error
	Close()
}

func (t *tx) exec(sql string, args ...any) (rows int64, err error) {
	rows, err = t.querier.exec(t.ctx, sql, args)
	t.touched = t.touched || rows > 0
	return rows, err
}

// each reads each row into fields, and then calls a function.
func (t *tx) each(fields []any, row func() error, sql string, args ...any) error {
	rows, err := t.querier.query(t.ctx, sql, args)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// list reads all rows. fields returns the fields of a row.
func list[T any](t *tx, fields func(*T) []any, sql string, args ...any) (all []T, err error) {
	var one T
	err = t.each(fields(&one), func() error {
		all = append(all, one)
		return nil
	}, sql, args...)
	return all, err
}

// first reads the first row, or returns account.ErrNotFound.
func first[T any](t *tx, fields func(*T) []any, sql string, args ...any) (one T, err error) {
	all, err := list(t, fields, sql, args...)
	if err == nil && len(all) == 0 {
		return one, account.ErrNotFound
	}
	if err != nil {
		return one, err
	}
	return all[0], nil
}

// read runs statements that change nothing.
func (s *Store) read(ctx context.Context, run func(*tx) error) error {
	err := s.db.read(ctx, run)
	if errors.Is(err, account.ErrDamaged) {
		s.health.damaged(s.logger, err)
	}
	return err
}

// write runs a transaction. It raises the revisions of what it changes even after an error: a commit whose response was
// lost may have succeeded.
func (s *Store) write(ctx context.Context, run func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var changes []string
	var touched bool
	err := s.db.write(ctx, func(t *tx) error {
		t.changes, t.touched = nil, false
		err := run(t)
		changes, touched = t.changes, t.touched
		return err
	})
	for _, subject := range changes {
		s.revisions.changed(subject)
	}
	if touched || err != nil { // without a change, success does not show that the disk has room
		s.health.wrote(s.logger, err)
	}
	return err
}

func newStore(db database, logger *zap.Logger) *Store {
	ctx, stop := context.WithCancel(context.Background())
	s := &Store{db: db, logger: logger, stop: stop}
	s.health.opened = time.Now()
	s.aging.begin(db.now())
	s.tasks.Go(func() { db.watch(ctx, s) })
	return s
}

// Close waits for running calls and closes the database. Later calls fail.
func (s *Store) Close() (err error) {
	s.once.Do(func() {
		s.stop()
		s.tasks.Wait()
		err = s.db.close()
	})
	return err
}

// Now returns the time by the clock of the database: this machine's for SQLite, that of the database server for
// PostgreSQL.
func (s *Store) Now() time.Time { return s.db.now() }

var errClosed = errors.New("the store is closed")

// revisions count changes as account.Store describes.
type revisions struct {
	organizations sync.Map // name → *atomic.Uint64
	keys          atomic.Uint64
}

// Revision implements account.Store.
func (r *revisions) Revision(organization string) *atomic.Uint64 {
	if known, ok := r.organizations.Load(organization); ok {
		return known.(*atomic.Uint64)
	}
	known, _ := r.organizations.LoadOrStore(organization, new(atomic.Uint64))
	return known.(*atomic.Uint64)
}

// KeysRevision implements account.Store.
func (r *revisions) KeysRevision() *atomic.Uint64 { return &r.keys }

// changed raises the revision of an organization if it was ever read. Callers read the revision before the store, so
// nothing that they know depends on one that was not read.
func (r *revisions) changed(subject string) {
	if subject == keysChanged {
		r.keys.Add(1)
	} else if known, ok := r.organizations.Load(subject); ok {
		known.(*atomic.Uint64).Add(1)
	}
}

// missed raises all revisions, for changes that were missed.
func (r *revisions) missed() {
	r.keys.Add(1)
	r.organizations.Range(func(_, known any) bool {
		known.(*atomic.Uint64).Add(1)
		return true
	})
}

// Interface guards
var (
	_ account.Store = (*Store)(nil)
	_ usage.Store   = (*Store)(nil)
)
