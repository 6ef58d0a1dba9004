package bolt

import (
	"context"
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Export implements account.Exporter.
func (s *Store) Export(ctx context.Context, each func(account.Record) error) error {
	return s.view(ctx, func(v *view) error {
		keys, err := keysOf(v)
		if err != nil {
			return err
		}
		for i := range keys {
			if err := each(account.Record{Key: &keys[i]}); err != nil {
				return err
			}
		}
		err = v.each(accountsBucket, nil, func(_, record []byte) error {
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
		err = v.each(grantsBucket, nil, func(_, record []byte) error {
			g, err := exportGrant(v, record)
			if err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			return each(account.Record{Grant: g})
		})
		if err != nil {
			return err
		}
		err = v.each(quotasBucket, nil, func(_, record []byte) error {
			q, err := decodeOrganization(record)
			if err != nil {
				return err
			}
			return each(account.Record{Organization: &q})
		})
		if err != nil {
			return err
		}
		return exportUsage(ctx, v, each)
	})
}

func exportGrant(v *view, record []byte) (*account.GrantRecord, error) {
	g, err := decodeGrant(record)
	if err != nil {
		return nil, err
	}
	out := &account.GrantRecord{Grant: g.Grant, Rotations: g.rotations}
	prefix := rotatedPrefix(g.ID)
	err = v.each(rotatedBucket, prefix, func(key, hash []byte) error {
		number := key[len(prefix):]
		if len(number) != 8 || len(hash) != len(account.Hash{}) {
			return errRecord
		}
		// The first rotation replaced the token with number 0.
		out.Replaced = append(out.Replaced,
			account.ReplacedToken{Hash: account.Hash(hash), Number: binary.BigEndian.Uint64(number) - 1})
		return nil
	})
	return out, err
}

// Interface guard
var _ account.Exporter = (*Store)(nil)
