package accounttest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func testGrant(t *testing.T, s account.Store) {
	want := newGrant(1, "sa_c", "sa_s")
	if ended := add(t, s, 10, want); len(ended) != 0 {
		t.Errorf("AddGrant ended %v", ended)
	}
	got, err := s.Grant(t.Context(), want.ID)
	isError(t, "Grant", nil, err)
	same(t, "grant", want, got)
	got, err = s.GrantByRefresh(t.Context(), want.RefreshHash)
	isError(t, "GrantByRefresh", nil, err)
	same(t, "grant by refresh token", want, got)
	for _, id := range []string{"", "gr_", want.ID + "0"} {
		_, err = s.Grant(t.Context(), id)
		isError(t, fmt.Sprintf("Grant(%q)", id), account.ErrNotFound, err)
	}
	_, err = s.GrantByRefresh(t.Context(), hash("refresh", 2))
	isError(t, "GrantByRefresh of none", account.ErrNotFound, err)

	id, refresh := newGrant(2, "sa_c", "sa_s"), newGrant(3, "sa_x", "sa_y")
	id.ID, refresh.RefreshHash = want.ID, want.RefreshHash
	for _, g := range []account.Grant{id, refresh} {
		_, err := s.AddGrant(t.Context(), g, 10)
		isError(t, "AddGrant with what is taken", account.ErrExists, err)
	}
}

func testGrantLimit(t *testing.T, s account.Store) {
	// Added out of order: the oldest is the one that was created first, not the one that came first.
	for _, n := range []int{3, 1, 2} {
		add(t, s, 3, newGrant(n, "a", "b"))
	}
	// Other pairs, also the same two the other way round, have a limit of their own.
	for n, pair := range [][2]string{{"b", "a"}, {"a", "a"}, {"a", "bb"}, {"aa", "b"}, {"a\x01", "b"}} {
		if ended := add(t, s, 1, newGrant(100+n, pair[0], pair[1])); len(ended) != 0 {
			t.Errorf("a grant of %q ended %v", pair, ended)
		}
	}
	same(t, "ended by the fourth", []string{newGrant(1, "a", "b").ID}, add(t, s, 3, newGrant(4, "a", "b")))
	_, err := s.Grant(t.Context(), newGrant(1, "", "").ID)
	isError(t, "Grant that was ended", account.ErrNotFound, err)
	_, err = s.GrantByRefresh(t.Context(), newGrant(1, "", "").RefreshHash)
	isError(t, "GrantByRefresh of one that was ended", account.ErrNotFound, err)

	// One that is ended by hand makes room.
	isError(t, "EndGrant", nil, s.EndGrant(t.Context(), newGrant(3, "", "").ID))
	if ended := add(t, s, 3, newGrant(5, "a", "b")); len(ended) != 0 {
		t.Errorf("with room for one more, %v ended", ended)
	}
	// A lower limit ends as many as it takes, oldest first; the new one stays, even if its clock is behind.
	same(t, "ended by a lower limit", []string{newGrant(2, "", "").ID, newGrant(4, "", "").ID, newGrant(5, "", "").ID},
		add(t, s, 1, newGrant(0, "a", "b")))
	_, err = s.Grant(t.Context(), newGrant(0, "", "").ID)
	isError(t, "Grant that was just added", nil, err)
}

func testGrantLimitByMany(t *testing.T, s account.Store) {
	const workers, each, limit = 8, 10, 5
	ended := make([][]string, workers)
	results := Together(workers, func(i int) error {
		for j := range each {
			gone, err := s.AddGrant(t.Context(), newGrant(i*each+j, "a", "b"), limit)
			if err != nil {
				return err
			}
			ended[i] = append(ended[i], gone...)
		}
		return nil
	})
	isError(t, "AddGrant", nil, errors.Join(results...))
	gone := slices.Concat(ended...)
	slices.Sort(gone)
	if len(slices.Compact(gone)) != workers*each-limit {
		t.Errorf("%d grants ended (%d of them different), want %d", len(gone), len(slices.Compact(gone)), workers*each-limit)
	}
	for n := range workers * each {
		g := newGrant(n, "", "")
		_, err := s.Grant(t.Context(), g.ID)
		if was := slices.Contains(gone, g.ID); was != errors.Is(err, account.ErrNotFound) {
			t.Errorf("grant %s: ended is %v, but reading it gives error %v", g.ID, was, err)
		}
	}
}

func testRotate(t *testing.T, s account.Store) {
	g := newGrant(1, "a", "b")
	add(t, s, 10, g)
	add(t, s, 10, newGrant(2, "a", "b"))
	second, third := hash("next", 2), hash("next", 3)
	isError(t, "RotateGrant", nil, s.RotateGrant(t.Context(), g.ID, g.RefreshHash, second))
	isError(t, "RotateGrant", nil, s.RotateGrant(t.Context(), g.ID, second, third))
	want := g
	want.RefreshHash = third
	for _, old := range []account.Hash{g.RefreshHash, second} {
		isError(t, "RotateGrant with an old token", account.ErrRotated,
			s.RotateGrant(t.Context(), g.ID, old, hash("next", 4)))
		got, err := s.GrantByRefresh(t.Context(), old)
		isError(t, "GrantByRefresh with an old token", account.ErrRotated, err)
		same(t, "grant by an old token", want, got)
	}
	got, err := s.GrantByRefresh(t.Context(), third)
	isError(t, "GrantByRefresh", nil, err)
	same(t, "grant by its present token", want, got)
	isError(t, "RotateGrant to a token of before", account.ErrExists, s.RotateGrant(t.Context(), g.ID, third, second))
	isError(t, "RotateGrant to another's token", account.ErrExists,
		s.RotateGrant(t.Context(), g.ID, third, hash("refresh", 2)))
	isError(t, "RotateGrant with another's token", account.ErrNotFound,
		s.RotateGrant(t.Context(), g.ID, hash("refresh", 2), hash("next", 5)))
	isError(t, "RotateGrant of none", account.ErrNotFound, s.RotateGrant(t.Context(), "gr_none", third, hash("next", 5)))
	isError(t, "EndGrant", nil, s.EndGrant(t.Context(), g.ID))
	for _, token := range []account.Hash{g.RefreshHash, second, third} {
		_, err := s.GrantByRefresh(t.Context(), token)
		isError(t, "GrantByRefresh after the end", account.ErrNotFound, err)
	}
}

func testRotateByMany(t *testing.T, s account.Store) {
	g := newGrant(1, "a", "b")
	add(t, s, 10, g)
	results := Together(8, func(i int) error { return s.RotateGrant(t.Context(), g.ID, g.RefreshHash, hash("next", i)) })
	exactlyOne(t, "RotateGrant with one token", results, account.ErrRotated)
	winner := slices.Index(results, nil)
	got, err := s.GrantByRefresh(t.Context(), hash("next", winner))
	isError(t, "GrantByRefresh of the winner's token", nil, err)
	same(t, "id", g.ID, got.ID)
}

// testRotateOften rotates as often as stores have to remember, and then ends the grant with all that hangs on it.
func testRotateOften(t *testing.T, s account.Store) {
	const times = 1000
	g := newGrant(1, "a", "b")
	add(t, s, 10, g)
	last := g.RefreshHash
	for i := range times {
		next := hash("next", i)
		if err := s.RotateGrant(t.Context(), g.ID, last, next); err != nil {
			t.Fatalf("RotateGrant, %d: %v", i, err)
		}
		last = next
	}
	_, err := s.GrantByRefresh(t.Context(), g.RefreshHash)
	isError(t, "GrantByRefresh of the first token", account.ErrRotated, err)
	n, err := s.SweepGrants(t.Context(), g.ExpiresAt.Add(time.Second))
	isError(t, "SweepGrants", nil, err)
	same(t, "swept", 1, n)
	for _, token := range []account.Hash{g.RefreshHash, hash("next", times/2), last} {
		_, err := s.GrantByRefresh(t.Context(), token)
		isError(t, "GrantByRefresh after the end", account.ErrNotFound, err)
	}
}

func testEnd(t *testing.T, s account.Store) {
	g := newGrant(1, "a", "b")
	add(t, s, 10, g)
	isError(t, "EndGrant", nil, s.EndGrant(t.Context(), g.ID))
	isError(t, "EndGrant, again", nil, s.EndGrant(t.Context(), g.ID))
	isError(t, "EndGrant of none", nil, s.EndGrant(t.Context(), ""))
	_, err := s.Grant(t.Context(), g.ID)
	isError(t, "Grant", account.ErrNotFound, err)
	add(t, s, 10, g) // what it held is free again
}

func testSweep(t *testing.T, s account.Store) {
	const all = 700
	early := newGrant(all+1, "a", "b")
	early.ExpiresAt = time.Date(1901, 1, 1, 0, 0, 0, 1, time.UTC)
	add(t, s, all+1, early)
	results := Together(8, func(i int) error {
		for n := i; n < all; n += 8 {
			if _, err := s.AddGrant(t.Context(), newGrant(n, "a", "b"), all+1); err != nil {
				return err
			}
		}
		return nil
	})
	isError(t, "AddGrant", nil, errors.Join(results...))
	for _, step := range []struct {
		after time.Duration
		want  int
	}{
		{-time.Nanosecond, 1}, {0, 1}, {649*time.Hour + time.Nanosecond, 649}, {649*time.Hour + 2, 0},
		{1e6 * time.Hour, all - 650},
	} {
		n, err := s.SweepGrants(t.Context(), epoch.Add(step.after))
		isError(t, "SweepGrants", nil, err)
		same(t, fmt.Sprintf("swept at %v", step.after), step.want, n)
		for _, n := range []int{0, 649, 650, all - 1} {
			_, err := s.Grant(t.Context(), newGrant(n, "", "").ID)
			if expired := step.after >= time.Duration(n)*time.Hour; expired != errors.Is(err, account.ErrNotFound) {
				t.Errorf("grant %d after the sweep at %v: error %v", n, step.after, err)
			}
		}
	}
	if ended := add(t, s, 1, newGrant(1, "a", "b")); len(ended) != 0 {
		t.Errorf("swept grants still counted: %v ended", ended)
	}
}
