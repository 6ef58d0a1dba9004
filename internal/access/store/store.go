// Package store keeps accounts, grants, signing keys and usage in an SQL database: an SQLite file for one server
// (OpenSQLite), or PostgreSQL for several servers that share it (OpenPostgres). Both have the same tables and the same
// statements. What differs between them is behind the interface database.
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

// Store is an account.Store and a usage.Store in a database.
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
	// read runs statements that change nothing. In a snapshot all of them see the same moment.
	read(ctx context.Context, run func(*tx) error) error
	snapshot(ctx context.Context, run func(*tx) error) error
	// write runs a transaction, and makes it durable before it returns nil. run may be repeated.
	write(ctx context.Context, run func(*tx) error) error
	// fill is a write that may take longer than a call, and is run once.
	fill(ctx context.Context, run func(*tx) error) error
	// watch asks the database twice a second until ctx ends, and tells the store whether it answered and what other
	// servers changed.
	watch(ctx context.Context, s *Store)
	now() time.Time
	close() error
}

// tx is a transaction, or a connection for statements that only read.
type tx struct {
	ctx context.Context
	querier
	// forUpdate ends a SELECT whose rows are locked until the transaction ends.
	forUpdate string
	// changes are the organizations that the transaction changes, and keysChanged for the signing keys.
	changes []string
	// touched is whether a statement has changed a row.
	touched bool
}

// keysChanged stands in a list of changed organizations for the signing keys. No organization has an empty name.
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

// each calls a function for every row, after it has been read into fields.
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

// list reads rows; fields are those of one of them.
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

// write runs a transaction. Even if it fails, the revisions of what it changed rise: a commit whose answer was lost may
// have taken place.
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
	if touched || err != nil { // what changes no row needs no room on the disk
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

// Close waits for the calls that are under way and closes the database. Later calls fail.
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

// revisions count changes, as account.Store describes.
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

// changed does nothing for an organization without a number: what depends on it asks for the number first, and then
// reads the store.
func (r *revisions) changed(subject string) {
	if subject == keysChanged {
		r.keys.Add(1)
	} else if known, ok := r.organizations.Load(subject); ok {
		known.(*atomic.Uint64).Add(1)
	}
}

// missed is for changes of which it is not known what they changed.
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
