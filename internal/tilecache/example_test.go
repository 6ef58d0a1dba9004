package tilecache_test

import (
	"context"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/tilecache"
)

// What the cache does not have is cut, once for all who ask for it at the same time.
func Example() {
	cache, err := tilecache.NewCache(1 << 20)
	if err != nil {
		panic(err)
	}
	defer cache.Close()
	key := tilecache.Key{File: "checksum of the region file", Z: 14, X: 4754, Y: 6271}
	if _, found := cache.Get(key); !found {
		tile, err := cache.Cut(context.Background(), key, func() (*tilecache.Tile, error) {
			return tilecache.New(key, []byte("a tile")), nil
		})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s, ETag of %d characters\n", tile.Data, len(tile.Tag))
	}
	// Output:
	// a tile, ETag of 24 characters
}
