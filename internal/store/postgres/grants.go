package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// maxRotated is how many replaced refresh tokens of a grant are remembered: a month of one rotation every quarter of
	// an hour. An older one is unknown.
	maxRotated = 3000
	// sweepStep is how many expired grants one commit removes.
	sweepStep = 500
	// sweepTimeout bounds one step of a sweep, for which nobody waits.
	sweepTimeout = 20 * time.Second
)

// AddGrant implements account.Store. The grants of one pair of accounts are added one after another, by the lock of
// the pair's row, so that they can be counted.
func (s *Store) AddGrant(ctx context.Context, g account.Grant, limit int) (ended []string, err error) {
	client, server := toText(g.ClientAccount), toText(g.ServerAccount)
	err = s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			ended = nil
			b.Queue("INSERT INTO maps_grant_pairs (client_account, server_account) VALUES ($1, $2) ON CONFLICT DO NOTHING",
				client, server)
			b.Queue("SELECT 1 FROM maps_grant_pairs WHERE client_account = $1 AND server_account = $2 FOR UPDATE", client,
				server)
			b.Queue(`INSERT INTO maps_grants AS g (id, refresh_hash, client_account, server_account, client_generation,
				server_generation, organization, scopes, created_at, created_ns, expires_at, expires_ns, rotations)
				VALUES (`+parameters(1, 12)+`, 0)`, grantValues(&g)...)
			b.Queue("INSERT INTO maps_refresh_tokens (hash, grant_id, number) VALUES ($1, $2, 0)", g.RefreshHash[:],
				toText(g.ID))
			b.Queue(`WITH gone AS (
					DELETE FROM maps_grants WHERE id IN (
						SELECT id FROM maps_grants WHERE client_account = $1 AND server_account = $2 AND id <> $3
						ORDER BY created_at DESC, created_ns DESC, id DESC OFFSET $4)
					RETURNING id, created_at, created_ns)
				SELECT id FROM gone ORDER BY created_at, created_ns, id`,
				client, server, toText(g.ID), int64(max(limit, 1)-1)).
				Query(func(rows pgx.Rows) error {
					for rows.Next() {
						var id string
						if err := rows.Scan(&id); err != nil {
							return err
						}
						ended = append(ended, fromText(id))
					}
					return rows.Err()
				})
		},
		write: func(b *pgx.Batch) ([]change, error) {
			b.Queue("select 1") // there is something to commit
			return grantsEnded(ended), nil
		},
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

func grantsEnded(ids []string) []change {
	changes := make([]change, len(ids))
	for i, id := range ids {
		changes[i] = change{kind: grantEnded, subject: id}
	}
	return changes
}

// Grant implements account.Store.
func (s *Store) Grant(ctx context.Context, id string) (account.Grant, error) {
	return s.oneGrant(ctx, "SELECT "+grantColumns+" FROM maps_grants g WHERE g.id = $1", toText(id))
}

// GrantByRefresh implements account.Store.
func (s *Store) GrantByRefresh(ctx context.Context, refresh account.Hash) (account.Grant, error) {
	g, err := s.oneGrant(ctx, "SELECT "+grantColumns+
		" FROM maps_refresh_tokens r JOIN maps_grants g ON g.id = r.grant_id WHERE r.hash = $1", refresh[:])
	if err == nil && g.RefreshHash != refresh {
		err = account.ErrRotated
	}
	return g, err
}

func (s *Store) oneGrant(ctx context.Context, sql string, arg any) (g account.Grant, err error) {
	found := false
	err = s.query(ctx, sql, func(row pgx.Row) (err error) {
		found = true
		g, err = scanGrant(row)
		return err
	}, arg)
	switch {
	case err != nil:
		return account.Grant{}, err
	case !found:
		return account.Grant{}, account.ErrNotFound
	}
	return g, nil
}

// RotateGrant implements account.Store.
func (s *Store) RotateGrant(ctx context.Context, id string, old, next account.Hash) error {
	var found, mine, taken bool
	var present []byte
	var rotations int64
	return s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			b.Queue("SELECT refresh_hash, rotations FROM maps_grants WHERE id = $1 FOR UPDATE", toText(id)).
				QueryRow(optional(&found, func(row pgx.Row) error { return row.Scan(&present, &rotations) }))
			one := func(row pgx.Row) error { return row.Scan(new(int)) }
			// Asked after the lock is held, and so of what the last rotation left.
			b.Queue("SELECT 1 FROM maps_refresh_tokens WHERE hash = $1 AND grant_id = $2", old[:],
				toText(id)).QueryRow(optional(&mine, one))
			b.Queue("SELECT 1 FROM maps_refresh_tokens WHERE hash = $1", next[:]).QueryRow(optional(&taken, one))
		},
		write: func(b *pgx.Batch) ([]change, error) {
			switch {
			case !found || !mine:
				return nil, account.ErrNotFound
			case string(present) != string(old[:]):
				return nil, account.ErrRotated
			case taken:
				return nil, account.ErrExists
			}
			b.Queue("INSERT INTO maps_refresh_tokens (hash, grant_id, number) VALUES ($1, $2, $3)", next[:], toText(id),
				rotations+1)
			b.Queue("UPDATE maps_grants SET refresh_hash = $2, rotations = $3 WHERE id = $1", toText(id), next[:], rotations+1)
			if forgotten := rotations - maxRotated; forgotten >= 0 {
				b.Queue("DELETE FROM maps_refresh_tokens WHERE grant_id = $1 AND number <= $2", toText(id), forgotten)
			}
			return nil, nil
		},
	})
}

// EndGrant implements account.Store.
func (s *Store) EndGrant(ctx context.Context, id string) error {
	var gone bool
	return s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			b.Queue("DELETE FROM maps_grants WHERE id = $1", toText(id)).Exec(func(tag pgconn.CommandTag) error {
				gone = tag.RowsAffected() > 0
				return nil
			})
		},
		write: func(*pgx.Batch) ([]change, error) {
			if !gone {
				return nil, nil
			}
			return grantsEnded([]string{id}), nil
		},
	})
}

// SweepGrants implements account.Store. Servers that sweep at the same time take different grants. Nobody is told: no
// token outlives its grant.
func (s *Store) SweepGrants(ctx context.Context, now time.Time) (int, error) {
	at, ns := split(now)
	for swept := 0; ; {
		var n int
		err := s.callWithin(ctx, sweepTimeout, func(ctx context.Context, conn *pgx.Conn) error {
			tag, err := conn.Exec(ctx, `DELETE FROM maps_grants WHERE id IN (
				SELECT id FROM maps_grants WHERE (expires_at, expires_ns) <= ($1::timestamptz, $2::integer)
				ORDER BY expires_at, expires_ns LIMIT $3 FOR UPDATE SKIP LOCKED)`, at, ns, int64(sweepStep))
			n = int(tag.RowsAffected())
			return asDBError(err)
		})
		swept += n
		if err != nil || n < sweepStep {
			return swept, err
		}
	}
}
