//go:build unix

package postgres

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// BenchmarkUsageOfAYear reads a year of 10,000 accounts by month, by pages of 1,000. It reports the processor time of
// the longest page, of this process and of the database.
func BenchmarkUsageOfAYear(b *testing.B) {
	dsn := pgtest.DSN(b)
	s := open(b, dsn)
	fillYear(b, dsn, 10000)
	backends := backendsOf(b, dsn)
	var longest time.Duration
	for b.Loop() {
		for q := aYear(); ; {
			began := ownTime(b) + timeOf(b, backends)
			rows, err := s.Usage(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			longest = max(longest, ownTime(b)+timeOf(b, backends)-began)
			if len(rows) < q.Limit {
				break
			}
			last := rows[len(rows)-1]
			q.After = &usage.Position{Start: last.Start.Unix(), Account: last.Account, Scope: last.Scope}
		}
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest-page")
}

// BenchmarkFlushes flushes on three nodes what 5,000 requests of one second on 10,000 accounts come to, each asking for
// no totals, or for those of all accounts that it counted. It reports for how much of a second one node, and the
// database for all three, have a processor.
func BenchmarkFlushes(b *testing.B) {
	for name, ask := range map[string]bool{"counts": false, "counts and totals": true} {
		b.Run(name, func(b *testing.B) {
			const nodes, requests, accounts = 3, 5000, 10000
			dsn := pgtest.DSN(b)
			var stores [nodes]*Store
			for i := range stores {
				stores[i] = open(b, dsn)
			}
			if _, err := stores[0].AddUsage(b.Context(), flushOf("first", 1, accounts, 0, 1)); err != nil {
				b.Fatal(err)
			}
			backends := backendsOf(b, dsn)
			var here, there time.Duration
			rounds := uint64(0)
			for b.Loop() {
				rounds++
				for i, s := range stores {
					f := &usage.Flush{Node: fmt.Sprint("node ", i), Number: rounds, At: afternoon}
					for k := range requests / nodes {
						// As many accounts as requests, and others each second.
						n := (k*nodes + i + int(rounds)*requests) % accounts
						f.Hours = append(f.Hours, usage.Count{Subject: usage.Subject{Organization: "org",
							Account: fmt.Sprintf("sa_%05d", n+1)}, Scope: account.ScopeTile,
							Start: afternoon.Truncate(time.Hour).Unix(), Usage: account.Usage{Requests: 1, Units: 1}})
						if ask {
							f.Ask = append(f.Ask, f.Hours[k].Subject)
						}
					}
					runtime.GC()
					before, beforeThere := ownTime(b), timeOf(b, backends)
					if _, err := s.AddUsage(b.Context(), f); err != nil {
						b.Fatal(err)
					}
					here += ownTime(b) - before
					there += timeOf(b, backends) - beforeThere
				}
			}
			b.ReportMetric(100*here.Seconds()/float64(rounds)/nodes, "%-of-a-core-on-a-node")
			b.ReportMetric(100*there.Seconds()/float64(rounds), "%-of-a-core-in-the-database")
		})
	}
}

// backendsOf lists the database's processes for this schema's stores, which are those that are there by now.
func backendsOf(b *testing.B, dsn string) (pids string) {
	return pgtest.Query[string](b, dsn, `SELECT string_agg(pid::text, ' ') FROM pg_stat_activity
		WHERE application_name = 'caddy-maps'`)
}

// ownTime is the processor time of this process.
func ownTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// timeOf is the processor time of processes, in nanoseconds as Linux's scheduler counts them.
func timeOf(b *testing.B, pids string) (sum time.Duration) {
	for pid := range strings.FieldsSeq(pids) {
		text, err := os.ReadFile("/proc/" + pid + "/schedstat")
		if err != nil {
			b.Skipf("left out: it needs a database on this machine, and Linux: %v", err)
		}
		n, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(n)
	}
	return sum
}
