package pgstore

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// change is a row of maps_changes, from which servers learn what the others did. Its id is the next number of a counter. The
// counter's row stays locked until the commit, so ids are committed in their order: who has read up to one has missed none before
// it. (With ids of a sequence, a change that commits late would appear behind readers that have already passed.)
type change struct {
	id      int64
	kind    string
	subject string // id of an account, a grant or a key
	version uint64 // of an account: of a deleted one, higher than it ever had
	nonce   int64
}

// Kinds of changes. A kind that a server does not know comes from a newer one, and does not concern it.
const (
	accountChanged = "account"
	accountDeleted = "account deleted"
	grantEnded     = "grant ended"
	keysChanged    = "keys"
)

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

// cursor is the last change that was read. Its nonce tells whether the database still is the one that it was read from: one that
// was restored, or failed over without its last changes, gives the same ids to other changes.
type cursor struct{ id, nonce int64 }

// newest returns the last change that was committed. There always is one.
func newest(ctx context.Context, conn *pgx.Conn) (c cursor, err error) {
	err = conn.QueryRow(ctx, "SELECT id, nonce FROM maps_changes ORDER BY id DESC LIMIT 1").Scan(&c.id, &c.nonce)
	return c, asDBError(err)
}

// pageSize is how many changes are read at once.
const pageSize = 1000

// readChanges reports all changes after the cursor, and moves it.
func (w *watcher) readChanges(ctx context.Context) error {
	for {
		page, err := w.page(ctx)
		if err != nil {
			return err
		}
		if !page.follows(w.at) {
			// What follows cannot be told from what was missed. From here on nothing is.
			if w.at, err = newest(ctx, w.conn); err != nil {
				return err
			}
			w.store.logger.Warn("changes of other servers were missed; everything known is asked for again")
			w.to.ChangesMissed()
			return nil
		}
		page = page[1:]
		if err := w.report(ctx, page); err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		last := page[len(page)-1]
		w.at = cursor{last.id, last.nonce}
		if len(page) < pageSize-1 {
			return nil
		}
	}
}

type page []change

// page reads the change at the cursor again, and those after it.
func (w *watcher) page(ctx context.Context) (list page, err error) {
	err = queryOn(ctx, w.conn, "SELECT id, kind, subject, version, nonce FROM maps_changes WHERE id >= $1 ORDER BY id LIMIT $2",
		func(row pgx.Row) error {
			var c change
			var version int64
			err := row.Scan(&c.id, &c.kind, &c.subject, &version, &c.nonce)
			c.subject, c.version = fromText(c.subject), uint64(version)
			list = append(list, c)
			return err
		}, w.at.id, int64(pageSize))
	return list, err
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

// report tells the listener of a page of changes.
func (w *watcher) report(ctx context.Context, list page) error {
	var changed []string
	for _, c := range list {
		switch c.kind {
		case accountChanged:
			changed = append(changed, toText(c.subject))
		case accountDeleted:
			w.to.AccountDeleted(c.subject, c.version)
		case grantEnded:
			w.to.GrantEnded(c.subject)
		case keysChanged:
			w.to.KeysChanged()
		}
	}
	if len(changed) == 0 {
		return nil
	}
	slices.Sort(changed)
	changed = slices.Compact(changed)
	// As they are now. One that is no longer there has a deletion among the changes, in this page or in a later one.
	return queryOn(ctx, w.conn, "SELECT "+accountColumns+" FROM maps_accounts WHERE id = ANY($1::text[])", func(row pgx.Row) error {
		a, err := scanAccount(row)
		if err != nil {
			return err
		}
		w.to.AccountChanged(a)
		return nil
	}, changed)
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
