package credential

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// BenchmarkExchange measures whole exchanges by 64 clients at once: two tokens looked up, an access token signed, and
// the grant durable.
func BenchmarkExchange(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		s, err := store.OpenSQLite(filepath.Join(b.TempDir(), "accounts.db"), zap.NewNop())
		benchExchange(b, s, err)
	})
	b.Run("postgres", func(b *testing.B) {
		cfg, err := store.ParseDSN(pgtest.DSN(b), "")
		if err != nil {
			b.Fatal(err)
		}
		s, err := store.OpenPostgres(b.Context(), cfg, zap.NewNop())
		benchExchange(b, s, err)
	})
}

func benchExchange(b *testing.B, s *store.Store, err error) {
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ctx := b.Context()
	authority, err := New(ctx, Config{Issuer: "bench", Audience: "bench", Algorithm: "EdDSA",
		AccessTTL: 15 * time.Minute, RefreshTTL: 30 * 24 * time.Hour, MaxGrants: DefaultMaxGrants}, s, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer authority.Close()
	var tokens [64][2]string
	for i := range tokens {
		now := time.Now()
		a := account.Account{ID: NewAccountID(now), OrganizationID: fmt.Sprintf("org-%d", i%8), Platform: "WEB",
			Scopes: account.Scopes{account.ScopeDirection, account.ScopeReverseGeocoding}, Status: account.StatusActive,
			CreatedBy: "user:bench", CreatedAt: now, UpdatedAt: now}
		if tokens[i][0], tokens[i][1], err = NewAccountTokens(&a); err != nil {
			b.Fatal(err)
		}
		if err := s.CreateAccount(ctx, a, len(tokens)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	var begun atomic.Int64
	var all sync.WaitGroup
	for _, pair := range tokens {
		all.Go(func() {
			for begun.Add(1) <= int64(b.N) {
				if _, err := authority.Exchange(ctx, pair[0], pair[1]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
}
