package usage_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/internal/store/postgres"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usage/usagetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// restartable is a store that can be closed and opened.
type restartable struct {
	usage.Store
	open func() (usage.Store, error)
}

func (r *restartable) restart() (err error) {
	if closer, ok := r.Store.(io.Closer); ok {
		err = closer.Close()
	}
	if err == nil {
		r.Store, err = r.open()
	}
	return err
}

// TestSums: whatever requests come, stores fail, clocks are set, nodes and stores end and follow each other, each
// request is kept once in the hour, day and month in which it was made. A node that is killed loses what it had not
// handed over, at most. On one node each quota is kept to the last unit.
func TestSums(t *testing.T) {
	for name, opener := range map[string]func(t *testing.T) func() (usage.Store, error){
		"memory": func(*testing.T) func() (usage.Store, error) {
			memory := usagetest.NewMemory()
			return func() (usage.Store, error) { return memory, nil }
		},
		"bolt": func(t *testing.T) func() (usage.Store, error) {
			path := filepath.Join(t.TempDir(), "accounts.db")
			return func() (usage.Store, error) { return bolt.Open(path, nil) }
		},
		"postgres": func(t *testing.T) func() (usage.Store, error) {
			cfg, err := postgres.ParseDSN(pgtest.DSN(t), "")
			if err != nil {
				t.Fatal(err)
			}
			return func() (usage.Store, error) { return postgres.Open(t.Context(), cfg, postgres.Options{}) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept := &restartable{open: opener(t)}
			if err := kept.restart(); err != nil {
				t.Fatal(err)
			}
			if closer, ok := kept.Store.(io.Closer); ok {
				defer func() { _ = closer.Close() }()
			}
			check := 0
			rapid.Check(t, func(t *rapid.T) {
				check++
				s := newStorm(t, kept, fmt.Sprint(check))
				t.Repeat(map[string]func(*rapid.T){
					"request": s.request, "requests": s.request, "finish": s.finish, "flush": s.flush, "fold": s.fold,
					"store": s.breakStore, "clock": s.setClock, "reload": s.reload, "kill": s.kill, "restart": s.restart,
					"compare": s.compare,
				})
				s.flush(t)
				s.settle(t)
				s.compare(t)
			})
		})
	}
}

// rowsOf returns all rows of some steps.
func (s *storm) rowsOf(t *rapid.T, steps ...account.Step) map[spanKey]account.Usage {
	found := map[spanKey]account.Usage{}
	for _, organization := range s.organizations {
		for _, step := range steps {
			rows, err := s.Usage(context.Background(), usage.Query{Organization: organization, Step: step,
				To: time.Unix(1<<40, 0), Limit: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				who := usage.Subject{Organization: organization, Account: r.Account}
				found[spanKey{who, r.Scope, step, r.Start.Unix()}] = r.Usage
			}
		}
	}
	return found
}

// compare compares rows with what was admitted, those of days and months with those of which they are the sums, and
// what quotas of organizations go by with the sums of their accounts.
func (s *storm) compare(t *rapid.T) {
	rows, want := s.rowsOf(t, steps...), s.want.all()
	sums, parts, partly := map[spanKey]account.Usage{}, map[spanKey]account.Usage{}, map[spanKey]bool{}
	days := map[int64]bool{}
	for k, u := range rows {
		if _, ok := want[k]; !ok {
			t.Errorf("%+v of %+v was never made", u, k)
		}
		of := k.ofOrganization()
		sums[of] = sums[of].Add(u)
	}
	for k, b := range want {
		if k.Account != "" && !b.contain(rows[k]) {
			t.Errorf("%+v: %+v is kept, want %+v", k, rows[k], b)
		}
		if longer, ok := k.longer(); ok {
			parts[longer] = parts[longer].Add(rows[k])
			partly[longer] = partly[longer] || !b.bounded()
		}
		if k.step == account.StepDay {
			days[k.start] = true
		}
	}
	for k, u := range parts {
		if k.Account != "" && !partly[k] && u != rows[k] {
			t.Errorf("%+v: %+v is kept, and %+v in its parts", k, rows[k], u)
		}
	}
	for day := range days {
		for k, u := range s.totalsAt(t, day) {
			if sum := sums[k]; u.Requests != sum.Requests || u.Units != sum.Units {
				t.Errorf("%+v: %+v is the total, and %+v the sum of the accounts", k, u, sum)
			}
		}
	}
}

// totalsAt returns the totals of organizations in the day and month that begin with a day or hold it.
func (s *storm) totalsAt(t *rapid.T, day int64) map[spanKey]account.Usage {
	f := &usage.Flush{At: time.Unix(day, 0)}
	found := map[spanKey]account.Usage{}
	for _, organization := range s.organizations {
		subject := usage.Subject{Organization: organization}
		f.Ask = append(f.Ask, subject)
		for _, scope := range account.AllScopes {
			for _, step := range steps[1:] {
				start, _ := step.Span(f.At)
				found[spanKey{subject, scope, step, start.Unix()}] = account.Usage{}
			}
		}
	}
	totals, err := s.Store.AddUsage(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, total := range totals {
		if total.Window != account.WindowMinute {
			start, _ := total.Window.Span(f.At)
			found[spanKey{total.Subject, total.Scope, account.Step(total.Window), start.Unix()}] = account.Usage{
				Requests: total.Requests, Units: total.Units}
		}
	}
	return found
}
