package bolt

import (
	"fmt"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// busy makes a flush of one node in which so many accounts used two scopes, with the sums of their organizations.
func busy(number uint64, accounts int, hour time.Time) *usage.Flush {
	f := &usage.Flush{Node: "node", Number: number, At: hour.Add(time.Minute)}
	const organizations = 50
	add := func(organization, id string) {
		for _, scope := range []account.Scope{account.ScopeDirection, account.ScopeTile} {
			f.Hours = append(f.Hours, usage.Count{Subject: usage.Subject{Organization: organization, Account: id},
				Scope: scope, Start: hour.Unix(), Usage: account.Usage{Requests: 100, Units: 100}})
		}
	}
	for o := range organizations {
		organization := fmt.Sprintf("organization-%03d", o)
		add(organization, "")
		for n := range accounts / organizations {
			add(organization, fmt.Sprintf("sa_01kd3e5q%014d", n))
		}
	}
	return f
}

// BenchmarkFlush adds 4,100 counts to those of before, as a flush does each second under load.
func BenchmarkFlush(b *testing.B) {
	for _, ask := range []bool{false, true} {
		b.Run(fmt.Sprintf("ask=%v", ask), func(b *testing.B) {
			s := benchStore(b)
			f := busy(1, 2000, day.Truncate(time.Hour))
			for ; b.Loop(); f.Number++ {
				if f.Ask = nil; ask {
					for i := 0; i < len(f.Hours); i += 2 {
						f.Ask = append(f.Ask, f.Hours[i].Subject)
					}
				}
				if _, err := s.AddUsage(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUsageByMonth reads a page of a year by month of 10,000 accounts of one organization, and one account alone.
func BenchmarkUsageByMonth(b *testing.B) {
	s := benchStore(b)
	const months, accounts = 12, 10000
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for m := range months {
		f := &usage.Flush{Node: "node", Number: uint64(m + 1), At: first}
		for n := range accounts {
			subject := usage.Subject{Organization: "org", Account: fmt.Sprintf("sa_%05d", n)}
			f.Hours = append(f.Hours, usage.Count{Subject: subject, Scope: account.ScopeTile,
				Start: first.AddDate(0, m, 3).Unix(), Usage: account.Usage{Requests: 1, Units: 1}})
		}
		if _, err := s.AddUsage(b.Context(), f); err != nil {
			b.Fatal(err)
		}
	}
	began, calls := time.Now(), 0
	for more := true; more; calls++ {
		var err error
		if more, err = s.FoldUsage(b.Context(), first.AddDate(1, 0, 0), usage.Retention{Hours: 1e6 * time.Hour,
			Days: 1e6 * time.Hour}); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d counts folded in %v, %d calls", months*accounts, time.Since(began), calls)
	for name, q := range map[string]usage.Query{"page": {Limit: 1000}, "account": {Account: "sa_07777", Limit: 1000}} {
		b.Run(name, func(b *testing.B) {
			q.Organization, q.Step, q.From, q.To = "org", account.StepMonth, first, first.AddDate(1, 0, 0)
			q.After = &usage.Position{Start: first.AddDate(0, 6, 0).Unix(), Account: "sa_05000"}
			if q.Account != "" {
				q.After = nil
			}
			for b.Loop() {
				if rows, err := s.Usage(b.Context(), q); err != nil || len(rows) == 0 {
					b.Fatalf("%d rows, error %v", len(rows), err)
				}
			}
		})
	}
}
