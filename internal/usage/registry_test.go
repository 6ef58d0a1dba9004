package usage_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestForget: of accounts that were seen once nothing stays once nobody can keep their Counters, unless it could not
// be handed over.
func TestForget(t *testing.T) {
	const accounts, lease = 10_000, time.Hour
	for _, tc := range []struct {
		name string
		fail error
		idle time.Duration
		want int
	}{
		{"their tokens live", nil, lease, accounts},
		{"their tokens are over", nil, 2 * lease, 1},
		{"the store is away", errUnchanged, 2 * lease, accounts},
		{"an answer was lost", errLost, 2 * lease, accounts},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newShaky()
			m := s.meter()
			m.KeptFor(lease)
			m.KeptFor(time.Second)
			limits := usage.Limits{Account: daily(2).Account, Organization: daily(2).Account}
			_, _ = s.admit(m.Counter("org", "limited"), limits, 1)
			for i := range accounts - 1 {
				id := strconv.Itoa(i)
				if passed, err := s.admit(m.Counter("org"+id, id), usage.Limits{}, 1); passed != 1 {
					t.Fatal(err)
				}
			}
			s.away(tc.fail, false)
			_ = m.Flush(t.Context())
			s.pass(tc.idle)
			stays := m.Counter("org", "stays")
			_, _ = s.admit(stays, usage.Limits{}, 1)
			_ = m.Flush(t.Context())
			s.pass(time.Second)
			wantAccounts := tc.want
			if tc.want > 1 {
				wantAccounts++ // the one that stays
			}
			if known, organizations := m.Known(); known != wantAccounts || organizations != tc.want {
				t.Errorf("%d accounts of %d organizations are kept, want %d of %d", known, organizations, wantAccounts,
					tc.want)
			}
			if m.Counter("org", "stays") != stays {
				t.Error("a Counter that somebody keeps is another one")
			}
			s.away(nil, false)
			if passed, _ := s.admit(m.Counter("org", "limited"), limits, 5); passed != 0 {
				t.Errorf("%d passed beyond the quotas", passed)
			}
		})
	}
}

// TestStraggler: a request that ends long after its token counts, and once, beside others of the same account.
func TestStraggler(t *testing.T) {
	s := newShaky()
	m := s.meter()
	limits := daily(10)
	old := m.Counter("org", "x")
	e, err := old.Admit(t.Context(), tile, limits, s.Now().Unix())
	if err != nil {
		t.Fatal(err)
	}
	flush(t, m)
	s.pass(time.Hour)
	flush(t, m)
	if known, organizations := m.Known(); known+organizations != 0 {
		t.Fatalf("%d accounts and %d organizations are kept", known, organizations)
	}
	next := m.Counter("org", "x")
	if passed, err := s.admit(next, limits, 3); passed != 3 {
		t.Fatal(err)
	}
	e.Failed()
	e.Count(5)
	s.sent()
	flush(t, m)
	for _, f := range s.sent() {
		rows := map[usage.Count]bool{}
		for _, c := range f.Hours {
			if c.Usage = (account.Usage{}); rows[c] {
				t.Errorf("%v is in a flush twice", c)
			}
			rows[c] = true
		}
	}
	if u := s.used(t, "org", "x"); u != (account.Usage{Requests: 4, Errors: 1, Units: 8}) {
		t.Errorf("used %+v", u)
	}
	if passed, _ := s.admit(next, limits, 10); passed != 6 {
		t.Errorf("%d passed of the 6 that are left", passed)
	}
}
