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
	return must[int](t)(s.AddGrant(context.Background(), newGrant(n, client, server), hashOf("refresh", n), limit))
}

func TestGrants(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		want := newGrant(1, "sa_1", "sa_2")
		must[int](t)(s.AddGrant(t.Context(), want, hashOf("refresh", 1), 10))
		same(t, "grant", want, must[account.Grant](t)(s.Grant(t.Context(), want.ID)))
		same(t, "by refresh token", want, must[account.Grant](t)(s.GrantByRefresh(t.Context(), hashOf("refresh", 1))))
		_, err := s.GrantByRefresh(t.Context(), hashOf("refresh", 2))
		is(t, "an unknown refresh token", account.ErrNotFound, err)
		_, err = s.AddGrant(t.Context(), want, hashOf("refresh", 3), 10)
		is(t, "a taken id", account.ErrExists, err)
		_, err = s.AddGrant(t.Context(), newGrant(2, "sa_1", "sa_2"), hashOf("refresh", 1), 10)
		is(t, "a taken token", account.ErrExists, err)

		number := s.Revision("org").Load()
		is(t, "EndGrant", nil, s.EndGrant(t.Context(), want.ID))
		is(t, "EndGrant again", nil, s.EndGrant(t.Context(), want.ID))
		if s.Revision("org").Load() == number {
			t.Error("the revision did not rise")
		}
		_, err = s.Grant(t.Context(), want.ID)
		is(t, "an ended grant", account.ErrNotFound, err)
		_, err = s.GrantByRefresh(t.Context(), hashOf("refresh", 1))
		is(t, "its refresh token", account.ErrNotFound, err)
	})
}

// TestGrantLimit: the oldest grants of a pair end first, and those of other pairs stay.
func TestGrantLimit(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		create(t, s, newAccount(1, "org"))
		addGrant(t, s, 1000, "sa_000001", "sa_2", 3)
		addGrant(t, s, 1001, "sa_2", "sa_000001", 3)
		ended := 0
		for n := range 6 {
			ended += addGrant(t, s, n, "sa_000001", "sa_000001", 3)
		}
		live := func(n int) bool {
			_, err := s.Grant(t.Context(), fmt.Sprintf("gr_%06d", n))
			return err == nil
		}
		for n, want := range map[int]bool{0: false, 1: false, 2: false, 3: true, 4: true, 5: true, 1000: true, 1001: true} {
			if live(n) != want {
				t.Errorf("grant %d is there: %v", n, !want)
			}
		}
		// Those that ended otherwise make room.
		is(t, "EndGrant", nil, s.EndGrant(t.Context(), "gr_000004"))
		if more := addGrant(t, s, 6, "sa_000001", "sa_000001", 3); ended != 3 || more != 0 || !live(3) {
			t.Errorf("%d grants ended, and %d after there was room", ended, more)
		}
		// A lower limit takes effect with the next grant.
		if more := addGrant(t, s, 7, "sa_000001", "sa_000001", 1); more != 3 || live(6) || !live(7) {
			t.Errorf("%d grants ended for a lower limit", more)
		}
		errs := together(20, func(i int) error {
			_, err := s.AddGrant(context.Background(), newGrant(100+i, "sa_000001", "sa_000001"), hashOf("refresh", 100+i), 5)
			return err
		})
		there := 0
		for n := range 200 {
			if live(n) {
				there++
			}
		}
		if count(errs, nil) != 20 || there != 5 {
			t.Errorf("after 20 at the same time %d are there: %v", there, errs)
		}
		must[account.Account](t)(s.DeleteAccount(t.Context(), "sa_000001", nil))
	})
}

// TestRotate: a used token can be used again for RetryWindow, by a client that lost the response, and not later.
func TestRotate(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		addGrant(t, s, 0, "sa_1", "sa_1", 10)
		const id = "gr_000000"
		token := func(n int) account.Hash { return hashOf("refresh", n) }
		is(t, "the first use", nil, s.RotateGrant(t.Context(), id, token(0), token(1)))
		is(t, "a retry", nil, s.RotateGrant(t.Context(), id, token(0), token(2)))
		for n := range 3 {
			_, err := s.GrantByRefresh(t.Context(), token(n))
			is(t, fmt.Sprintf("token %d", n), nil, err)
		}
		is(t, "a taken token", account.ErrExists, s.RotateGrant(t.Context(), id, token(1), token(2)))
		is(t, "another grant", account.ErrNotFound, s.RotateGrant(t.Context(), "gr_1", token(1), token(3)))
		is(t, "an unknown token", account.ErrNotFound, s.RotateGrant(t.Context(), id, token(9), token(3)))

		age(t, s, token(0), account.RetryWindow-2*time.Second)
		is(t, "a late retry", nil, s.RotateGrant(t.Context(), id, token(0), token(3)))
		age(t, s, token(0), account.RetryWindow+time.Second)
		is(t, "after that", account.ErrReused, s.RotateGrant(t.Context(), id, token(0), token(4)))
		g, err := s.GrantByRefresh(t.Context(), token(0))
		if is(t, "its grant", account.ErrReused, err); g.ID != id {
			t.Errorf("a reused token names the grant %q", g.ID)
		}
		for n := 1; n < 4; n++ {
			is(t, "a successor", nil, s.RotateGrant(t.Context(), id, token(n), token(10+n)))
		}
		errs := together(8, func(i int) error {
			return s.RotateGrant(context.Background(), id, token(11), token(100+i))
		})
		if count(errs, nil) != 8 {
			t.Errorf("retries at the same time: %v", errs)
		}
	})
}

// age makes the use of a refresh token so much earlier.
func age(t *testing.T, s *Store, token account.Hash, d time.Duration) {
	t.Helper()
	run(t, s, "UPDATE maps_refresh_tokens SET used_at = $2 WHERE hash = $1", token[:], s.Now().Add(-d).UnixMicro())
}

// TestRotateOften: old tokens are forgotten, so that a grant does not grow without end.
func TestRotateOften(t *testing.T) {
	s := openSQLite(t, t.TempDir()+"/accounts.db")
	addGrant(t, s, 0, "sa_1", "sa_1", 10)
	for n := range maxRotated + 5 {
		is(t, "RotateGrant", nil, s.RotateGrant(t.Context(), "gr_000000", hashOf("refresh", n), hashOf("refresh", n+1)))
	}
	for n, want := range map[int]error{0: account.ErrNotFound, 4: account.ErrNotFound, 5: nil, maxRotated + 5: nil} {
		_, err := s.GrantByRefresh(t.Context(), hashOf("refresh", n))
		if want == nil && errors.Is(err, account.ErrReused) {
			err = nil // it is known, and the rotations since took longer than the time for a retry
		}
		is(t, fmt.Sprintf("token %d", n), want, err)
	}
}

func TestSweepGrants(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		const expired = sweepStep + 10
		for n := range expired {
			g := newGrant(n, "sa_1", "sa_1")
			g.ExpiresAt = time.Now().Add(-time.Minute)
			must[int](t)(s.AddGrant(t.Context(), g, hashOf("refresh", n), expired+1))
		}
		addGrant(t, s, expired, "sa_1", "sa_1", expired+1)
		if n := must[int](t)(s.SweepGrants(t.Context())); n != expired {
			t.Errorf("%d grants were swept, want %d", n, expired)
		}
		_, err := s.Grant(t.Context(), fmt.Sprintf("gr_%06d", expired))
		is(t, "the grant that has not expired", nil, err)
		// There is room again, so none ends.
		if ended := addGrant(t, s, expired+1, "sa_1", "sa_1", 2); ended != 0 {
			t.Errorf("%d grants ended", ended)
		}
	})
}

func TestKeys(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		a, b, c := newKey("a", account.KeyAccess, 1), newKey("b", account.KeyUser, 2), newKey("c", account.KeyAccess, 3)
		set := func(want ...account.Key) {
			t.Helper()
			number := s.KeysRevision().Load()
			got, err := s.UpdateKeys(t.Context(), func([]account.Key) ([]account.Key, error) { return want, nil })
			is(t, "UpdateKeys", nil, err)
			same(t, "keys", want, got)
			same(t, "stored keys", want, must[[]account.Key](t)(s.Keys(t.Context())))
			if s.KeysRevision().Load() == number {
				t.Error("the revision did not rise")
			}
		}
		set(a)
		set(a, b, c)
		a.Sealed, a.Private = true, []byte("sealed")
		set(a, c)
		set()
		number := s.KeysRevision().Load()
		refused := errors.New("refused")
		_, err := s.UpdateKeys(t.Context(), func([]account.Key) ([]account.Key, error) { return []account.Key{a}, refused })
		is(t, "a refused change", refused, err)
		_, err = s.UpdateKeys(t.Context(), func(keys []account.Key) ([]account.Key, error) { return keys, nil })
		is(t, "no change", nil, err)
		if rose(s, s.KeysRevision(), number) {
			t.Error("the revision rose without a change")
		}
		// Of several that find no key, one makes it.
		errs := together(6, func(i int) error {
			_, err := s.UpdateKeys(context.Background(), func(keys []account.Key) ([]account.Key, error) {
				if len(keys) > 0 {
					return keys, nil
				}
				return []account.Key{newKey(fmt.Sprint(i), account.KeyAccess, i)}, nil
			})
			return err
		})
		if keys := must[[]account.Key](t)(s.Keys(t.Context())); count(errs, nil) != 6 || len(keys) != 1 {
			t.Errorf("%v, and the keys %v", errs, keys)
		}
	})
}
