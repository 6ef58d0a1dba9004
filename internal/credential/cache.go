package credential

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/ristretto/v2"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// knownToken is an access token whose signature was checked, with what it takes to judge it again: the whole token, so
// that a collision of hashes lets nobody in, and pointers to the present states that it depends on and to its key, so
// that nothing has to be removed from the cache, ever.
type knownToken struct {
	token            string
	expires          int64 // Unix seconds, no later than the end of the grant
	key              *signingKey
	client, server   *account.Current
	organization     *account.Organization
	counter          *usage.Counter // of the client's account
	clientGeneration uint64
	serverGeneration uint64
	grant            account.Ref
	scopes           account.ScopeSet
	guest            bool
	until            time.Time // when the cache gives it up, by this machine's monotonic clock
}

const (
	// cacheBytes bounds the memory of the cache: tokens and their entries.
	cacheBytes = 64 << 20
	// entryBytes is what an entry takes beside its token, in ristretto's maps as well.
	entryBytes = 256
	// counterBytes is what ristretto needs a counter for: about ten for each token that fits.
	counterBytes = 100
	// recentTokens is how many tokens can be recent. They count towards no limit: with 4 KiB each they are 4 MiB.
	recentTokens = 1024
)

// tokenCache holds access tokens that were verified. Only those get in, so bad tokens push none out. Those that are
// asked for again and again are found in recent, without the bookkeeping that it takes to tell which to push out.
type tokenCache struct {
	recent [recentTokens]atomic.Pointer[knownToken] // by hash
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
	hash := maphash.String(c.seed, token)
	place := &c.recent[hash%recentTokens]
	known := place.Load()
	if known == nil || known.token != token || time.Since(known.until) >= 0 {
		var ok bool
		if known, ok = c.tokens.Get(hash); !ok || known.token != token {
			return nil, false
		}
		place.Store(known)
	}
	c.hits.Add(1)
	return known, true
}

// add offers a token to the cache, which may forget it at any time.
func (c *tokenCache) add(known *knownToken, ttl time.Duration) {
	hash := maphash.String(c.seed, known.token)
	c.recent[hash%recentTokens].Store(known) // the same token may stand there with states that are in doubt
	c.tokens.SetWithTTL(hash, known, int64(len(known.token)+entryBytes), ttl)
}

func (c *tokenCache) close() { c.tokens.Close() }
