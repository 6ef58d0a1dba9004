package credential

import (
	"fmt"
	"hash/maphash"
	"testing"
	"time"
)

// TestCollision puts a good token where the hash of another leads.
func TestCollision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	token := w.exchange(app, app).Access
	w.cached(t, token)
	known, _ := w.cache.get(token)
	forged := token[:len(token)-1] + "!"
	w.cache.tokens.Set(maphash.String(w.cache.seed, forged), known, 1)
	w.cache.tokens.Wait()
	w.refusedAccess(t, "a token whose hash leads to another's entry", refusedMalformed, forged)
}

// TestCacheIsBounded offers more tokens than fit.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const maxBytes, tokenLen, tokens = 1 << 20, 500, 8000
	c := must(newTokenCache(maxBytes))
	defer c.close()
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

// TestCachedCheck: a check that is answered from the cache allocates nothing and reads nothing. A request that has begun
// works after its configuration has gone.
func TestCachedCheck(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Now = nil })
	app := w.holder("org", tile)
	token := w.exchange(app, app).Access
	w.cached(t, token)
	reads := w.store.reads.Load()
	same(t, "allocations", 0, testing.AllocsPerRun(1000, func() { w.accepted(t, "cached", token) }))
	same(t, "readings of the store", reads, w.store.reads.Load())
	w.Close()
	w.accepted(t, "after Close", token, token)
}

func BenchmarkVerify(b *testing.B) {
	w := newWorld(b, func(c *Config) { c.Now = nil })
	app := w.holder("org", tile, direction)
	token := w.exchange(app, app).Access
	w.cached(b, token)
	b.Run("cached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			w.accepted(b, "cached", token)
		}
	})
	b.Run("uncached", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must(w.verifySigned(w.ctx, token))
		}
	})
}
