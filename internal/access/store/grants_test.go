package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func addGrant(t testing.TB, s *Store, n int, client, server string, limit int) (ended int) {
	t.Helper()
	return must(s.AddGrant(context.Background(), newGrant(n, client, server), hashOf("refresh", n), limit))
}

func TestGrants(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		ctx, want := t.Context(), newGrant(1, "sa_1", "sa_2")
		must(s.AddGrant(ctx, want, hashOf("refresh", 1), 10))
		same(t, "grant", want, must(s.Grant(ctx, want.ID)))
		same(t, "by refresh token", want, must(s.GrantByRefresh(ctx, hashOf("refresh", 1))))
		_, err := s.GrantByRefresh(ctx, hashOf("refresh", 2))
		is(t, "an unknown refresh token", account.ErrNotFound, err)
		_, err = s.AddGrant(ctx, want, hashOf("refresh", 3), 10)
		is(t, "a taken id", account.ErrExists, err)
		_, err = s.AddGrant(ctx, newGrant(2, "sa_1", "sa_2"), hashOf("refresh", 1), 10)
		is(t, "a taken token", account.ErrExists, err)
		for range 2 {
			is(t, "EndGrant", nil, s.EndGrant(ctx, want.ID))
		}
		_, err = s.Grant(ctx, want.ID)
		is(t, "an ended grant", account.ErrNotFound, err)
		_, err = s.GrantByRefresh(ctx, hashOf("refresh", 1))
		is(t, "its refresh token", account.ErrNotFound, err)
	})
}

// TestGrantLimit: the oldest grants of a pair end first, and those of other pairs stay.
func TestGrantLimit(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		const id = "sa_000001"
		create(t, s, newAccount(1, "org"))
		addGrant(t, s, 1000, id, "sa_2", 3)
		addGrant(t, s, 1001, "sa_2", id, 3)
		live := func(ids ...int) (live []int) {
			for _, n := range ids {
				if _, err := s.Grant(t.Context(), fmt.Sprintf("gr_%06d", n)); err == nil {
					live = append(live, n)
				}
			}
			return live
		}
		for n := range 6 {
			same(t, "ended", max(0, min(1, n-2)), addGrant(t, s, n, id, id, 3))
		}
		same(t, "live", []int{3, 4, 5, 1000, 1001}, live(0, 1, 2, 3, 4, 5, 1000, 1001))
		// A grant that ended otherwise makes room. A lower limit takes effect with the next grant.
		is(t, "EndGrant", nil, s.EndGrant(t.Context(), "gr_000004"))
		same(t, "ended when there is room", 0, addGrant(t, s, 6, id, id, 3))
		same(t, "ended for a lower limit", 3, addGrant(t, s, 7, id, id, 1))
		same(t, "live", []int{7}, live(3, 5, 6, 7))
		errs := together(20, func(i int) error {
			_, err := s.AddGrant(context.Background(), newGrant(100+i, id, id), hashOf("refresh", 100+i), 5)
			return err
		})
		var all []int
		for n := range 20 {
			all = append(all, 100+n)
		}
		if there := live(append(all, 7)...); count(errs, nil) != 20 || len(there) != 5 {
			t.Errorf("after 20 concurrent ones, %v are live: %v", there, errs)
		}
		must(s.DeleteAccount(t.Context(), id, nil))
	})
}

// TestRotate: a used token can be used again within RetryWindow, by a client that lost the response, and not later. The
// oldest tokens of a grant are forgotten.
func TestRotate(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		const id = "gr_000000"
		ctx := t.Context()
		addGrant(t, s, 0, "sa_1", "sa_1", 10)
		rotate := func(what string, want error, grant string, old, next int) {
			t.Helper()
			is(t, what, want, s.RotateGrant(ctx, grant, hashOf("refresh", old), hashOf("refresh", next)))
		}
		age := func(token int, d time.Duration) {
			hash := hashOf("refresh", token)
			run(t, s, "UPDATE maps_refresh_tokens SET used_at = $2 WHERE hash = $1", hash[:], s.Now().Add(-d).UnixMicro())
		}
		rotate("the first use", nil, id, 0, 1)
		rotate("a retry", nil, id, 0, 2)
		for n := range 3 {
			_, err := s.GrantByRefresh(ctx, hashOf("refresh", n))
			is(t, fmt.Sprintf("token %d", n), nil, err)
		}
		rotate("a taken token", account.ErrExists, id, 1, 2)
		rotate("another grant", account.ErrNotFound, "gr_1", 1, 3)
		rotate("an unknown token", account.ErrNotFound, id, 9, 3)
		age(0, account.RetryWindow-2*time.Second)
		rotate("a late retry", nil, id, 0, 3)
		age(0, account.RetryWindow+time.Second)
		rotate("a later one", account.ErrReused, id, 0, 4)
		g, err := s.GrantByRefresh(ctx, hashOf("refresh", 0))
		is(t, "its grant", account.ErrReused, err)
		same(t, "its grant", id, g.ID)
		for n := 1; n < 4; n++ {
			rotate("a successor", nil, id, n, 10+n)
		}
		errs := together(8, func(i int) error {
			return s.RotateGrant(context.Background(), id, hashOf("refresh", 11), hashOf("refresh", 100+i))
		})
		if count(errs, nil) != 8 {
			t.Errorf("concurrent retries: %v", errs)
		}
		// After as many rotations as a grant remembers:
		run(t, s, "UPDATE maps_refresh_tokens SET number = $1 WHERE number = 3", int64(maxRotated+1))
		rotate("the next one", nil, id, 100, 200)
		for token, known := range map[int]bool{0: false, 1: false, 11: true, 100: true, 200: true} {
			if _, err := s.GrantByRefresh(ctx, hashOf("refresh", token)); errors.Is(err, account.ErrNotFound) == known {
				t.Errorf("token %d: %v", token, err)
			}
		}
	})
}

func TestSweepGrants(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		const expired = sweepStep + 10
		addGrant(t, s, 0, "sa_1", "sa_1", 1)
		run(t, s, "UPDATE maps_grants SET expires_at = $1", time.Now().Add(-time.Minute).UnixMicro())
		run(t, s, `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO maps_grants (`+grantColumns+`) SELECT id || n.i, organization, client_account, server_account,
			client_generation, server_generation, scopes, created_at, expires_at FROM maps_grants, n`, int64(expired))
		run(t, s, "UPDATE maps_grant_pairs SET grants = $1", int64(expired))
		addGrant(t, s, expired, "sa_1", "sa_1", expired+1)
		same(t, "swept", expired, must(s.SweepGrants(t.Context())))
		must(s.Grant(t.Context(), fmt.Sprintf("gr_%06d", expired)))
		same(t, "ended when there is room again", 0, addGrant(t, s, expired+1, "sa_1", "sa_1", 2))
	})
}

func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		a, b, c := newKey("a", account.KeyAccess, 1), newKey("b", account.KeyUser, 2), newKey("c", account.KeyAccess, 3)
		sealed := a
		sealed.Sealed, sealed.Private = true, []byte("sealed")
		for _, want := range [][]account.Key{{a}, {a, b, c}, {sealed, c}, {}} {
			got, err := s.UpdateKeys(t.Context(), func([]account.Key) ([]account.Key, error) { return want, nil })
			is(t, "UpdateKeys", nil, err)
			same(t, "keys", want, got)
			same(t, "stored keys", want, must(s.Keys(t.Context())))
		}
		// Of several calls that find no key, one makes it.
		errs := together(6, func(i int) error {
			_, err := s.UpdateKeys(context.Background(), func(keys []account.Key) ([]account.Key, error) {
				if len(keys) > 0 {
					return keys, nil
				}
				return []account.Key{newKey(fmt.Sprint(i), account.KeyAccess, i)}, nil
			})
			return err
		})
		if keys := must(s.Keys(t.Context())); count(errs, nil) != 6 || len(keys) != 1 {
			t.Errorf("%v, and the keys %v", errs, keys)
		}
	})
}
