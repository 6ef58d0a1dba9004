package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const (
	// sweepStep is the number of expired grants, or of rows of old usage, that one transaction removes.
	sweepStep = 1000
	// maxRotated is the number of rotations after which a token is forgotten: one month of one every 15 minutes.
	maxRotated = 3000
)

// AddGrant implements account.Store. Concurrent calls for the same pair of accounts are serialized by its row.
func (s *Store) AddGrant(ctx context.Context, g account.Grant, refresh account.Hash,
	limit int) (ended int, err error) {
	err = s.write(ctx, func(t *tx) error {
		n, err := first(t, func(n *int) []any { return []any{number(n)} },
			`INSERT INTO maps_grant_pairs (client_account, server_account, grants) VALUES ($1, $2, 1)
			ON CONFLICT (client_account, server_account) DO UPDATE SET grants = maps_grant_pairs.grants + 1
			RETURNING grants`, g.ClientAccount, g.ServerAccount)
		if err != nil {
			return err
		}
		if _, err := t.exec(insert("maps_grants", grantColumns, 1), grantFields(&g)...); err != nil {
			return err
		}
		if err := t.addRefreshToken(refresh, g.ID, 0); err != nil {
			return err
		}
		if ended = max(0, min(n-limit, sweepStep)); ended == 0 {
			return nil
		}
		t.changed(g.Organization)
		ended, err = t.endGrants(`SELECT id FROM maps_grants WHERE client_account = $1 AND server_account = $2
			ORDER BY id LIMIT $3`, g.ClientAccount, g.ServerAccount, int64(ended))
		return err
	})
	return ended, err
}

func (t *tx) addRefreshToken(token account.Hash, grant string, rotation int) error {
	_, err := t.exec(insert("maps_refresh_tokens", refreshTokenColumns, 1), token[:], grant, int64(rotation), int64(0))
	return err
}

// endGrants removes the grants whose ids a query selects, and returns how many there were.
func (t *tx) endGrants(selected string, args ...any) (ended int, err error) {
	type pair struct{ client, server string }
	gone, err := list(t, func(p *pair) []any { return []any{text(&p.client), text(&p.server)} },
		"DELETE FROM maps_grants WHERE id IN ("+selected+") RETURNING client_account, server_account", args...)
	if err != nil {
		return 0, err
	}
	pairs := make(map[pair]int64)
	for _, p := range gone {
		pairs[p]++
	}
	// In the same order on all servers, to prevent deadlocks.
	for _, p := range slices.SortedFunc(maps.Keys(pairs), func(a, b pair) int {
		return strings.Compare(a.client+"\x00"+a.server, b.client+"\x00"+b.server)
	}) {
		const update = "UPDATE maps_grant_pairs SET grants = grants - $3 WHERE client_account = $1 AND server_account = $2"
		if _, err := t.exec(update, p.client, p.server, pairs[p]); err != nil {
			return 0, err
		}
	}
	return len(gone), nil
}

// Grant implements account.Store.
func (s *Store) Grant(ctx context.Context, id string) (account.Grant, error) {
	return readFirst(ctx, s, grantFields, "SELECT "+grantColumns+" FROM maps_grants WHERE id = $1", id)
}

// refreshToken is a refresh token, as it is stored.
type refreshToken struct {
	grant    string
	rotation int
	used     int64 // when it was replaced, in microseconds; 0 if it was not
}

func refreshTokenFields(r *refreshToken) []any {
	return []any{text(&r.grant), number(&r.rotation), number(&r.used)}
}

const selectRefreshToken = "SELECT grant_id, number, used_at FROM maps_refresh_tokens WHERE hash = $1"

// reused reports whether a token was replaced longer than RetryWindow ago, or in the future by a clock that was set
// back since.
func (r *refreshToken) reused(now time.Time) bool {
	return r.used != 0 && now.Sub(time.UnixMicro(r.used)).Abs() > account.RetryWindow
}

// GrantByRefresh implements account.Store.
func (s *Store) GrantByRefresh(ctx context.Context, refresh account.Hash) (g account.Grant, err error) {
	err = s.read(ctx, func(t *tx) error {
		token, err := first(t, refreshTokenFields, selectRefreshToken, refresh[:])
		if err != nil {
			return err
		}
		if g, err = first(t, grantFields, "SELECT "+grantColumns+" FROM maps_grants WHERE id = $1", token.grant); err != nil {
			return err
		}
		if token.reused(s.Now()) {
			return account.ErrReused
		}
		return nil
	})
	return g, err
}

// RotateGrant implements account.Store.
func (s *Store) RotateGrant(ctx context.Context, id string, old, next account.Hash) error {
	return s.write(ctx, func(t *tx) error {
		token, err := first(t, refreshTokenFields, selectRefreshToken+t.forUpdate, old[:])
		now := s.Now()
		switch {
		case err != nil:
			return err
		case token.grant != id:
			return account.ErrNotFound
		case token.reused(now):
			return account.ErrReused
		}
		if token.used == 0 {
			if _, err := t.exec("UPDATE maps_refresh_tokens SET used_at = $2 WHERE hash = $1", old[:],
				now.UnixMicro()); err != nil {
				return err
			}
		}
		if err := t.addRefreshToken(next, id, token.rotation+1); err != nil {
			return err
		}
		if forgotten := token.rotation - maxRotated; forgotten >= 0 {
			_, err = t.exec("DELETE FROM maps_refresh_tokens WHERE grant_id = $1 AND number <= $2", id, int64(forgotten))
		}
		return err
	})
}

// EndGrant implements account.Store.
func (s *Store) EndGrant(ctx context.Context, id string) error {
	return s.write(ctx, func(t *tx) error {
		organization, err := list(t, func(name *string) []any { return []any{text(name)} },
			"SELECT organization FROM maps_grants WHERE id = $1", id)
		if err != nil || len(organization) == 0 {
			return err
		}
		t.changed(organization[0])
		_, err = t.endGrants("$1", id)
		return err
	})
}

// SweepGrants implements account.Store. It changes no revision, since cached tokens expire with their grants.
func (s *Store) SweepGrants(ctx context.Context) (swept int, err error) {
	for {
		var n int
		err := s.write(ctx, func(t *tx) (err error) {
			n, err = t.endGrants("SELECT id FROM maps_grants WHERE expires_at <= $1 ORDER BY expires_at, id LIMIT $2",
				s.Now().UnixMicro(), int64(sweepStep))
			return err
		})
		swept += n
		if err != nil || n < sweepStep {
			return swept, err
		}
	}
}
