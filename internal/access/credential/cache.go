package credential

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
)

const (
	// cacheBytes is the maximum size of the cache, tokens included.
	cacheBytes = 64 << 20
	// entryBytes is the size of an entry without its token, ristretto's maps included.
	entryBytes = 512
	// counterBytes is the cache size for each of ristretto's counters, of which there should be about ten per token.
	counterBytes = 100
	// recentTokens is the number of tokens that are also kept for look-ups without bookkeeping: at most 4 MiB.
	recentTokens = 1024
)

// tokenCache holds access tokens with verified signatures and publishable keys that the store has or had, so forged
// ones cannot evict others. An entry holds the whole token, in case two tokens have the same hash.
type tokenCache struct {
	recent [recentTokens]atomic.Pointer[knownToken] // by hash
	tokens *ristretto.Cache[uint64, *knownToken]
	seed   maphash.Seed // random, so that an attacker cannot choose colliding tokens
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
		return nil, false // before the work of hashing
	}
	hash := maphash.String(c.seed, token)
	place := &c.recent[hash%recentTokens]
	known := place.Load()
	if known == nil || known.token != token {
		var ok bool
		if known, ok = c.tokens.Get(hash); !ok || known.token != token {
			return nil, false
		}
		place.Store(known)
	}
	c.hits.Add(1)
	return known, true
}

// add offers a token to the cache, which may drop it at any time. It replaces an entry of the same token at once.
func (c *tokenCache) add(known *knownToken, ttl time.Duration) {
	if ttl > 0 {
		hash := maphash.String(c.seed, known.token)
		c.recent[hash%recentTokens].Store(known)
		c.tokens.SetWithTTL(hash, known, int64(len(known.token)+entryBytes), ttl)
	}
}

func (c *tokenCache) close() { c.tokens.Close() }
