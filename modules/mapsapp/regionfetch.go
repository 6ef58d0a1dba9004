package mapsapp

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/mirror"
	"github.com/mapsedge/caddy-maps/internal/regions"
)

// fetched is a region file that this server keeps a copy of. It outlives configurations that say the same of it, so
// that a reload neither asks its server anew nor breaks off what is on its way.
type fetched struct {
	*mirror.Mirror
	file regionKey // what it holds of regionPool
}

var fetchPool = caddy.NewUsagePool() // remote.key → *fetched

func acquireFetched(path string, from *remote) (*fetched, string) {
	key := from.key(path)
	value, _, err := fetchPool.LoadOrNew(key, func() (caddy.Destructor, error) {
		file := regionKey{path, true}
		watched := acquireRegion(file)
		return &fetched{file: file, Mirror: mirror.New(mirror.Options{
			URL: from.url, Header: from.header, Path: path,
			Refresh: from.refresh, Timeout: from.timeout, MaxSize: from.maxSize,
			Check: regions.Check, Damaged: watched.Damaged,
			Replaced: func() { _ = watched.Look(false) }, // what is wrong with it is logged by the looks that follow
			Logger:   regionLogger(),
		})}, nil
	})
	if err != nil {
		panic(err) // the constructor above has no error
	}
	return value.(*fetched), key
}

// Destruct ends the fetching. The pool calls it when no configuration says the same of the region any more.
func (f *fetched) Destruct() error {
	err := f.Mirror.Destruct()
	_, _ = regionPool.Delete(f.file) // Destruct has no error
	return err
}

// start makes the directory and begins to fetch, and waits for a first file as long as the configuration says.
func (r *configuredRegion) start(logger *zap.Logger, reload bool) error {
	if r.fetched == nil {
		if err := r.watched.Start(); err != nil {
			return err
		}
		if r.Status().Checksum == "" {
			logger.Warn("the file of a region is not there yet; its requests are answered 503 until it is; make it with "+
				"`caddy maps build <extract> --output "+r.Path()+"`", zap.String("region", r.Name()))
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
	if r.wait == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.wait)
	defer cancel()
	switch err := r.fetched.Wait(ctx); {
	case err == nil:
		return nil
	case reload:
		return fmt.Errorf("%s: no file has come in %v: %w", r.fetched.Status().URL, r.wait, err)
	default:
		logger.Warn("no file of a region has come yet; its requests are answered 503 until there is one",
			zap.String("region", r.Name()), zap.String("url", r.fetched.Status().URL), zap.Error(err))
		return nil
	}
}

// reload has the server of a fetched region asked, and opens the file anew. It is not complete where a file is still on
// its way.
func (r *configuredRegion) reload(ctx context.Context) error {
	if r.fetched == nil {
		return r.watched.Look(true)
	}
	if err := r.fetched.Ask(ctx); err != nil {
		return err
	}
	return r.watched.Look(true)
}

// status tells how the region stands: also stale where what its server has could not be fetched.
func (r *configuredRegion) status() regions.Status {
	status := r.Status()
	if r.fetched == nil {
		return status
	}
	if problem := r.fetched.Status().Problem; problem != nil {
		status.Problem = problem
		if status.Status == regions.OK {
			status.Status = regions.Stale
		}
	}
	return status
}

// RegionDetail is what operators may know of a region.
type RegionDetail struct {
	regions.Status
	// Age is how old the map data is, in seconds; it is left out where nobody knows.
	Age float64 `json:"age,omitzero"`
	// Origin is where the file comes from; nil where this server does not fetch it.
	Origin *RegionOrigin `json:"origin,omitempty"`
}

// RegionOrigin tells where a region comes from.
type RegionOrigin struct {
	// URL is without userinfo and query.
	URL string `json:"url"`
	// ETag, LastModified and Fetched are of the file that is served, as its server sent them, and when it came.
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"lastModified,omitempty"`
	Fetched      time.Time `json:"fetched,omitzero"`
	// Asked is when that was last found to be what the server has, and Next when it is asked again.
	Asked time.Time `json:"asked,omitzero"`
	Next  time.Time `json:"next,omitzero"`
	// Problem is why what is served may be older than what the server has, and what to do. It names no file of this
	// machine.
	Problem string `json:"problem,omitempty"`
	// Received of Size bytes have come, while a file is on its way.
	Received int64 `json:"received,omitempty"`
	Size     int64 `json:"size,omitempty"`
}

func (r *configuredRegion) detail() RegionDetail {
	status := r.status()
	d := RegionDetail{Status: status}
	if !status.Timestamp.IsZero() {
		d.Age = max(0, time.Since(status.Timestamp).Truncate(time.Second).Seconds())
	}
	if r.fetched == nil {
		return d
	}
	s := r.fetched.Mirror.Status()
	d.Origin = &RegionOrigin{URL: s.URL, Asked: s.Asked, Next: s.Next, Received: s.Received, Size: s.Size}
	if s.Problem != nil {
		d.Origin.Problem = s.Problem.Error()
	}
	if s.Origin != nil {
		d.Origin.ETag, d.Origin.LastModified, d.Origin.Fetched = s.Origin.ETag, s.Origin.LastModified, s.Origin.Fetched
	}
	return d
}
