// Package tilecache keeps tiles that have been cut, as long as they are asked for and there is room.
package tilecache

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

// Key says which tile it is, of what.
type Key struct {
	// File is the checksum of the region file: tiles of a file that was replaced are not found any more.
	File string
	// Kind is what is drawn: the map, or one of the networks.
	Kind uint8
	Z    uint8
	X, Y uint32
}

// Tile is a tile that has been cut. It is shared, and must not be written to.
type Tile struct {
	// Data is compressed by gzip; empty for a tile that has nothing in it.
	Data []byte
	// Tag tells Data of one file from any other.
	Tag string
	key Key
}

// New is a tile with its data, which is copied.
func New(key Key, data []byte) *Tile {
	sum := sha256.New()
	sum.Write([]byte(key.File))
	sum.Write(data)
	return &Tile{Data: slices.Clone(data), Tag: hex.EncodeToString(sum.Sum(nil)[:tagBytes]), key: key}
}

const (
	tagBytes = 12
	// tileBytes is what a tile takes beside its data, in ristretto's maps as well.
	tileBytes = 384
	// counterBytes is what ristretto needs a counter for: about ten for each tile that fits.
	counterBytes = 100
)

// Cache holds tiles in a bounded number of bytes. It is safe for use by any number of goroutines.
type Cache struct {
	tiles   *ristretto.Cache[uint64, *Tile]
	seed    maphash.Seed // random, so that nobody can choose tiles that collide
	flights singleflight.Group
}

// NewCache returns a cache of so many bytes. Close must end its use.
func NewCache(bytes int64) (*Cache, error) {
	tiles, err := ristretto.NewCache(&ristretto.Config[uint64, *Tile]{
		NumCounters: max(bytes/counterBytes, 1), MaxCost: bytes, BufferItems: 64, IgnoreInternalCost: true,
		KeyToHash: func(hash uint64) (uint64, uint64) { return hash, 0 },
	})
	if err != nil {
		return nil, err
	}
	return &Cache{tiles: tiles, seed: maphash.MakeSeed()}, nil
}

// Get returns a tile that is there.
func (c *Cache) Get(key Key) (*Tile, bool) {
	tile, ok := c.tiles.Get(maphash.Comparable(c.seed, key))
	if !ok || tile.key != key {
		return nil, false
	}
	return tile, true
}

// Cut returns a tile that Get has not found: it has it cut and offers it to the cache, which may take it a little later
// or not at all. A tile that several ask for at once is cut once. Where whoever has it cut goes away, another does;
// where they fail otherwise, each does so alone, since the reason may be theirs, such as an account that has to wait.
// cut may find another file than that of key.
func (c *Cache) Cut(ctx context.Context, key Key, cut func() (*Tile, error)) (*Tile, error) {
	for {
		mine := false
		result, err, _ := c.flights.Do(fmt.Sprint(key), func() (any, error) {
			mine = true
			return c.cut(cut)
		})
		switch {
		case err == nil:
			return result.(*Tile), nil
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
func (c *Cache) cut(cut func() (*Tile, error)) (*Tile, error) {
	tile, err := cut()
	if err == nil && len(tile.Data) > 0 { // nothing is found out again at no cost
		c.tiles.Set(maphash.Comparable(c.seed, tile.key), tile, int64(len(tile.Data)+tileBytes))
	}
	return tile, err
}

// Close ends the goroutines of the cache.
func (c *Cache) Close() { c.tiles.Close() }
