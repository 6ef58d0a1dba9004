package usage_test

import (
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestChargeLate: units are compared with the quotas that their request was admitted with, also where nobody else uses
// these any more, and how much of them is used has to be asked for.
func TestChargeLate(t *testing.T) {
	limits := quota("*", account.UnitUnits, account.WindowMonth, 10)
	for _, test := range []struct {
		name      string
		meanwhile func(s *shaky, m *usage.Meter)
	}{
		{"nothing", func(*shaky, *usage.Meter) {}},
		{"other quotas", func(s *shaky, m *usage.Meter) {
			_, err := s.admit(m.Counter("org", "x"), daily(0), 1)
			if !isExceeded(err) {
				t.Error(err)
			}
		}},
		{"the account was forgotten", func(s *shaky, m *usage.Meter) {
			s.pass(time.Hour)
			flush(t, m)
			if known, _ := m.Known(); known != 0 {
				t.Errorf("%d accounts are kept", known)
			}
		}},
	} {
		for units, want := range map[int64]int64{9: 11, 10: 2} { // two are used in the month that is now
			t.Run(test.name, func(t *testing.T) {
				s := newShaky()
				m := s.meter()
				e, err := m.Counter("org", "x").Admit(t.Context(), tile, limits, s.Now().Unix())
				if err != nil {
					t.Fatal(err)
				}
				flush(t, m)
				test.meanwhile(s, m)
				s.Step(31 * 24 * time.Hour) // the clock is set
				another := s.meter()
				if passed, err := s.admit(another.Counter("org", "x"), usage.Limits{}, 2); passed != 2 {
					t.Fatal(err)
				}
				flush(t, another)
				if err := e.Charge(units); err != nil && !isExceeded(err) {
					t.Fatal(err)
				}
				flush(t, m)
				if u := s.used(t, "org", "x"); u.Units != want {
					t.Errorf("%d units asked for: used %+v, want %d units", units, u, want)
				}
			})
		}
	}
}
