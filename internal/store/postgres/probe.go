package postgres

import (
	"context"
	"crypto/rand"

	"github.com/jackc/pgx/v5"
)

// probeSize makes a row for which the table has to grow, and not only a page to be written over.
const probeSize = 16 << 10

// Probe implements account.Store. It adds a row and removes it in the same transaction, which is written and synced, on
// a replica or a database that can only be read fails, and is seen by nobody. All of it is one message: over a slow
// link the connection is soon there for requests again.
func (s *Store) Probe(ctx context.Context) error {
	value := make([]byte, probeSize)
	rand.Read(value) // never fails
	id := "probe " + rand.Text()
	return s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		b := new(pgx.Batch)
		for _, sql := range preamble {
			b.Queue(sql)
		}
		b.Queue(`INSERT INTO maps_keys (id, key_use, algorithm, private, sealed, created_at, created_ns)
			VALUES ($1, 'probe', '', $2, false, now(), 0)`, id, value)
		b.Queue("DELETE FROM maps_keys WHERE id = $1", id)
		b.Queue("commit")
		if err := conn.SendBatch(ctx, b).Close(); err != nil {
			rollback(ctx, conn)
			return asDBError(err)
		}
		return nil
	})
}
