package credential

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// knownToken is an access token whose signature was checked, with what it takes to judge it again: the whole token, so
// that a collision of hashes lets nobody in, and pointers to the present states that it depends on and to its key, so
// that nothing has to be removed from the cache, ever.
type knownToken struct {
	token            string
	expires          int64 // Unix seconds, no later than the end of the grant
	key              *signingKey
	client, server   *account.Current
	clientGeneration uint64
	serverGeneration uint64
	grant            account.Ref
	scopes           account.ScopeSet
	guest            bool
}

const (
	// cacheBytes bounds the memory of the cache: tokens and their entries.
	cacheBytes = 64 << 20
	// entryBytes is what an entry takes beside its token, in ristretto's maps as well.
	entryBytes = 256
	// counterBytes is what ristretto needs a counter for: about ten for each token that fits.
	counterBytes = 100
)

// tokenCache holds access tokens that were verified. Only those get in, so bad tokens push none out.
type tokenCache struct {
	tokens *ristretto.Cache[uint64, *knownToken]
	seed   maphash.Seed // random, so that nobody can choose tokens that collide
	hits   atomic.Uint64
}

func newTokenCache(maxBytes int64) (*tokenCache, error) {
	tokens, err := ristretto.NewCache(&ristretto.Config[uint64, *knownToken]{
		NumCounters: maxBytes / counterBytes, MaxCost: maxBytes, BufferItems: 64, IgnoreInternalCost: true,
		KeyToHash: func(hash uint64) (uint64, uint64) { return hash, 0 },
	})
	if err != nil {
		return nil, err
	}
	return &tokenCache{tokens: tokens, seed: maphash.MakeSeed()}, nil
}

func (c *tokenCache) get(token string) (*knownToken, bool) {
	if len(token) > maxTokenLen {
		return nil, false // bounds the work of hashing, too
	}
	known, ok := c.tokens.Get(maphash.String(c.seed, token))
	if !ok || known.token != token {
		return nil, false
	}
	c.hits.Add(1)
	return known, true
}

// add offers a token to the cache, which may take it a little later or not at all.
func (c *tokenCache) add(known *knownToken, ttl time.Duration) {
	c.tokens.SetWithTTL(maphash.String(c.seed, known.token), known, int64(len(known.token)+entryBytes), ttl)
}

func (c *tokenCache) close() { c.tokens.Close() }
