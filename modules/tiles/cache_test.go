package tiles

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

func keyOf(file string, x int) cacheKey { return cacheKey{File: file, Z: 20, X: uint32(x)} }

func add(t testing.TB, c *tileCache, k cacheKey, data []byte) {
	t.Helper()
	if _, err := c.getOrRender(t.Context(), k, func() (*cachedTile, error) { return newCachedTile(k, data), nil }); err != nil {
		t.Fatal(err)
	}
}

// The cache stays within its limit, however many tiles are added. A tile is found only under its own file, and an empty
// one takes no room.
func TestCacheBound(t *testing.T) {
	const bound = 8 << 20
	c, err := newTileCache(bound)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	add(t, c, keyOf("a", 1), []byte("x"))
	add(t, c, keyOf("a", 2), nil)
	c.tiles.Wait()
	for k, want := range map[cacheKey]bool{
		keyOf("a", 1): true, keyOf("b", 1): false, keyOf("a", 2): false, {File: "a", Kind: 1, Z: 20, X: 1}: false,
	} {
		if _, found := c.get(k); found != want {
			t.Errorf("%+v: %v", k, found)
		}
	}
	if testing.Short() {
		return
	}
	used := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	data := make([]byte, 1000)
	before := used()
	tiles := 1_000_000
	if testkit.RaceDetector { // which makes each of them twenty times as expensive
		tiles = 50_000
	}
	for i := range tiles {
		data[0], data[1], data[2] = byte(i), byte(i>>8), byte(i>>16)
		add(t, c, keyOf("a", i), data)
		if (i+1)%(tiles/4) == 0 {
			c.tiles.Wait()
			if more := used() - before; more > bound*5/4 {
				t.Errorf("after %d tiles: %d bytes, of %d", i+1, more, bound)
			}
		}
	}
	if more := used() - before; more < bound/2 {
		t.Errorf("%d bytes are in use: nothing is kept", more)
	}
	runtime.KeepAlive(c)
}

// A tile that many request at once is rendered once. If the request that renders it goes away, another one does; if it
// is refused, each renders for itself.
func TestRenderedOnce(t *testing.T) {
	refused := errors.New("this account has to wait")
	for first, want := range map[error]int{nil: 1, context.Canceled: 2, refused: 21} {
		synctest.Test(t, func(t *testing.T) {
			c, err := newTileCache(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			k := keyOf("a", 1)
			var mu sync.Mutex
			rendered := 0
			render := func() {
				mu.Lock()
				rendered++
				mu.Unlock()
			}
			end := make(chan struct{})
			var group sync.WaitGroup
			group.Go(func() {
				_, err := c.getOrRender(t.Context(), k, func() (*cachedTile, error) {
					render()
					<-end
					return newCachedTile(k, []byte("x")), first
				})
				if !errors.Is(err, first) {
					t.Errorf("the first: %v", err)
				}
			})
			synctest.Wait()
			others := make(chan struct{})
			for range 20 {
				group.Go(func() {
					tile, err := c.getOrRender(t.Context(), k, func() (*cachedTile, error) {
						render()
						<-others
						return newCachedTile(k, []byte("x")), nil
					})
					if err != nil || string(tile.Data) != "x" {
						t.Errorf("%v", err)
					}
				})
			}
			synctest.Wait() // all have joined the first
			close(end)
			synctest.Wait() // and then one another
			close(others)
			group.Wait()
			if rendered != want {
				t.Errorf("the first ends with %v: rendered %d times, want %d", first, rendered, want)
			}
		})
	}
}
