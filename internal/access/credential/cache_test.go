package credential

import (
	"fmt"
	"hash/maphash"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestCollision puts a good token where the hash of another leads.
func TestCollision(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	w.cached(t, token)
	known, _ := w.cache.get(token)
	forged := token[:len(token)-1] + "!"
	w.cache.tokens.Set(maphash.String(w.cache.seed, forged), known, 1)
	w.cache.tokens.Wait()
	if stored, ok := w.cache.tokens.Get(maphash.String(w.cache.seed, forged)); !ok || stored != known {
		t.Fatal("the collision was not made")
	}
	hits := w.CacheHits()
	_, err := w.VerifyAccess(t.Context(), forged)
	refused(t, "a token whose hash leads to another's entry", err, refusedMalformed)
	if w.CacheHits() != hits {
		t.Error("it counted as a hit")
	}
}

// TestCacheIsBounded offers more tokens than fit.
func TestCacheIsBounded(t *testing.T) {
	const maxBytes, tokenLen = 1 << 20, 500
	c := must(newTokenCache(maxBytes))
	defer c.close()
	const tokens = 4 * maxBytes / tokenLen
	name := func(i int) string { return fmt.Sprintf("%0*d", tokenLen, i) }
	for i := range tokens {
		c.add(&knownToken{token: name(i)}, time.Hour)
		c.tokens.Wait()
	}
	kept := 0
	for i := range tokens {
		if _, ok := c.tokens.Get(maphash.String(c.seed, name(i))); ok {
			kept++
		}
	}
	if bytes := kept * (tokenLen + entryBytes); bytes > maxBytes || bytes < maxBytes/2 {
		t.Errorf("%d tokens of %d are in the cache, %d bytes, with room for %d bytes", kept, tokens, bytes, maxBytes)
	}
}

// TestClosedCache: what a request still holds works after a configuration has gone.
func TestClosedCache(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	w.cached(t, token)
	w.Close()
	for range 2 {
		if _, err := w.VerifyAccess(t.Context(), token); err != nil {
			t.Errorf("VerifyAccess after Close: %v", err)
		}
	}
	w.Close()
}

// TestCachedCheckAllocates: a check that is answered from the cache allocates nothing.
func TestCachedCheckAllocates(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Now = nil })
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app)
	w.cached(t, token.Access)
	reads := w.store.reads.Load()
	if n := testing.AllocsPerRun(1000, func() { w.accepted(t, "cached", token.Access) }); n > 0 {
		t.Errorf("a cached check allocates %v times", n)
	}
	if w.store.reads.Load() != reads {
		t.Error("cached checks read the store")
	}
}

func BenchmarkVerifyCached(b *testing.B) {
	w := newWorld(b, func(c *Config) { c.Now = nil })
	app := w.holder(b, "org", account.ScopeTile, account.ScopeDirection)
	token := w.exchange(b, app, app)
	w.cached(b, token.Access)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.VerifyAccess(ctx, token.Access); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyUncached(b *testing.B) {
	w := newWorld(b)
	app := w.holder(b, "org", account.ScopeTile, account.ScopeDirection)
	token := w.exchange(b, app, app).Access
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.verifySigned(ctx, token); err != nil {
			b.Fatal(err)
		}
	}
}
