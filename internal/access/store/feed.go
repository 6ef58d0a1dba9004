package store

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// channel is the channel of notifications, which only say that there are changes to read.
	channel = "caddy_maps_changes"
	// pollEvery is the interval at which changes are read without a notification.
	pollEvery = 500 * time.Millisecond
	// pollTimeout is the timeout of one poll, after which a connection counts as broken.
	pollTimeout = 2 * time.Second
	// reconnectTimeout is the timeout of one attempt to connect.
	reconnectTimeout = 10 * time.Second
	// reconnectAfter is the pause after the first failure. It doubles up to maxReconnect.
	reconnectAfter = 100 * time.Millisecond
	maxReconnect   = time.Second
	// changesKept is how long changes are kept, and pruneEvery about how often older ones are removed.
	changesKept = "1 hour"
	pruneEvery  = time.Minute
	// changesPage is the number of changes that are read at once.
	changesPage = 1000
)

// announce records what a transaction changes, and notifies the other servers when it commits. It locks the counter
// until the commit, so that ids are committed in their order.
func (t *tx) announce() error {
	for _, subject := range t.changes {
		if _, err := t.exec(`WITH counter AS (UPDATE maps_change_counter SET value = value + 1 RETURNING value)
			INSERT INTO maps_changes (id, subject) SELECT value, $1::text FROM counter`, subject); err != nil {
			return err
		}
	}
	if len(t.changes) == 0 {
		return nil
	}
	_, err := t.exec("SELECT pg_notify($1, '')", channel)
	return err
}

// feed reads the changes of all servers on a separate connection.
type feed struct {
	conn *pgx.Conn
	last int64 // the id of the last change that was read
}

// begin connects, and reads the clock and the id of the last change.
func (f *feed) begin(ctx context.Context, db *postgres) (err error) {
	ctx, cancel := context.WithTimeout(ctx, reconnectTimeout)
	defer cancel()
	if f.conn, err = pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig); err != nil {
		return postgresError(err)
	}
	if _, err := f.conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return postgresError(err)
	}
	var said time.Time
	asked := time.Now()
	err = f.conn.QueryRow(ctx, "SELECT clock_timestamp(), coalesce(max(id), 0) FROM maps_changes").Scan(&said, &f.last)
	if err == nil {
		db.clock.Store(&reading{said, asked})
	}
	return postgresError(err)
}

// watch implements database. After a lost connection, changes may have been missed, and after a failover even undone,
// so all revisions are raised.
func (db *postgres) watch(ctx context.Context, s *Store) {
	pause, prune := reconnectAfter, time.Now()
	for ctx.Err() == nil {
		connected := db.feed.conn != nil
		err := db.feed.next(ctx, db, s)
		if err == nil && time.Now().After(prune) {
			prune = time.Now().Add(pruneEvery/2 + rand.N(pruneEvery))
			err = db.feed.prune(ctx)
		}
		switch {
		case err == nil:
			pause = reconnectAfter
			if db.reach.Load().Err() != nil {
				db.reach.Store(newReach())
			}
			s.health.answered(s.logger)
		case ctx.Err() != nil:
			return
		case connected && !pgconn.Timeout(err):
			db.feed.close() // only this connection may be broken
		default:
			db.reach.Load().cancel()
			db.feed.close()
			s.health.failed(s.logger, err)
			sleep(ctx, pause)
			pause = min(2*pause, maxReconnect)
		}
	}
}

// next waits for a notification or pollEvery, and reads the changes.
func (f *feed) next(ctx context.Context, db *postgres, s *Store) error {
	if f.conn == nil {
		if err := f.begin(ctx, db); err != nil {
			return err
		}
		s.revisions.missed()
	} else {
		waiting, cancel := context.WithTimeout(ctx, pollEvery)
		_, err := f.conn.WaitForNotification(waiting)
		cancel()
		if err != nil && !pgconn.Timeout(err) {
			return postgresError(err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	for more := true; more; {
		n, err := f.page(ctx, db, s)
		if err != nil {
			return postgresError(err)
		}
		more = n == changesPage
	}
	return nil
}

// page reads the clock and the next changes.
func (f *feed) page(ctx context.Context, db *postgres, s *Store) (n int, err error) {
	asked := time.Now()
	rows, err := f.conn.Query(ctx, `SELECT clock_timestamp(), coalesce(id, 0), coalesce(subject, '')
		FROM (SELECT 1) AS now LEFT JOIN
		(SELECT id, subject FROM maps_changes WHERE id > $1 ORDER BY id LIMIT $2) AS new ON true
		ORDER BY id`, f.last, int64(changesPage))
	if err != nil {
		return 0, err
	}
	var said time.Time
	var id int64
	var subject string
	_, err = pgx.ForEachRow(rows, []any{&said, &id, &subject}, func() error {
		if id == 0 {
			return nil
		}
		if n++; id != f.last+int64(1) {
			s.revisions.missed() // changes in between were removed before they were read
		}
		f.last = id
		s.revisions.changed(subject)
		return nil
	})
	if err == nil {
		db.clock.Store(&reading{said, asked})
	}
	return n, err
}

func (f *feed) close() {
	if f.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = f.conn.Close(ctx)
		f.conn = nil
	}
}

// prune removes old changes, but not the last one.
func (f *feed) prune(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	_, err := f.conn.Exec(ctx, `DELETE FROM maps_changes WHERE id IN (SELECT id FROM maps_changes
		WHERE made_at < now() - interval '`+changesKept+`' AND id < (SELECT max(id) FROM maps_changes) LIMIT 10000)`)
	return postgresError(err)
}
