package tiles

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/klauspost/compress/gzip"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/tilecache"
	"github.com/mapsedge/caddy-maps/internal/tiles/network"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

var cachePool = caddy.NewUsagePool() // bytes → *pooledCache

type pooledCache struct{ *tilecache.Cache }

// Destruct ends the cache's goroutines.
func (c pooledCache) Destruct() error {
	c.Close()
	return nil
}

func acquireCache(bytes int64) (*tilecache.Cache, error) {
	value, _, err := cachePool.LoadOrNew(bytes, func() (caddy.Destructor, error) {
		c, err := tilecache.NewCache(bytes)
		return pooledCache{c}, err
	})
	if err != nil {
		return nil, err
	}
	return value.(pooledCache).Cache, nil
}

func releaseCache(bytes int64) { _, _ = cachePool.Delete(bytes) } // Destruct has no error

// tile finds a tile in the cache, or cuts it.
func (h *Handler) tile(r *http.Request, a *address, from *regions.Region) (*tilecache.Tile, error) {
	p, err := from.Pin()
	if err != nil {
		return nil, err
	}
	key := tilecache.Key{File: p.Checksum, Kind: a.kind, Z: a.z, X: a.x, Y: a.y}
	p.Release()
	if tile, ok := h.cache.Get(key); ok {
		h.app.Metrics().CachedTiles.Inc()
		return tile, nil
	}
	return h.cache.Cut(r.Context(), key, func() (*tilecache.Tile, error) {
		var work admission.Work
		if err := work.Begin(r.Context(), h.app.Processors(), app.Caller(r.Context())); err != nil {
			return nil, err
		}
		defer work.End()
		start := time.Now()
		defer func() { h.app.Metrics().Tiles.Observe(time.Since(start).Seconds()) }()
		return regions.Ask(from.Pin, func(p *regions.Pinned) (*tilecache.Tile, error) {
			key.File = p.Checksum
			return cut(p, a, key, &work)
		})
	})
}

// cut cuts a tile from a region file.
func cut(p *regions.Pinned, a *address, key tilecache.Key, meter roadgraph.Meter) (tile *tilecache.Tile, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	buf := answer.GetBuffer()
	defer buf.Free()
	switch {
	case a.kind != kindMap:
		buf.Bytes, err = network.AppendTile(buf.Bytes, p.Networks[a.profile()], a.z, a.x, a.y, meter)
	case p.Map == nil:
		err = errNoMap
	default:
		buf.Bytes, err = p.Map.Tile(buf.Bytes, a.z, a.x, a.y)
	}
	if err != nil {
		return nil, err
	}
	return tilecache.New(key, buf.Bytes), nil
}

var (
	// errNoMap is the answer where a region file has no map. Operators read in the log how to make one.
	errNoMap error = apierror.NotFound("this region has no map")
	// errNoNetwork is the answer where the highest zoom is below those of networks.
	errNoNetwork error = apierror.NotFound("there are no networks at the zooms of this server")
)

const (
	mediaType = "application/vnd.mapbox-vector-tile"
	// cacheControl lets clients keep a tile for as long as somebody looks at a map. Whose it is, maps_auth adds.
	cacheControl = "max-age=3600"
)

// writeTile answers with a tile, compressed where the client takes that.
func writeTile(w http.ResponseWriter, r *http.Request, tile *tilecache.Tile) error {
	if len(tile.Data) == 0 {
		w.Header().Set("Cache-Control", cacheControl)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	data, tag := tile.Data, ""
	zipped := request.AcceptsGzip(r.Header)
	if zipped {
		tag = `"` + tile.Tag + `.gz"` // not -gzip, which Caddy's encode handler takes for its own
	} else {
		tag = `"` + tile.Tag + `"`
	}
	// One allocation for all values: later handlers may change them in place, so that none can be shared.
	values := &[6]string{mediaType, tag, cacheControl, "Accept-Encoding", "gzip", ""}
	header := w.Header()
	header["Etag"], header["Cache-Control"] = values[1:2:2], values[2:3:3]
	header["Vary"] = append(header["Vary"], values[3])
	if matches(r.Header["If-None-Match"], tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if zipped {
		header["Content-Encoding"] = values[4:5:5]
	} else {
		var err error
		if data, err = unzip(tile.Data); err != nil {
			return err
		}
	}
	values[5] = strconv.Itoa(len(data))
	header["Content-Type"], header["Content-Length"] = values[0:1:1], values[5:6:6]
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(data) // a client that has gone is nobody to tell
	return nil
}

// matches reports whether a tag is one of those that a client has, as RFC 9110 compares them for If-None-Match.
func matches(lines []string, tag string) bool {
	for _, line := range lines {
		for known := range strings.SplitSeq(line, ",") {
			known = strings.TrimSpace(known)
			if known == "*" || strings.TrimPrefix(known, "W/") == tag {
				return true
			}
		}
	}
	return false
}

func unzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
