package routing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

func init() {
	app.AddAdminRoute("/maps/regions/{region}/speeds", app.AdminMethods{http.MethodPut: putSpeeds})
}

const (
	// speedsEvery is the interval at which a file of speeds is looked at.
	speedsEvery = time.Second
	// maxSpeeds is the largest file or body of speeds in bytes.
	maxSpeeds = 64 << 20
)

// watchSpeeds follows a file of speeds until ctx ends. Its changes take effect within seconds.
func watchSpeeds(ctx context.Context, path string, of []*regions.Region, logger *zap.Logger) {
	var before os.FileInfo
	var said string // the last problem, which is logged once
	ticker := time.NewTicker(speedsEvery)
	defer ticker.Stop()
	for {
		select { // first of all, since `caddy validate` ends before
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		info, err := os.Stat(path)
		if err == nil && (before == nil || info.ModTime() != before.ModTime() || info.Size() != before.Size()) {
			if err = applySpeeds(ctx, path, of); err == nil {
				before = info
				logger.Info("live speeds are in use", zap.String("path", path))
			}
		}
		switch {
		case err == nil:
			said = ""
		case err.Error() != said && ctx.Err() == nil:
			said = err.Error()
			logger.Error("live speeds cannot be read; the ones before stay in use", zap.String("path", path), zap.Error(err))
		}
	}
}

func applySpeeds(ctx context.Context, path string, of []*regions.Region) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	speeds, err := routing.ReadSpeeds(http.MaxBytesReader(nil, f, maxSpeeds))
	if err != nil {
		return err
	}
	for _, r := range of {
		err = errors.Join(err, r.SetSpeeds(ctx, speeds))
	}
	return err
}

// putSpeeds replaces the live speeds of a region. An empty body removes them.
func putSpeeds(a *app.App, w http.ResponseWriter, r *http.Request) error {
	if _, _, err := request.ContentType(r, "text/csv"); err != nil {
		return err
	}
	name := r.PathValue("region")
	if app.IsRegionFile(name) { // it would become a region
		return apierror.NotFound("region not found")
	}
	of, err := a.Region(name)
	if err != nil {
		return apierror.NotFound("region not found")
	}
	speeds, err := routing.ReadSpeeds(http.MaxBytesReader(w, r.Body, maxSpeeds))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return apierror.TooLarge()
	}
	if err != nil {
		return apierror.FailedValidation(fmt.Sprintf("body: %v", err))
	}
	if err := of.SetSpeeds(r.Context(), speeds); err != nil {
		return err
	}
	request.WriteJSON(w, http.StatusOK, map[string]int{"ways": len(speeds)})
	return nil
}
