package boltstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/credential"
)

// BenchmarkExchangeBolt measures whole exchanges (tokens looked up, grant durable, access token signed) by 64 clients at
// once, and beside it what the disk does alone: one writer that appends a page and syncs, again and again. The ratio tells
// how many exchanges share a sync.
func BenchmarkExchangeBolt(b *testing.B) {
	const clients = 64
	dir := b.TempDir()
	store, err := Open(filepath.Join(dir, "accounts.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	live := account.NewLive(store, time.Hour)
	authority, err := credential.New(ctx, credential.Config{
		Issuer: "bench", Audience: "bench", Algorithm: "EdDSA", AccessTTL: 15 * time.Minute, RefreshTTL: 30 * 24 * time.Hour,
	}, live)
	if err != nil {
		b.Fatal(err)
	}
	defer authority.Close()

	type pair struct{ client, server string }
	pairs := make([]pair, clients)
	for i := range pairs {
		now := time.Now()
		a := account.Account{
			ID: credential.NewAccountID(now), OrganizationID: fmt.Sprintf("org-%d", i%8), Platform: account.PlatformWeb,
			Scopes: account.Scopes{account.ScopeDirection, account.ScopeReverseGeocoding}, Status: account.StatusActive,
			CreatedBy: "user:bench", CreatedAt: now, UpdatedAt: now, Version: 1,
		}
		if pairs[i].client, pairs[i].server, err = credential.NewAccountTokens(&a); err != nil {
			b.Fatal(err)
		}
		if err := live.CreateAccount(ctx, a); err != nil {
			b.Fatal(err)
		}
	}

	syncs := syncRate(b, dir)
	b.ReportAllocs()
	b.ResetTimer()
	cpu0 := cpuNow()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for _, p := range pairs {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := authority.Exchange(ctx, p.client, p.server); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric((cpuNow()-cpu0)*1e6/float64(b.N), "cpu-us/op")
	b.ReportMetric(rate, "exchanges/s")
	b.ReportMetric(syncs, "syncs/s")
	b.ReportMetric(rate/syncs, "exchanges/sync")
}

// syncRate is how often in a second the disk under dir takes a page from a single writer.
func syncRate(b *testing.B, dir string) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	start, n := time.Now(), 0
	for ; time.Since(start) < 500*time.Millisecond; n++ {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(start).Seconds()
}

func cpuNow() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
}
