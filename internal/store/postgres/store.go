// Package postgres keeps accounts, grants, signing keys and usage in a PostgreSQL database, or in one that speaks its
// protocol, for several servers that share it.
//
// Nothing is expected of the database but transactions and row locks: advisory locks, notifications, prepared
// statements and settings of a session do not survive a pooler that hands connections on after each transaction, and
// other databases lack some of them.
package postgres

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
	"github.com/mapsedge/caddy-maps/internal/store"
)

const (
	// callTimeout bounds every call of the Store, waiting for a connection included. On a slow link it is six round
	// trips, of which a change takes two and a connection that has to be made again three.
	callTimeout = 2 * time.Second
	// closeTimeout is longer than any call on a link that is not slow.
	closeTimeout = 3 * time.Second
	// attempts is how often a call is tried when connections break under it.
	attempts = 4
	// openPatience is how long Open tries again where a database refuses because it is just starting, and openLimit how
	// long it waits for one that says nothing. Connecting over a slow link takes up to ten round trips.
	openPatience = 5 * time.Second
	openLimit    = 15 * time.Second
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

// Store is a store.Store in a database, and an account.Watcher.
type Store struct {
	pool   *pgxpool.Pool
	logger *zap.Logger
	listen bool
	start  cursor // the last change before the store was opened
	clock  clock
	trips  trips
	// away is set while not even the watcher can reach the database. Calls then fail at once, instead of each waiting
	// for itself.
	away atomic.Bool
	// answered is when the watcher had its last answer, or began; nil while there is no watcher.
	answered atomic.Pointer[time.Time]
	// turn is closed when the watcher has the connection that it is waiting for; nil while it waits for none. Calls wait
	// for that.
	turn      atomic.Pointer[chan struct{}]
	retention time.Duration
	once      sync.Once
}

// Open connects to a database and brings its tables up to date. A database of a newer version is refused and left as
// it is. No error holds a part of the connection string.
func Open(ctx context.Context, cfg *pgxpool.Config, options Options) (*Store, error) {
	s := &Store{logger: options.Logger, listen: options.Listen, retention: retention}
	if s.logger == nil {
		s.logger = zap.NewNop()
	}
	cfg = cfg.Copy()
	cfg.ShouldPing = s.shouldPing
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, asDBError(err)
	}
	s.pool = pool
	ctx, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
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
			return s.begin(ctx, conn)
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

// begin finds out where the changes stand, what time it is, and how far away the database is.
func (s *Store) begin(ctx context.Context, conn *pgx.Conn) error {
	var said time.Time
	asked := time.Now()
	err := conn.QueryRow(ctx, "SELECT id, nonce, clock_timestamp() FROM maps_changes ORDER BY id DESC LIMIT 1").
		Scan(&s.start.id, &s.start.nonce, &said)
	if err != nil {
		return asDBError(err)
	}
	trip := time.Since(asked)
	s.clock.read(said, asked, trip)
	for range s.trips.list {
		s.trips.add(trip)
	}
	return nil
}

// shouldPing tests connections that have not been used for a while, unless that costs more than it saves.
func (s *Store) shouldPing(_ context.Context, p pgxpool.ShouldPingParams) bool {
	return p.IdleDuration > time.Second && s.trips.times(1, 0, pingTimeout) < pingTimeout/3
}

// Close releases the connections when the calls that use them have ended. Calls that come later fail. It does not
// wait for a database that is away to say goodbye.
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

// call runs a function on a connection, and again on others while connections break. It is not given up when the
// caller goes away, since that would break the connection.
func (s *Store) call(ctx context.Context, run func(ctx context.Context, conn *pgx.Conn) error) error {
	return s.callWithin(ctx, s.trips.times(6, callTimeout, openLimit), run)
}

func (s *Store) callWithin(ctx context.Context, limit time.Duration,
	run func(ctx context.Context, conn *pgx.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return asDBError(err)
	}
	if s.away.Load() {
		return errAway
	}
	deadline := time.Now().Add(limit)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(deadline) {
		deadline = earlier
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	began := time.Now()
	for attempt := 1; ; attempt++ {
		err := s.on(ctx, func(conn *pgx.Conn) error { return run(ctx, conn) })
		if errors.Is(err, context.DeadlineExceeded) {
			s.suspect(began)
		}
		if err == nil || attempt == attempts || !mayRepeat(err) || ctx.Err() != nil {
			return err
		}
		if attempt > 1 {
			time.Sleep(time.Duration(attempt) * 10 * time.Millisecond)
		}
	}
}

// suspect takes note of a call that waited in vain. If the watcher has not been answered in all that time either,
// others need not wait as long to find out.
func (s *Store) suspect(began time.Time) {
	if last := s.answered.Load(); last != nil && last.Before(began) && time.Since(began) > silence {
		s.away.Store(true)
	}
}

// on runs a function on a connection of the pool.
func (s *Store) on(ctx context.Context, run func(conn *pgx.Conn) error) error {
	if turn := s.turn.Load(); turn != nil {
		select {
		case <-*turn:
		case <-ctx.Done():
			return asDBError(ctx.Err())
		}
	}
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
	_ store.Store     = (*Store)(nil)
	_ account.Watcher = (*Store)(nil)
)
