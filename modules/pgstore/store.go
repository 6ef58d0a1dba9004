// Package pgstore keeps accounts, grants and signing keys in a PostgreSQL database, or in one that speaks its protocol, for
// several servers that share it.
//
// Nothing is expected of the database but transactions and row locks: advisory locks, notifications, prepared statements and
// settings of a session do not survive a pooler that hands connections on after each transaction, and other databases lack
// some of them.
package pgstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// callTimeout bounds every call of the Store, waiting for a connection included.
	callTimeout = 2 * time.Second
	// closeTimeout is longer than any call.
	closeTimeout = 3 * time.Second
	// attempts is how often a call is tried when connections break under it.
	attempts = 4
	// openPatience is how long Open waits for a database that is just starting.
	openPatience = 5 * time.Second
	// retention is for how long changes can be asked for. Who was away for longer forgets all that it knows.
	retention = time.Hour
)

// Options are what the connection string does not say.
type Options struct {
	// Listen is whether to use notifications where the database has them.
	Listen bool
	// Logger is for what happens between calls.
	Logger *zap.Logger
}

// Store is an account.Store in a database, and an account.Watcher.
type Store struct {
	pool   *pgxpool.Pool
	logger *zap.Logger
	listen bool
	start  cursor // the last change before the store was opened
	// away is set while not even the watcher can reach the database. Calls then fail at once, instead of each waiting for itself.
	away atomic.Bool
	// watched is set while there is a watcher.
	watched   atomic.Bool
	retention time.Duration
	once      sync.Once
}

// Open connects to a database and brings its tables up to date. A database of a newer version is refused and left as it is. No
// error holds a part of the connection string.
func Open(ctx context.Context, cfg *pgxpool.Config, options Options) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg.Copy())
	if err != nil {
		return nil, asDBError(err)
	}
	s := &Store{pool: pool, logger: options.Logger, listen: options.Listen, retention: retention}
	if s.logger == nil {
		s.logger = zap.NewNop()
	}
	if err := s.prepare(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// prepare tries for a while: servers and database are often started together.
func (s *Store) prepare(ctx context.Context) error {
	patience := time.Now().Add(openPatience)
	for {
		err := s.on(ctx, func(conn *pgx.Conn) error {
			if err := migrate(ctx, conn); err != nil {
				return err
			}
			var err error
			s.start, err = newest(ctx, conn)
			return err
		})
		if err == nil || !isAway(err) || time.Now().After(patience) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Close releases the connections when the calls that use them have ended. Calls that come later fail. It does not wait for a
// database that is away to say goodbye.
func (s *Store) Close() error {
	s.once.Do(func() {
		closed := make(chan struct{})
		go func() {
			s.pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(closeTimeout):
		}
	})
	return nil
}

// call runs a function on a connection, and again on others while connections break. It is not given up when the caller goes
// away, since that would break the connection.
func (s *Store) call(ctx context.Context, run func(ctx context.Context, conn *pgx.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return asDBError(err)
	}
	if s.away.Load() {
		return errAway
	}
	deadline := time.Now().Add(callTimeout)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(deadline) {
		deadline = earlier
	}
	return s.callUntil(ctx, deadline, run)
}

func (s *Store) callUntil(ctx context.Context, deadline time.Time, run func(ctx context.Context, conn *pgx.Conn) error) error {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := s.on(ctx, func(conn *pgx.Conn) error { return run(ctx, conn) })
		if err == nil || attempt == attempts || !mayRepeat(err) || ctx.Err() != nil {
			return err
		}
		if attempt > 1 {
			time.Sleep(time.Duration(attempt) * 10 * time.Millisecond)
		}
	}
}

func (s *Store) on(ctx context.Context, run func(conn *pgx.Conn) error) error {
	err := s.withConn(ctx, run)
	if errors.Is(err, context.DeadlineExceeded) && s.watched.Load() {
		// Others need not wait as long to find out. The watcher says when it is over.
		s.away.Store(true)
	}
	return err
}

func (s *Store) withConn(ctx context.Context, run func(conn *pgx.Conn) error) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return asDBError(err)
	}
	defer conn.Release()
	return run(conn.Conn())
}

// query asks one question that changes nothing. each is called for every row.
func (s *Store) query(ctx context.Context, sql string, each func(row pgx.Row) error, args ...any) error {
	return s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return queryOn(ctx, conn, sql, each, args...)
	})
}

func queryOn(ctx context.Context, conn *pgx.Conn, sql string, each func(row pgx.Row) error, args ...any) error {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return asDBError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return asDBError(err)
		}
	}
	return asDBError(rows.Err())
}

// Interface guards
var (
	_ account.Store   = (*Store)(nil)
	_ account.Watcher = (*Store)(nil)
)
