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
	"github.com/mapsedge/caddy-maps/internal/tiles/network"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

var cachePool = caddy.NewUsagePool() // bytes → *pooledCache

type pooledCache struct{ *tileCache }

// Destruct ends the cache's goroutines.
func (c pooledCache) Destruct() error {
	c.close()
	return nil
}

func acquireCache(bytes int64) (*tileCache, error) {
	value, _, err := cachePool.LoadOrNew(bytes, func() (caddy.Destructor, error) {
		c, err := newTileCache(bytes)
		return pooledCache{c}, err
	})
	if err != nil {
		return nil, err
	}
	return value.(pooledCache).tileCache, nil
}

func releaseCache(bytes int64) { _, _ = cachePool.Delete(bytes) } // Destruct has no error

// tile returns a tile from the cache, or renders it.
func (h *Handler) tile(r *http.Request, a *address, from *regions.Region) (*cachedTile, error) {
	p, err := from.Pin()
	if err != nil {
		return nil, err
	}
	key := cacheKey{File: p.Checksum, Kind: a.kind, Z: a.z, X: a.x, Y: a.y}
	p.Release()
	if tile, ok := h.cache.get(key); ok {
		h.app.Metrics().CachedTiles.Inc()
		return tile, nil
	}
	return h.cache.getOrRender(r.Context(), key, func() (*cachedTile, error) {
		var work admission.Work
		if err := work.Begin(r.Context(), h.app.Processors(), app.Caller(r.Context())); err != nil {
			return nil, err
		}
		defer work.End()
		start := time.Now()
		defer func() { h.app.Metrics().Tiles.Observe(time.Since(start).Seconds()) }()
		return regions.Ask(from.Pin, func(p *regions.Pinned) (*cachedTile, error) {
			key.File = p.Checksum
			return render(p, a, key, &work)
		})
	})
}

// render renders a tile of a region file.
func render(p *regions.Pinned, a *address, key cacheKey, meter roadgraph.Meter) (tile *cachedTile, err error) {
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
	return newCachedTile(key, buf.Bytes), nil
}

var (
	// errNoMap is the response if a region file has no map. The log says how to make one.
	errNoMap error = apierror.NotFound("this region has no map")
	// errNoNetwork is the response if max_zoom is below the zooms of networks.
	errNoNetwork error = apierror.NotFound("there are no networks at the zooms of this server")
)

const (
	mediaType = "application/vnd.mapbox-vector-tile"
	// cacheControl keeps a tile in a client's cache while its user looks at the map. maps_auth adds private or public.
	cacheControl = "max-age=3600"
)

// writeTile writes a tile, compressed if the client accepts gzip.
func writeTile(w http.ResponseWriter, r *http.Request, tile *cachedTile) error {
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
	// One allocation for all values. They cannot be shared by requests: other handlers may change them in place.
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
	_, _ = w.Write(data) // an error means that the client has gone
	return nil
}

// matches reports whether one of the tags of If-None-Match equals a tag, by RFC 9110's weak comparison.
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
