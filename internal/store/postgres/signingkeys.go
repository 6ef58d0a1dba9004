package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Keys implements account.Store.
func (s *Store) Keys(ctx context.Context) (keys []account.Key, err error) {
	err = s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		keys = nil
		return queryOn(ctx, conn, "SELECT "+keyColumns+" FROM maps_keys ORDER BY created_at, created_ns, id",
			func(row pgx.Row) error {
				k, err := scanKey(row)
				keys = append(keys, k)
				return err
			})
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// AddFirstKey implements account.Store. Servers that start at the same time add their keys one after another, by the
// lock of a row that they have in common.
func (s *Store) AddFirstKey(ctx context.Context, k account.Key) (account.Key, error) {
	var stands account.Key
	var found bool
	err := s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			b.Queue("SELECT value FROM maps_state WHERE name = 'keys' FOR UPDATE")
			b.Queue("SELECT "+keyColumns+" FROM maps_keys WHERE key_use = $1 AND algorithm = $2 ORDER BY created_at, "+
				"created_ns, id LIMIT 1", string(k.Use), k.Algorithm).
				QueryRow(optional(&found, func(row pgx.Row) (err error) {
					stands, err = scanKey(row)
					return err
				}))
		},
		write: func(b *pgx.Batch) ([]change, error) {
			if found {
				return nil, nil
			}
			stands = k
			b.Queue(insert("maps_keys", keyColumns, 7), keyValues(&k)...)
			return []change{{kind: keysChanged, subject: k.ID}}, nil
		},
	})
	if err != nil {
		return account.Key{}, err
	}
	return stands, nil
}

// AddNextKey implements account.Store. Servers that rotate at the same time do so one after another, by the same lock.
func (s *Store) AddNextKey(ctx context.Context, k account.Key, after string) (account.Key, error) {
	var newest account.Key
	var found bool
	err := s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			b.Queue("SELECT value FROM maps_state WHERE name = 'keys' FOR UPDATE")
			b.Queue("SELECT "+keyColumns+` FROM maps_keys WHERE key_use = $1 AND algorithm = $2
				ORDER BY created_at DESC, created_ns DESC, id DESC LIMIT 1`, string(k.Use), k.Algorithm).
				QueryRow(optional(&found, func(row pgx.Row) (err error) {
					newest, err = scanKey(row)
					return err
				}))
		},
		write: func(b *pgx.Batch) ([]change, error) {
			if found && newest.ID != after {
				return nil, nil
			}
			newest = k
			b.Queue(insert("maps_keys", keyColumns, 7), keyValues(&k)...)
			return []change{{kind: keysChanged, subject: k.ID}}, nil
		},
	})
	if err != nil {
		return account.Key{}, err
	}
	return newest, nil
}

// DeleteKey implements account.Store.
func (s *Store) DeleteKey(ctx context.Context, id string) error {
	var gone bool
	return s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			b.Queue("DELETE FROM maps_keys WHERE id = $1", toText(id)).Exec(func(tag pgconn.CommandTag) error {
				gone = tag.RowsAffected() > 0
				return nil
			})
		},
		write: func(*pgx.Batch) ([]change, error) {
			if !gone {
				return nil, nil
			}
			return []change{{kind: keysChanged, subject: id, version: keyGone}}, nil
		},
	})
}

// ReplaceKeys implements account.Store. Servers that replace the same keys at the same time do so one after another,
// by the same lock.
func (s *Store) ReplaceKeys(ctx context.Context, old []string, next []account.Key) (removed []string, err error) {
	type kind struct{ use, algorithm string }
	var left map[kind]bool
	err = s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			removed, left = nil, make(map[kind]bool)
			b.Queue("SELECT value FROM maps_state WHERE name = 'keys' FOR UPDATE")
			b.Queue("DELETE FROM maps_keys WHERE id = ANY($1::text[]) RETURNING id",
				toTexts(old)).Query(func(rows pgx.Rows) (err error) {
				removed, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (id string, err error) {
					err = row.Scan(&id)
					return fromText(id), err
				})
				return err
			})
			b.Queue("SELECT DISTINCT key_use, algorithm FROM maps_keys").Query(func(rows pgx.Rows) error {
				var k kind
				_, err := pgx.ForEachRow(rows, []any{&k.use, &k.algorithm}, func() error {
					left[k] = true
					return nil
				})
				return err
			})
		},
		write: func(b *pgx.Batch) (changes []change, err error) {
			for _, id := range removed {
				changes = append(changes, change{kind: keysChanged, subject: id, version: keyGone})
			}
			for _, k := range next {
				of := kind{string(k.Use), k.Algorithm}
				if left[of] {
					continue
				}
				left[of] = true
				b.Queue(insert("maps_keys", keyColumns, 7), keyValues(&k)...)
				changes = append(changes, change{kind: keysChanged, subject: k.ID})
			}
			return changes, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// ReplaceKey implements account.Store. The key is the same, only kept in another way, so nobody has to be told.
func (s *Store) ReplaceKey(ctx context.Context, k account.Key) error {
	var found bool
	return s.write(ctx, transaction{
		read: func(b *pgx.Batch) {
			b.Queue("SELECT 1 FROM maps_keys WHERE id = $1 AND key_use = $2 AND algorithm = $3 FOR UPDATE",
				toText(k.ID), string(k.Use), k.Algorithm).
				QueryRow(optional(&found, func(row pgx.Row) error { return row.Scan(new(int)) }))
		},
		write: func(b *pgx.Batch) ([]change, error) {
			if !found {
				return nil, account.ErrNotFound
			}
			b.Queue("UPDATE maps_keys SET private = $2, sealed = $3 WHERE id = $1", toText(k.ID), privateOf(&k), k.Sealed)
			return nil, nil
		},
	})
}
