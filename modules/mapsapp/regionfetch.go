package mapsapp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/mirror"
	"github.com/mapsedge/caddy-maps/internal/regions"
)

// fetched is a region file that this server keeps a copy of. It outlives a configuration if the next one says the same
// of it, so that a reload neither sends a new request nor breaks off a download.
type fetched struct {
	*mirror.Mirror
	release func() // gives back what it holds of regionPool
}

var fetchPool = caddy.NewUsagePool() // remote.key → *fetched

func acquireFetched(path string, from *remote) (fetching *fetched, release func()) {
	return acquire(fetchPool, from.key(path), func() *fetched {
		watched, release := acquireRegion(regionKey{path, true})
		return &fetched{release: release, Mirror: mirror.New(mirror.Options{
			URL: from.url, Header: from.header, Path: path,
			Refresh: from.refresh, Timeout: from.timeout, MaxSize: from.maxSize,
			Check: watched.Check, Damaged: watched.Damaged,
			Replaced: func() { _ = watched.Look(context.Background(), false) }, // what is wrong with it is logged
			Logger:   regionLog.logger(),
		})}
	})
}

// Destruct ends the fetching. The pool calls it when no configuration says the same of the region any more.
func (f *fetched) Destruct() error {
	err := f.Mirror.Destruct()
	f.release()
	return err
}

// try opens a file that must be there when the server starts.
func (r *configuredRegion) try() error {
	if r.watched.Awaited {
		return nil
	}
	return r.watched.Start()
}

// start opens the file or begins to download it, and waits for the first one as long as the configuration says.
func (r *configuredRegion) start(logger *zap.Logger, reload bool) error {
	if r.fetched == nil {
		if err := r.watched.Start(); err != nil {
			return err
		}
		if r.Status().Checksum == "" {
			logger.Warn("the file of a region is not there yet; requests that need it get 503 until it is; make it with "+
				"`caddy maps build EXTRACT --output "+r.Path()+"`", zap.String("region", r.Name()))
		}
		return nil
	}
	if err := os.MkdirAll(r.from.dir, 0o700); err != nil {
		return fmt.Errorf("cache_dir: %w", err)
	}
	if err := r.watched.Start(); err != nil {
		return err
	}
	r.fetched.Start()
	if r.from.wait == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.from.wait)
	defer cancel()
	switch err := r.fetched.Wait(ctx); {
	case err == nil:
		return nil
	case reload:
		return fmt.Errorf("%s: no file has come in %v: %w", r.fetched.Status().URL, r.from.wait, err)
	default:
		logger.Warn("no file of a region has come yet; requests that need it get 503 until there is one",
			zap.String("region", r.Name()), zap.String("url", r.fetched.Status().URL), zap.Error(err))
		return nil
	}
}

// reload has the file verified and the server asked for a new one. What is found to be damaged is downloaded again.
func (r *configuredRegion) reload(ctx context.Context) error {
	err := r.watched.Look(ctx, true)
	if r.fetched == nil || errors.Is(err, regions.ErrUnderWay) {
		return err
	}
	if err := r.fetched.Ask(ctx); err != nil {
		return err
	}
	return r.watched.Look(ctx, true)
}

// status describes the region. A file is stale too if its server has a new one that could not be downloaded.
func (r *configuredRegion) status() regions.Status {
	status := r.Status()
	if r.fetched != nil && r.fetched.Status().Problem != nil && status.Status == regions.OK {
		status.Status = regions.Stale
	}
	return status
}

// RegionDetail is what operators may know of a region.
type RegionDetail struct {
	regions.Status
	// Age is how old the map data is, in seconds; it is left out if that is not known.
	Age float64 `json:"age,omitzero"`
	// Problem is why the file at the region's path is not served, or what is wrong with it.
	Problem string `json:"problem,omitempty"`
	// Origin is where the file comes from; nil if this server does not download it.
	Origin *RegionOrigin `json:"origin,omitempty"`
}

// RegionOrigin is where a region comes from.
type RegionOrigin struct {
	// URL is without userinfo and query.
	URL string `json:"url"`
	// ETag, LastModified and Fetched are of the file that is served, as its server sent them, and when it came.
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"lastModified,omitempty"`
	Fetched      time.Time `json:"fetched,omitzero"`
	// Asked is when that was last found to be what the server has, and Next when the server will be asked again.
	Asked time.Time `json:"asked,omitzero"`
	Next  time.Time `json:"next,omitzero"`
	// Problem is why what is served may be older than what the server has, and what to do. It names no file of this
	// machine.
	Problem string `json:"problem,omitempty"`
}

func (r *configuredRegion) detail() RegionDetail {
	status := r.status()
	d := RegionDetail{Status: status}
	if status.Problem != nil {
		d.Problem = status.Problem.Error()
	}
	if !status.Timestamp.IsZero() {
		d.Age = max(0, time.Since(status.Timestamp).Truncate(time.Second).Seconds())
	}
	if r.fetched == nil {
		return d
	}
	s := r.fetched.Mirror.Status()
	d.Origin = &RegionOrigin{URL: s.URL, Asked: s.Asked, Next: s.Next}
	if s.Problem != nil {
		d.Origin.Problem = s.Problem.Error()
	}
	if s.Origin != nil {
		d.Origin.ETag, d.Origin.LastModified, d.Origin.Fetched = s.Origin.ETag, s.Origin.LastModified, s.Origin.Fetched
	}
	return d
}
