package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// change is a row of maps_changes, from which servers learn what the others did. Its id is the next number of a
// counter. The counter's row stays locked until the commit, so ids are committed in their order: who has read up to
// one has missed none before it. (With ids of a sequence, a change that commits late would appear behind readers that
// have already passed.)
type change struct {
	id      int64
	kind    string
	subject string // id of an account, a grant or a key, or the name of an organization
	version uint64 // of an account: of a deleted one, higher than it ever had; keyGone of a key that was removed
	nonce   int64
}

// Kinds of changes. A kind that a server does not know comes from a newer one, and does not concern it.
const (
	accountChanged = "account"
	accountDeleted = "account deleted"
	grantEnded     = "grant ended"
	keysChanged    = "keys"
	quotasChanged  = "organization"
)

// keyGone is the version of a key that was removed. Servers of before do not look at it: they read all keys whatever
// was changed.
const keyGone = 1

// channel is that of the notifications. They say nothing but that it is worth asking.
const channel = "caddy_maps_changes"

// queue adds the change to a transaction that commits in the same message.
func (c change) queue(b *pgx.Batch) {
	b.Queue(`WITH counter AS (UPDATE maps_state SET value = value + 1 WHERE name = 'changes' RETURNING value)
		INSERT INTO maps_changes (id, kind, subject, version, nonce)
		SELECT value, $1::text, $2::text, $3::bigint, $4::bigint FROM counter`,
		c.kind, toText(c.subject), int64(c.version), newNonce())
}

func newNonce() int64 { return rand.Int64() }

// cursor is the last change that was read. Its nonce tells whether the database still is the one that it was read
// from: one that was restored, or failed over without its last changes, gives the same ids to other changes.
type cursor struct{ id, nonce int64 }

// pageSize is how many changes are read at once.
const pageSize = 1000

type page []change

// answer is what the database said about the changes after a cursor.
type answer struct {
	after cursor
	// asked is when the question was put, trip how long it took to be answered.
	asked time.Time
	trip  time.Duration
	// list begins with the change at the cursor and has no gap. If missed is set, there are changes of which nobody can
	// say which, and newest is the last of them.
	list   page
	missed bool
	newest cursor
	// accounts are those that the list concerns, as they are now. One that is no longer there has a deletion among the
	// changes, in this list or later.
	accounts []account.Account
	// organizations are the quotas of those that the list concerns, as they are now.
	organizations []account.OrganizationQuotas
	// clock is what the database's clock said; zero where nothing was in the list.
	clock time.Time
}

// more reports whether there may be further changes.
func (a *answer) more() bool { return len(a.list) == pageSize }

// ask reads the change at the cursor again, those after it, and the accounts and quotas that they concern. It takes
// one round trip.
func ask(ctx context.Context, conn *pgx.Conn, after cursor) (*answer, error) {
	a := &answer{after: after, asked: time.Now()}
	batch := new(pgx.Batch)
	batch.Queue(`SELECT id, kind, subject, version, nonce, clock_timestamp()
		FROM maps_changes WHERE id >= $1 ORDER BY id LIMIT $2`,
		after.id, int64(pageSize)).Query(func(rows pgx.Rows) error {
		a.trip = time.Since(a.asked)
		var c change
		var version int64
		var clock time.Time
		_, err := pgx.ForEachRow(rows, []any{&c.id, &c.kind, &c.subject, &version, &c.nonce, &clock}, func() error {
			c.subject, c.version = fromText(c.subject), uint64(version)
			if a.list = append(a.list, c); len(a.list) == 1 {
				a.clock = clock
			}
			return nil
		})
		return err
	})
	// After the changes, and so what these led to at least.
	const concerned = ` IN (SELECT subject FROM
		(SELECT kind, subject FROM maps_changes WHERE id > $1 ORDER BY id LIMIT $2) AS changed WHERE kind = $3)`
	batch.Queue("SELECT "+accountColumns+" FROM maps_accounts WHERE id"+concerned, after.id, int64(pageSize),
		accountChanged).Query(collect(&a.accounts, scanAccount))
	batch.Queue("SELECT "+quotasColumns+" FROM maps_organizations WHERE organization"+concerned, after.id,
		int64(pageSize), quotasChanged).Query(collect(&a.organizations, scanQuotas))
	err := conn.SendBatch(ctx, batch).Close()
	if err == nil && !a.list.follows(after) {
		// What follows cannot be told from what was missed. From here on nothing is.
		a.missed, a.list = true, nil
		a.newest, err = newest(ctx, conn)
	}
	return a, asDBError(err)
}

// collect makes the reader of rows that are appended to a list.
func collect[T any](to *[]T, scan func(pgx.Row) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return err
			}
			*to = append(*to, one)
		}
		return rows.Err()
	}
}

// newest returns the last change that was committed. There always is one.
func newest(ctx context.Context, conn *pgx.Conn) (c cursor, err error) {
	err = conn.QueryRow(ctx, "SELECT id, nonce FROM maps_changes ORDER BY id DESC LIMIT 1").Scan(&c.id, &c.nonce)
	return c, asDBError(err)
}

// follows reports whether a page begins with the change at the cursor and has no gap.
func (p page) follows(at cursor) bool {
	if len(p) == 0 || p[0].id != at.id || p[0].nonce != at.nonce {
		return false
	}
	for i := range p {
		if p[i].id != at.id+int64(i) {
			return false
		}
	}
	return true
}

// after returns the changes behind a cursor that lies within the page.
func (p page) after(at cursor) (rest page, found bool) {
	for i := range p {
		if p[i].id == at.id {
			return p[i+1:], p[i].nonce == at.nonce
		}
	}
	return nil, false
}

const (
	pruneEvery = time.Minute
	pruneStep  = 5000
)

// prune removes changes that are older than the retention, but never the last one.
func (s *Store) prune(ctx context.Context) {
	for ctx.Err() == nil {
		var n int64
		err := s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			tag, err := conn.Exec(ctx, `DELETE FROM maps_changes WHERE id IN (
				SELECT id FROM maps_changes
				WHERE made_at < now() - $1::double precision * interval '1 second' AND id < (SELECT max(id) FROM maps_changes)
				ORDER BY id LIMIT $2)`, s.retention.Seconds(), int64(pruneStep))
			n = tag.RowsAffected()
			return asDBError(err)
		})
		if err != nil && !isAway(err) {
			s.logger.Warn("removing old changes", zap.Error(err))
		}
		if err != nil || n < pruneStep {
			return
		}
	}
}

// pruneUntil prunes from time to time. Servers that were started together do so at different moments.
func (s *Store) pruneUntil(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pruneEvery/2 + rand.N(pruneEvery)):
			s.prune(ctx)
		}
	}
}

var _ account.Watcher = (*Store)(nil)
