package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const (
	// callTimeout bounds every call, waiting for a connection included.
	callTimeout = 10 * time.Second
	// closeTimeout bounds the wait for connections that are in use.
	closeTimeout = 3 * time.Second
	// openTimeout bounds the attempts to connect at the start: servers and database are often started together.
	openTimeout = 25 * time.Second
	// attempts is how often a transaction is tried that the database refuses because of others at the same time.
	attempts = 4
	// defaultMaxConns leaves room for several servers at a database of 100 connections.
	defaultMaxConns = 8
	// connectTimeout bounds one attempt to connect to a host, unless the connection string does.
	connectTimeout = 5 * time.Second
)

// errDSN does not say more, because what cannot be parsed may hold a password anywhere.
var errDSN = errors.New("the connection string cannot be used: it is neither a URL such as " +
	"postgres://user@host/database nor keywords such as host=… user=… dbname=…, or a file that it names cannot be read")

// ParseDSN reads a connection string, and sets what it leaves open. A password that is not empty replaces that of the
// connection string. The error holds no part of either.
func ParseDSN(dsn, password string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errDSN
	}
	conn := cfg.ConnConfig
	if password != "" {
		conn.Password = password
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = defaultMaxConns
	}
	if !strings.Contains(dsn, "default_query_exec_mode") {
		// Nothing stays behind on a connection, for poolers that hand it on after each transaction.
		conn.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if !strings.Contains(dsn, "target_session_attrs") {
		// A replica is behind: an account that it calls active may be suspended.
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "caddy-maps"
	}
	return cfg, nil
}

// postgres is a database that several servers share.
type postgres struct {
	pool *pgxpool.Pool
	// reach is canceled when the watch cannot reach the database any more: calls that wait for it fail, and so do new
	// ones until there is another.
	reach atomic.Pointer[reach]
	clock atomic.Pointer[reading]
	feed  feed
}

type reach struct {
	context.Context
	cancel context.CancelFunc
}

func newReach() *reach {
	ctx, cancel := context.WithCancel(context.Background())
	return &reach{ctx, cancel}
}

// reading is what the clock of the database said, and when by the clock of this machine, which includes a monotonic
// reading.
type reading struct{ said, at time.Time }

// postgresSchema are the tables that SQLite does not need: what each server changed, for the others to see. The row of
// the counter is locked until the commit, so ids are committed in their order.
var postgresSchema = []string{
	`CREATE TABLE maps_changes (
		id INTEGER PRIMARY KEY,
		subject TEXT NOT NULL,
		made_at timestamptz NOT NULL DEFAULT now()
	)`,
	`CREATE TABLE maps_change_counter (value INTEGER NOT NULL)`,
	`INSERT INTO maps_change_counter VALUES (0)`,
}

// OpenPostgres connects to a database and makes or updates its tables. Tables of a newer version are refused and left
// as they are.
func OpenPostgres(ctx context.Context, cfg *pgxpool.Config, logger *zap.Logger) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, postgresError(err)
	}
	db := &postgres{pool: pool}
	db.reach.Store(newReach())
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		if err = db.prepare(ctx); err == nil {
			return newStore(db, logger), nil
		}
		if !isAway(err) || !sleep(ctx, 200*time.Millisecond) {
			pool.Close()
			return nil, err
		}
	}
}

// isAway reports whether an error says that the database cannot be reached, or is just starting or stopping (57P…).
func isAway(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(refused.Code, "57P")
	}
	_, ok := errors.AsType[*Error](err)
	return ok
}

func (db *postgres) prepare(ctx context.Context) error {
	err := db.fill(ctx, func(t *tx) error { return migrate(t, postgresDialect.Replace, postgresSchema) })
	if err != nil {
		return err
	}
	return db.feed.begin(ctx, db)
}

func (db *postgres) now() time.Time {
	last := db.clock.Load()
	return last.said.Add(time.Since(last.at))
}

// call bounds how long run may take.
func (db *postgres) call(ctx context.Context, run func(context.Context) error) error {
	reach := db.reach.Load()
	if reach.Err() != nil {
		return errAway
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(reach, cancel)()
	err := run(ctx)
	if err != nil && reach.Err() != nil {
		return errAway
	}
	return err
}

var errAway = &Error{err: errors.New("it does not answer")}

// read tries once more if its connection was cut, as by a failover or a pooler.
func (db *postgres) read(ctx context.Context, run func(*tx) error) error {
	once := func(ctx context.Context) error {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return postgresError(err)
		}
		defer conn.Release()
		return run(&tx{ctx: ctx, querier: pgQuerier{conn}})
	}
	return db.call(ctx, func(ctx context.Context) error {
		err := once(ctx)
		if err != nil && isAway(err) && ctx.Err() == nil {
			err = once(ctx)
		}
		return err
	})
}

func (db *postgres) snapshot(ctx context.Context, run func(*tx) error) error {
	return db.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, run)
}

// write repeats a transaction that PostgreSQL refused because of others at the same time. It is not given up when the
// caller goes away while it commits, since the caller must know the outcome.
func (db *postgres) write(ctx context.Context, run func(*tx) error) error {
	return db.call(context.WithoutCancel(ctx), func(ctx context.Context) error {
		for attempt := 1; ; attempt++ {
			err := db.transaction(ctx, pgx.TxOptions{}, func(t *tx) error {
				t.forUpdate = " FOR UPDATE"
				if err := run(t); err != nil {
					return err
				}
				return t.announce()
			})
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && attempt < attempts &&
				slices.Contains([]string{"40001", "40P01"}, refused.Code) { // serialization_failure, deadlock_detected
				continue
			}
			return err
		}
	})
}

func (db *postgres) fill(ctx context.Context, run func(*tx) error) error {
	return db.transaction(ctx, pgx.TxOptions{}, run)
}

func (db *postgres) transaction(ctx context.Context, options pgx.TxOptions, run func(*tx) error) error {
	var own error // of run: not all of its errors come from the database
	err := pgx.BeginTxFunc(ctx, db.pool, options, func(transaction pgx.Tx) error {
		own = run(&tx{ctx: ctx, querier: pgQuerier{transaction}})
		return own
	})
	if own != nil {
		return own
	}
	return postgresError(err)
}

// close does not wait for a database that is away to say goodbye.
func (db *postgres) close() error {
	closed := make(chan struct{})
	go func() {
		db.feed.close()
		db.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
	return nil
}

// pgQuerier runs statements on a connection or in a transaction.
type pgQuerier struct {
	on interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	}
}

func (q pgQuerier) exec(ctx context.Context, sql string, args []any) (int64, error) {
	tag, err := q.on.Exec(ctx, sql, args...)
	return tag.RowsAffected(), postgresError(err)
}

func (q pgQuerier) query(ctx context.Context, sql string, args []any) (rows, error) {
	found, err := q.on.Query(ctx, sql, args...)
	return pgRows{found}, postgresError(err)
}

// lock needs no session of its own: the lock ends with the transaction, through poolers too.
func (q pgQuerier) lock(ctx context.Context, name string) error {
	_, err := q.exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", []any{"caddy-maps " + name})
	return err
}

type pgRows struct{ pgx.Rows }

func (r pgRows) Scan(to ...any) error { return postgresError(r.Rows.Scan(to...)) }
func (r pgRows) Err() error           { return postgresError(r.Rows.Err()) }

// postgresError turns an error of pgx into one of this package. pgx leaves passwords out of its errors.
func postgresError(err error) error {
	if err == nil || errors.Is(err, account.ErrDamaged) {
		return err
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && refused.Code == "23505": // unique_violation
		return account.ErrExists
	case ok && (refused.Code == "XX001" || refused.Code == "XX002"): // data_corrupted, index_corrupted
		return &Error{err: err, damaged: true}
	case errors.Is(err, puddle.ErrClosedPool):
		return &Error{err: errClosed}
	}
	return &Error{err: err}
}
