package boltstore

import (
	"bytes"
	"context"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Export implements account.Exporter.
func (s *Store) Export(ctx context.Context, each func(account.Record) error) error {
	return s.read(ctx, func(tx *bbolt.Tx) error {
		keys, err := keysOf(tx)
		if err != nil {
			return err
		}
		for i := range keys {
			if err := each(account.Record{Key: &keys[i]}); err != nil {
				return err
			}
		}
		err = tx.Bucket(accountsBucket).ForEach(func(_, record []byte) error {
			a, err := decodeAccount(record)
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return each(account.Record{Account: &a})
		})
		if err != nil {
			return err
		}
		return tx.Bucket(grantsBucket).ForEach(func(_, record []byte) error {
			g, err := exportGrant(tx, record)
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return each(account.Record{Grant: g})
		})
	})
}

func exportGrant(tx *bbolt.Tx, record []byte) (*account.GrantRecord, error) {
	g, err := decodeGrant(record)
	if err != nil {
		return nil, err
	}
	out := &account.GrantRecord{Grant: g.Grant, Rotations: g.rotations}
	prefix := rotatedPrefix(g.ID)
	c := tx.Bucket(rotatedBucket).Cursor()
	for key, hash := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, hash = c.Next() {
		number := key[len(prefix):]
		if len(number) != 8 || len(hash) != len(account.Hash{}) {
			return nil, errRecord
		}
		// The first rotation replaced the token with number 0.
		out.Replaced = append(out.Replaced, account.ReplacedToken{Hash: account.Hash(hash), Number: binary.BigEndian.Uint64(number) - 1})
	}
	return out, nil
}

// Interface guard
var _ account.Exporter = (*Store)(nil)
