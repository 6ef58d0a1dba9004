package tilecache

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

func newCache(t testing.TB, bytes int64) *Cache {
	t.Helper()
	c, err := NewCache(bytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func key(file string, x int) Key { return Key{File: file, Z: 20, X: uint32(x)} }

func add(t testing.TB, c *Cache, k Key, data []byte) {
	t.Helper()
	if _, err := c.Cut(t.Context(), k, func() (*Tile, error) { return New(k, data), nil }); err != nil {
		t.Fatal(err)
	}
}

// However many different tiles are asked for, the memory stays in its bound.
func TestBound(t *testing.T) {
	const bound = 8 << 20
	c := newCache(t, bound)
	used := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	data := make([]byte, 1000)
	before := used()
	tiles := 1_000_000
	if testkit.RaceDetector { // which makes each of them twenty times as dear
		tiles = 50_000
	}
	for i := range tiles {
		data[0], data[1], data[2] = byte(i), byte(i>>8), byte(i>>16)
		add(t, c, key("a", i), data)
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

// A tile is found under its own file alone, and what has nothing in it takes no room.
func TestKeys(t *testing.T) {
	c := newCache(t, 1<<20)
	add(t, c, key("a", 1), []byte("x"))
	add(t, c, key("a", 2), nil)
	c.tiles.Wait()
	for k, want := range map[Key]bool{
		key("a", 1): true, key("b", 1): false, key("a", 2): false, {File: "a", Kind: 1, Z: 20, X: 1}: false,
	} {
		if _, found := c.Get(k); found != want {
			t.Errorf("%+v: %v", k, found)
		}
	}
	if a, b := New(key("a", 1), []byte("x")), New(key("b", 1), []byte("x")); a.Tag == b.Tag ||
		a.Tag == New(key("a", 1), []byte("y")).Tag || a.Tag != New(key("a", 9), []byte("x")).Tag {
		t.Errorf("tags %s and %s", a.Tag, b.Tag)
	}
}

// A tile that many ask for at once is cut once; that the first of them goes away, or is refused, is nobody else's loss.
func TestTogether(t *testing.T) {
	refused := errors.New("this account has to wait")
	for name, test := range map[string]struct {
		first error
		cuts  int64
	}{"all stay": {nil, 1}, "the first goes": {context.Canceled, 2}, "the first is refused": {refused, 21}} {
		t.Run(name, func(t *testing.T) {
			c, k := newCache(t, 1<<20), key("a", 1)
			var cuts atomic.Int64
			begun, end := make(chan struct{}), make(chan struct{})
			var group sync.WaitGroup
			group.Go(func() {
				_, err := c.Cut(t.Context(), k, func() (*Tile, error) {
					cuts.Add(1)
					close(begun)
					<-end
					if test.first != nil {
						return nil, test.first
					}
					return New(k, []byte("x")), nil
				})
				if !errors.Is(err, test.first) {
					t.Errorf("the first: %v", err)
				}
			})
			<-begun
			for range 20 {
				group.Go(func() {
					tile, err := c.Cut(t.Context(), k, func() (*Tile, error) {
						cuts.Add(1)
						time.Sleep(100 * time.Millisecond) // long enough for the others to join
						return New(k, []byte("x")), nil
					})
					if err != nil || string(tile.Data) != "x" {
						t.Errorf("%v", err)
					}
				})
			}
			time.Sleep(100 * time.Millisecond)
			close(end)
			group.Wait()
			if cuts.Load() != test.cuts {
				t.Errorf("%d cuts, want %d", cuts.Load(), test.cuts)
			}
		})
	}
}
