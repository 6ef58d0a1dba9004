package tiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/dgraph-io/ristretto/v2"
	"golang.org/x/sync/singleflight"
)

// cacheKey identifies a tile.
type cacheKey struct {
	File string // checksum of the region file, so that tiles of a replaced file are not found any more
	Kind uint8  // kindMap, or kindNetwork plus the profile
	Z    uint8
	X, Y uint32
}

// cachedTile is a rendered tile. It is shared and must not be changed.
type cachedTile struct {
	Data []byte // compressed by gzip; empty for an empty tile
	Tag  string // for the ETag: a hash of the file's checksum and Data
	key  cacheKey
}

// newCachedTile copies the data of a tile.
func newCachedTile(key cacheKey, data []byte) *cachedTile {
	sum := sha256.New()
	sum.Write([]byte(key.File))
	sum.Write(data)
	return &cachedTile{Data: slices.Clone(data), Tag: hex.EncodeToString(sum.Sum(nil)[:tagBytes]), key: key}
}

const (
	tagBytes = 12
	// tileBytes is the memory of a tile besides its data, ristretto's maps included.
	tileBytes = 384
	// counterBytes is the size of the cache per counter of ristretto: about ten counters for each tile that fits.
	counterBytes = 100
)

// tileCache caches tiles up to a number of bytes. It is safe for concurrent use.
type tileCache struct {
	tiles   *ristretto.Cache[uint64, *cachedTile]
	seed    maphash.Seed // random, so that clients cannot choose tiles that collide
	flights singleflight.Group
}

// newTileCache returns a cache of so many bytes. The caller closes it.
func newTileCache(bytes int64) (*tileCache, error) {
	tiles, err := ristretto.NewCache(&ristretto.Config[uint64, *cachedTile]{
		NumCounters: max(bytes/counterBytes, 1), MaxCost: bytes, BufferItems: 64, IgnoreInternalCost: true,
		KeyToHash: func(hash uint64) (uint64, uint64) { return hash, 0 },
	})
	if err != nil {
		return nil, err
	}
	return &tileCache{tiles: tiles, seed: maphash.MakeSeed()}, nil
}

// get returns a tile from the cache.
func (c *tileCache) get(key cacheKey) (*cachedTile, bool) {
	tile, ok := c.tiles.Get(maphash.Comparable(c.seed, key))
	if !ok || tile.key != key {
		return nil, false
	}
	return tile, true
}

// getOrRender renders a tile that get has not found, and offers it to the cache, which may store it later or not at
// all. Concurrent calls for one tile render it once. If the call that renders is canceled, another one renders. If it
// fails for another reason, each call renders for itself, because the reason may be its own, such as a quota. The tile
// may be that of a newer file than key's.
func (c *tileCache) getOrRender(ctx context.Context, key cacheKey, render func() (*cachedTile, error)) (
	*cachedTile, error) {
	for {
		mine := false
		result, err, _ := c.flights.Do(fmt.Sprint(key), func() (any, error) {
			mine = true
			return c.render(render)
		})
		switch {
		case err == nil:
			return result.(*cachedTile), nil
		case mine:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
			return c.render(render)
		}
	}
}

// render renders a tile and offers it to the cache.
func (c *tileCache) render(render func() (*cachedTile, error)) (*cachedTile, error) {
	tile, err := render()
	if err == nil && len(tile.Data) > 0 { // an empty tile is rendered at no cost
		c.tiles.Set(maphash.Comparable(c.seed, tile.key), tile, int64(len(tile.Data)+tileBytes))
	}
	return tile, err
}

// close ends the goroutines of the cache.
func (c *tileCache) close() { c.tiles.Close() }
