package usage_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestReached: each level is told of once over all nodes, in each window.
func TestReached(t *testing.T) {
	s := newShaky()
	var mu sync.Mutex
	var heard []int
	hear := func(r usage.Reached) {
		mu.Lock()
		defer mu.Unlock()
		if used := int(r.Used); used < r.Level || r.End.Sub(start) > 48*time.Hour || r.Account != "x" {
			t.Errorf("%+v", r)
		}
		heard = append(heard, r.Level)
	}
	a, b := s.meterFor(hear), s.meterFor(hear)
	limits := daily(100)
	for i, step := range []struct {
		meter *usage.Meter
		n     int
		away  bool
		want  []int
	}{
		{a, 79, false, nil}, {a, 1, true, nil}, {a, 0, false, []int{80}}, {b, 5, false, nil}, {a, 1, false, nil},
		{b, 12, false, nil}, {a, 1, false, nil}, {a, 1, false, []int{100}}, {b, 5, false, nil}, {a, 5, false, nil},
	} {
		heard = nil
		_, _ = s.admit(step.meter.Counter("org", "x"), limits, step.n)
		if step.away {
			s.away(errUnchanged, false)
		}
		if err := step.meter.Flush(t.Context()); (err != nil) != step.away {
			t.Error(err)
		}
		s.away(nil, false)
		if !reflect.DeepEqual(heard, step.want) {
			t.Errorf("step %d: heard of %v, want %v", i, heard, step.want)
		}
	}
	s.pass(24 * time.Hour)
	heard = nil
	_, _ = s.admit(a.Counter("org", "x"), limits, 100)
	flush(t, a)
	if !reflect.DeepEqual(heard, []int{80, 100}) {
		t.Errorf("on the next day heard of %v", heard)
	}
}

// TestReachedByRefused: a request that one quota refuses uses up nothing of the others, and reaches no level of them.
func TestReachedByRefused(t *testing.T) {
	limits := usage.Limits{Account: account.NewLimits([]account.Quota{
		{Scope: "*", Unit: account.UnitRequests, Window: account.WindowMonth, Limit: 2},
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowMonth, Limit: 30},
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowDay, Limit: 3},
	})}
	for _, test := range []struct {
		name  string
		units []int64 // of requests that follow each other
		want  []string
	}{
		{"refused at once", []int64{3, 1, 1}, []string{"day 80%: 3", "day 100%: 3"}},
		{"refused for its units", []int64{1, 29}, nil},
		{"late units", []int64{-24}, []string{"day 80%: 24", "day 100%: 24", "month 80%: 24"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShaky()
			var heard []string
			m := s.meterFor(func(r usage.Reached) {
				heard = append(heard, fmt.Sprintf("%s %d%%: %d", r.Quota.Window, r.Level, r.Used))
			})
			for _, units := range test.units {
				e, err := m.Counter("org", "x").Admit(context.Background(), tile, limits, s.Now().Unix())
				if units < 0 {
					e.Count(-units)
				} else if err == nil {
					err = e.Charge(units)
				}
				if err != nil && !isExceeded(err) {
					t.Fatal(err)
				}
			}
			flush(t, m)
			slices.Sort(heard)
			slices.Sort(test.want)
			if !slices.Equal(heard, test.want) {
				t.Errorf("heard of %q, want %q", heard, test.want)
			}
		})
	}
}
