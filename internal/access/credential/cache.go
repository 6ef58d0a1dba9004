package credential

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"
)

const (
	// cacheBytes bounds the memory of the cache: tokens and their entries.
	cacheBytes = 64 << 20
	// entryBytes is what an entry takes beside its token, in ristretto's maps as well.
	entryBytes = 512
	// counterBytes is what ristretto needs a counter for: about ten for each token that fits.
	counterBytes = 100
	// recentTokens is how many tokens are also kept for look-ups without bookkeeping: 4 MiB at most, beside cacheBytes.
	recentTokens = 1024
)

// tokenCache holds access tokens whose signatures were checked. Only those get in, so forged tokens push none out. An
// entry holds the whole token, so that a collision of hashes lets no other token in.
type tokenCache struct {
	recent [recentTokens]atomic.Pointer[knownToken] // by hash
	tokens *ristretto.Cache[uint64, *knownToken]
	seed   maphash.Seed // random, so that colliding tokens cannot be chosen
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

// add offers a token to the cache, which may forget it at any time. A token that is there is replaced at once.
func (c *tokenCache) add(known *knownToken, ttl time.Duration) {
	if ttl > 0 {
		hash := maphash.String(c.seed, known.token)
		c.recent[hash%recentTokens].Store(known)
		c.tokens.SetWithTTL(hash, known, int64(len(known.token)+entryBytes), ttl)
	}
}

func (c *tokenCache) close() { c.tokens.Close() }
