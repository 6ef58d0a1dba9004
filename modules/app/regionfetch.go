package app

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

// waitPoll is how often a start or a reload checks for the file that it waits for.
const waitPoll = 20 * time.Millisecond

// mirrorKey identifies a mirror by its options. It is a hash, so it shows no secret.
func mirrorKey(o *fetch.Options) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d %d %d", o.URL.String(), o.Header, o.Path, o.Refresh, o.Timeout,
		o.MaxSize))
}

// start opens the file or begins to download it, and waits up to r.wait for the first one.
func (r *configuredRegion) start(logger *zap.Logger, reload bool) error {
	if r.mirror == nil {
		if err := r.watched.Start(); err != nil {
			return err
		}
		if r.Status().Checksum == "" {
			logger.Warn("the file of a region does not exist yet, and requests that need it get 503; make it with "+
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
			return fmt.Errorf("%s: no file was downloaded within %v: %s", fetching.URL, r.wait, fetching.Problem)
		}
		logger.Warn("no file of a region has been downloaded yet; requests that need it get 503 until then",
			zap.String("region", r.Name()), zap.String("url", fetching.URL), zap.String("problem", fetching.Problem))
		return nil
	}
	return nil
}

// reload verifies the file and asks the server for a new one. A damaged file is downloaded again.
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

// status returns the region's status. A file is also stale if its mirror has a problem.
func (r *configuredRegion) status() regions.Status {
	status := r.Status()
	if r.mirror != nil && r.mirror.Status().Problem != "" && status.Status == regions.OK {
		status.Status = regions.Stale
	}
	return status
}

// RegionDetail is what operators may see of a region.
type RegionDetail struct {
	regions.Status
	// Age is the age of the map data, in seconds; omitted if unknown.
	Age float64 `json:"age,omitzero"`
	// Problem is why the file at the region's path is not served, or what is wrong with it.
	Problem string `json:"problem,omitempty"`
	// Origin is the state of the download; nil for a file of this machine.
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
