package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/credential"
)

// BenchmarkExchangeBolt measures whole exchanges (tokens looked up, access token signed, grant durable) by 64 clients
// at once, and beside it what the disk does alone: one writer that appends a page and syncs, again and again. On a
// disk that syncs slowly, the ratio tells how many exchanges share a sync. On one that syncs faster than two
// processors can sign, it tells how fast those are; so a disk of 5 ms a sync is imitated beside the real one, by a
// commit that takes twice as much longer, since bbolt syncs twice for each.
func BenchmarkExchangeBolt(b *testing.B) {
	b.Run("disk=real", func(b *testing.B) {
		store := benchStore(b)
		benchExchange(b, store, syncRate(b, b.TempDir()))
	})
	b.Run("disk=5ms", func(b *testing.B) {
		const sync = 5 * time.Millisecond
		benchExchange(b, &slowStore{Store: benchStore(b), extra: 2 * sync}, 1/sync.Seconds())
	})
}

func benchStore(b *testing.B) *Store {
	b.Helper()
	store, err := Open(filepath.Join(b.TempDir(), "accounts.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

// slowStore makes every commit that holds a grant take longer.
type slowStore struct {
	*Store
	extra time.Duration
	last  *bbolt.Tx // only the committer looks at it
}

func (s *slowStore) AddGrant(ctx context.Context, g account.Grant, limit int) (ended []string, err error) {
	err = s.write(ctx, func(t *writeTx) (err error) {
		if t.tx != s.last {
			s.last = t.tx
			t.tx.OnCommit(func() { time.Sleep(s.extra) })
		}
		ended, err = addGrant(t, &g, limit)
		return err
	})
	return ended, err
}

func benchExchange(b *testing.B, store account.Store, syncs float64) {
	const clients = 64
	ctx := context.Background()
	live := account.NewLive(store)
	authority, err := credential.New(ctx, credential.Config{
		Issuer: "bench", Audience: "bench", Algorithm: "EdDSA", AccessTTL: 15 * time.Minute, RefreshTTL: 30 * 24 * time.Hour,
	}, live, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer authority.Close()
	var tokens [clients][2]string
	for i := range tokens {
		now := time.Now()
		a := account.Account{
			ID: credential.NewAccountID(now), OrganizationID: fmt.Sprintf("org-%d", i%8), Platform: account.PlatformWeb,
			Scopes: account.Scopes{account.ScopeDirection, account.ScopeReverseGeocoding}, Status: account.StatusActive,
			CreatedBy: "user:bench", CreatedAt: now, UpdatedAt: now, Version: 1,
		}
		if tokens[i][0], tokens[i][1], err = credential.NewAccountTokens(&a); err != nil {
			b.Fatal(err)
		}
		if err := live.CreateAccount(ctx, a); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for _, pair := range tokens {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := authority.Exchange(ctx, pair[0], pair[1]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	rate := float64(b.N) / b.Elapsed().Seconds()
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
