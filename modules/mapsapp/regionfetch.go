package mapsapp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/regions/fetch"
)

// waitPoll is the time between looks for a file that a start or a reload waits for.
const waitPoll = 20 * time.Millisecond

// mirrorKey tells apart what is downloaded in different ways. It holds no secret in clear.
func mirrorKey(o *fetch.Options) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d %d", o.URL.String(), o.Header, o.Path, o.Refresh, o.Timeout,
		o.MaxSize))
}

// start opens the file or begins to download it, and waits for the first one as long as the configuration says.
func (r *configuredRegion) start(logger *zap.Logger, reload bool) error {
	if r.mirror == nil {
		if err := r.watched.Start(); err != nil {
			return err
		}
		if r.Status().Checksum == "" {
			logger.Warn("the file of a region is not there yet; requests that need it get 503 until it is; make it with "+
				"`caddy maps build EXTRACT --output "+r.Path()+"`", zap.String("region", r.Name()))
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.Path()), 0o700); err != nil {
		return fmt.Errorf("cache_dir: %w", err)
	}
	if err := r.watched.Start(); err != nil {
		return err
	}
	r.mirror.Start()
	for deadline := time.Now().Add(r.wait); r.wait > 0 && r.Status().Unusable; time.Sleep(waitPoll) {
		if time.Now().Before(deadline) {
			continue
		}
		fetching := r.mirror.Status()
		if fetching.Problem == "" {
			fetching.Problem = regions.ErrUnderWay.Error()
		}
		if reload {
			return fmt.Errorf("%s: no file has come in %v: %s", fetching.URL, r.wait, fetching.Problem)
		}
		logger.Warn("no file of a region has come yet; requests that need it get 503 until there is one",
			zap.String("region", r.Name()), zap.String("url", fetching.URL), zap.String("problem", fetching.Problem))
		return nil
	}
	return nil
}

// reload has the file verified and the server asked for a new one. What is found to be damaged is downloaded again.
func (r *configuredRegion) reload(ctx context.Context) error {
	err := r.watched.Poll(ctx, true)
	if r.mirror == nil || errors.Is(err, regions.ErrUnderWay) {
		return err
	}
	if err := r.mirror.Poll(ctx); err != nil {
		return err
	}
	return r.watched.Poll(ctx, true)
}

// status describes the region. A file is stale too if its server has a new one that could not be downloaded.
func (r *configuredRegion) status() regions.Status {
	status := r.Status()
	if r.mirror != nil && r.mirror.Status().Problem != "" && status.Status == regions.OK {
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
	Origin *fetch.Status `json:"origin,omitempty"`
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
	if r.mirror != nil {
		origin := r.mirror.Status()
		d.Origin = &origin
	}
	return d
}
