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

// cacheKey says which tile it is, of what.
type cacheKey struct {
	// File is the checksum of the region file: tiles of a file that was replaced are not found any more.
	File string
	// Kind is what is drawn: the map, or one of the networks.
	Kind uint8
	Z    uint8
	X, Y uint32
}

// cachedTile is a tile that has been cut. It is shared, and must not be written to.
type cachedTile struct {
	// Data is compressed by gzip; empty for a tile that has nothing in it.
	Data []byte
	// Tag tells Data of one file from any other.
	Tag string
	key cacheKey
}

// newCachedTile is a tile with its data, which is copied.
func newCachedTile(key cacheKey, data []byte) *cachedTile {
	sum := sha256.New()
	sum.Write([]byte(key.File))
	sum.Write(data)
	return &cachedTile{Data: slices.Clone(data), Tag: hex.EncodeToString(sum.Sum(nil)[:tagBytes]), key: key}
}

const (
	tagBytes = 12
	// tileBytes is what a tile takes beside its data, in ristretto's maps as well.
	tileBytes = 384
	// counterBytes is what ristretto needs a counter for: about ten for each tile that fits.
	counterBytes = 100
)

// tileCache holds tiles in a bounded number of bytes. It is safe for use by any number of goroutines.
type tileCache struct {
	tiles   *ristretto.Cache[uint64, *cachedTile]
	seed    maphash.Seed // random, so that nobody can choose tiles that collide
	flights singleflight.Group
}

// newTileCache returns a cache of so many bytes. Close must end its use.
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

// get returns a tile that is there.
func (c *tileCache) get(key cacheKey) (*cachedTile, bool) {
	tile, ok := c.tiles.Get(maphash.Comparable(c.seed, key))
	if !ok || tile.key != key {
		return nil, false
	}
	return tile, true
}

// getOrCut returns a tile that get has not found: it has it cut and offers it to the cache, which may take it a little later
// or not at all. A tile that several ask for at once is cut once. Where whoever has it cut goes away, another does;
// where they fail otherwise, each does so alone, since the reason may be theirs, such as an account that has to wait.
// cut may find another file than that of key.
func (c *tileCache) getOrCut(ctx context.Context, key cacheKey, cut func() (*cachedTile, error)) (*cachedTile, error) {
	for {
		mine := false
		result, err, _ := c.flights.Do(fmt.Sprint(key), func() (any, error) {
			mine = true
			return c.cut(cut)
		})
		switch {
		case err == nil:
			return result.(*cachedTile), nil
		case mine:
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded):
			return c.cut(cut)
		}
	}
}

// cut has a tile cut and offers it to the cache.
func (c *tileCache) cut(cut func() (*cachedTile, error)) (*cachedTile, error) {
	tile, err := cut()
	if err == nil && len(tile.Data) > 0 { // nothing is found out again at no cost
		c.tiles.Set(maphash.Comparable(c.seed, tile.key), tile, int64(len(tile.Data)+tileBytes))
	}
	return tile, err
}

// close ends the goroutines of the cache.
func (c *tileCache) close() { c.tiles.Close() }
