package usage_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// TestSums: with requests of several nodes, charges, flushes whose answers are lost, restarts and a clock that is set, in
// any order, the store has every request once, and one node lets exactly those pass that its quotas allow.
func TestSums(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		organization := time.Duration(run).String()
		w.fail(nil, nil, nil)
		w.set(noon)
		nodes := make([]*usage.Meter, rapid.IntRange(1, 3).Draw(t, "nodes"))
		for i := range nodes {
			nodes[i] = w.meter()
		}
		limit := rapid.Int64Range(0, 30).Draw(t, "limit")
		l := usage.Limits{Account: limits("TILE", account.UnitUnits, account.WindowDay, limit),
			Organization: limits("*", account.UnitUnits, account.WindowMonth, 2*limit)}
		want := account.Usage{}
		day, month := map[string]int64{}, map[string]int64{}
		allowed := func(id string, units int64) bool {
			at := w.now()
			return day[id+at.Format(time.DateOnly)]+units <= limit && month[at.Format("2006-01")]+units <= 2*limit
		}
		spend := func(id string, units int64) {
			at := w.now()
			day[id+at.Format(time.DateOnly)] += units
			month[at.Format("2006-01")] += units
			want.Units += units
		}
		failing, latest := false, w.now()
		t.Repeat(map[string]func(*rapid.T){
			"request": func(t *rapid.T) {
				m := rapid.SampledFrom(nodes).Draw(t, "node")
				id := rapid.SampledFrom([]string{"sa_a", "sa_b"}).Draw(t, "account")
				units := rapid.Int64Range(0, 5).Draw(t, "units")
				e, err := m.Counter(organization, id).Admit(context.Background(), tile, l, w.now().Unix())
				_, refused := errors.AsType[*usage.Exceeded](err)
				switch {
				case err != nil && !refused:
					if !failing {
						t.Fatal(err)
					}
					return
				case len(nodes) == 1 && refused == allowed(id, 1):
					t.Fatalf("a request was refused: %v", refused)
				case refused:
					want.Refused++
					return
				}
				may := allowed(id, max(units, 1))
				if err = e.Charge(units); len(nodes) == 1 && (err == nil) != may {
					t.Fatalf("%d units: %v, and they are allowed: %v", units, err, may)
				}
				if err != nil {
					want.Refused++
					return
				}
				want.Requests++
				spend(id, units)
			},
			"flush": func(t *rapid.T) {
				if err := rapid.SampledFrom(nodes).Draw(t, "node").Flush(context.Background()); err != nil && !failing {
					t.Fatal(err)
				}
			},
			"restart": func(t *rapid.T) {
				w.set(latest) // a server cannot know that its clock was ahead before it started
				i := rapid.IntRange(0, len(nodes)-1).Draw(t, "node")
				if nodes[i].Flush(context.Background()) == nil {
					nodes[i] = w.meter()
				}
			},
			"trouble": func(t *rapid.T) {
				failing = rapid.Bool().Draw(t, "fails")
				if failing && rapid.Bool().Draw(t, "after") {
					w.fail(nil, errDown, nil)
				} else if failing {
					w.fail(errDown, nil, nil)
				} else {
					w.fail(nil, nil, nil)
				}
			},
			"clock": func(t *rapid.T) {
				w.set(noon.Add(time.Duration(rapid.IntRange(-72, 72).Draw(t, "hours")) * time.Hour))
				if now := w.now(); now.After(latest) {
					latest = now
				}
			},
		})
		w.fail(nil, nil, nil)
		for _, m := range nodes {
			if err := m.Flush(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if got := w.sum(organization); got != want {
			t.Fatalf("the store has %+v, want %+v", got, want)
		}
	})
}
