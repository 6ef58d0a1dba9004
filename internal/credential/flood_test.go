package credential

import (
	"encoding/base64"
	"encoding/binary"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// TestFloodOfBadTokens sends bad tokens, no two the same: as many as MAPS_BAD_TOKENS says (10000000 for the real measurement),
// fewer in an ordinary run. The memory stays, and the good tokens are in the cache afterwards as before.
func TestFloodOfBadTokens(t *testing.T) {
	flood := 40_000
	if given := os.Getenv("MAPS_BAD_TOKENS"); given != "" {
		var err error
		if flood, err = strconv.Atoi(given); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	good := make([]string, 100)
	for i := range good {
		good[i] = w.exchange(t, app, app).Access
		w.cached(t, good[i])
	}
	head, rest, _ := strings.Cut(good[0], ".")
	claims, _, _ := strings.Cut(rest, ".")
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()

	// By turns: a signature that is wrong, other claims, a key that does not exist, no form at all.
	bad := func(n int) string {
		number := binary.BigEndian.AppendUint64(make([]byte, 0, 64), uint64(n))
		text := base64.RawURLEncoding.EncodeToString(number)
		switch n % 8 {
		case 0:
			return head + "." + claims + "." + base64.RawURLEncoding.EncodeToString(number[:64])
		case 1:
			return head + "." + text + claims + "." + text
		case 2, 3, 4:
			kid := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","typ":"at+jwt","kid":"` + text + `"}`))
			return kid + "." + claims + "." + text
		}
		return text
	}
	var senders sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		senders.Go(func() {
			for n := worker; n < flood; n += workers {
				if _, err := w.VerifyAccess(t.Context(), bad(n)); err == nil {
					t.Errorf("bad token %d passes", n)
					return
				}
				// Somebody uses the good ones all the while.
				if n%1000 == 0 {
					if _, err := w.VerifyAccess(t.Context(), good[n/1000%len(good)]); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	senders.Wait()
	after := heap()
	t.Logf("%d bad tokens: %d KiB of memory before, %d KiB after", flood, before>>10, after>>10)
	if after > before+4<<20 {
		t.Errorf("the memory grew from %d to %d bytes", before, after)
	}
	hits := w.cache.hits.Load()
	for i, token := range good {
		if _, err := w.VerifyAccess(t.Context(), token); err != nil {
			t.Errorf("good token %d: %v", i, err)
		}
	}
	if got := w.cache.hits.Load() - hits; got != uint64(len(good)) {
		t.Errorf("%d of %d good tokens are still in the cache", got, len(good))
	}
}
