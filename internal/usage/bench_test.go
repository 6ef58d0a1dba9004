package usage_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// noStore takes every flush and says that nothing is used.
type noStore struct{ usage.Store }

func (noStore) AddUsage(context.Context, *usage.Flush) ([]usage.Total, error) { return nil, nil }

var (
	tile = account.ScopeTile.Set()
	two  = []account.Quota{
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowDay, Limit: account.MaxQuotaLimit},
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowMonth, Limit: account.MaxQuotaLimit},
	}
)

func BenchmarkAdmit(b *testing.B) {
	now := time.Now()
	for quotas := range 3 {
		limits := usage.Limits{Account: account.NewLimits(two[:quotas])}
		b.Run("quotas="+strconv.Itoa(quotas), func(b *testing.B) {
			c := usage.NewMeter(noStore{}, func() time.Time { return now }, nil).Counter("org", "account")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Admit(b.Context(), tile, limits, now.Unix()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parallel/quotas="+strconv.Itoa(quotas), func(b *testing.B) {
			m := usage.NewMeter(noStore{}, func() time.Time { return now }, nil)
			b.RunParallel(func(pb *testing.PB) {
				c := m.Counter("org", "account")
				for pb.Next() {
					if _, err := c.Admit(b.Context(), tile, limits, now.Unix()); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkFlush drains 10,000 accounts with a quota.
func BenchmarkFlush(b *testing.B) {
	now := time.Now()
	limits := usage.Limits{Account: account.NewLimits(two[:1])}
	m := usage.NewMeter(noStore{}, func() time.Time { return now }, nil)
	counters := make([]*usage.Counter, 10_000)
	for i := range counters {
		counters[i] = m.Counter("org"+strconv.Itoa(i%100), "account"+strconv.Itoa(i))
	}
	for b.Loop() {
		b.StopTimer()
		for _, c := range counters {
			if _, err := c.Admit(b.Context(), tile, limits, now.Unix()); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
		if err := m.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
