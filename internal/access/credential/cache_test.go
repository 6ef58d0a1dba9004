package credential

import (
	"hash/maphash"
	"testing"
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

// TestCachedCheck: a check of a token or a publishable key that is answered from the cache allocates nothing and reads nothing. A request that has begun
// works after its configuration has gone.
func TestCachedCheck(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Now = nil })
	app := w.holder("org", tile)
	for _, token := range []string{w.exchange(app, app).Access, w.publish(app.ID, app.Scopes, "https://app.test").Key} {
		w.cached(t, token)
		reads := w.store.reads.Load()
		same(t, "allocations", 0, testing.AllocsPerRun(1000, func() { w.accepted(t, "cached", token) }))
		same(t, "readings of the store", reads, w.store.reads.Load())
		defer w.accepted(t, "after Close", token, token)
	}
	w.Close()
}

func BenchmarkVerifyCached(b *testing.B)   { benchVerify(b, true) }
func BenchmarkVerifyUncached(b *testing.B) { benchVerify(b, false) }

func benchVerify(b *testing.B, cached bool) {
	w := newWorld(b, func(c *Config) { c.Now = nil })
	app := w.holder("org", tile, direction)
	token := w.exchange(app, app).Access
	w.cached(b, token)
	b.ReportAllocs()
	for b.Loop() {
		if cached {
			w.accepted(b, "cached", token)
		} else {
			must(w.verifySigned(w.ctx, token))
		}
	}
}
