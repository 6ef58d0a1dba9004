package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/regions/fetch"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// regionSet are the regions of one configuration.
type regionSet struct {
	list    []*configuredRegion // by name
	release []func()            // releases what this configuration holds of the pools
	needMap []*regions.Region   // regions whose tiles a handler serves
}

// configuredRegion is a region of one configuration. Its file and its mirror outlive the configuration if the next one
// has the same settings, so that a reload neither sends a request nor aborts a download.
type configuredRegion struct {
	*regions.Region
	watched *regions.Watched

	mirror *fetch.Mirror // nil if it is not downloaded
	wait   time.Duration // for the first file that is downloaded
}

// regionKey identifies a watched file.
type regionKey struct {
	path    string // absolute
	awaited bool   // the file may come later
}

var (
	regionPool = caddy.NewUsagePool() // regionKey → *regions.Watched
	mirrorPool = caddy.NewUsagePool() // [sha256.Size]byte → *fetch.Mirror
)

// acquire returns a pool's value for a key, created if necessary, and keeps it until the configuration ends.
func acquire[T caddy.Destructor](a *App, pool *caddy.UsagePool, key any, create func() T) T {
	value, _, err := pool.LoadOrNew(key, func() (caddy.Destructor, error) { return create(), nil })
	if err != nil {
		panic(err) // create has none
	}
	a.regions.release = append(a.regions.release, func() { _, _ = pool.Delete(key) }) // Destruct has no error
	return value.(T)
}

// provisionRegions resolves the paths and opens the files, so that `caddy validate` refuses what would not start, and a
// reload fails before a server of the new configuration listens. Files from a URL are fetched only once it runs.
func (a *App) provisionRegions(caddy.Context) error {
	for _, name := range slices.Sorted(maps.Keys(a.Regions)) {
		if err := a.addRegion(name, a.Regions[name]); err != nil {
			return options.Wrap("region "+name, err)
		}
	}
	return a.tryRegions(a.regions.list)
}

// addRegion adds a region to those of the configuration, without opening its file.
func (a *App) addRegion(name string, config *RegionConfig) error {
	if err := checkRegionName(name); err != nil {
		return err
	}
	path, from, err := config.provision(name)
	if err != nil {
		return err
	}
	key := regionKey{path, from != nil || config.Awaited}
	watched := acquire(a, regionPool, key, func() *regions.Watched {
		return regions.NewWatched(regions.Options{Path: path, Awaited: key.awaited, Logger: regionLog.logger()})
	})
	r := &configuredRegion{Region: regions.New(name, watched), watched: watched, wait: time.Duration(config.Wait)}
	if from != nil {
		from.Watched, from.Logger = watched, regionLog.logger()
		r.mirror = acquire(a, mirrorPool, mirrorKey(from), func() *fetch.Mirror { return fetch.New(*from) })
	}
	at, _ := slices.BinarySearchFunc(a.regions.list, name, func(r *configuredRegion, name string) int {
		return strings.Compare(r.Name(), name)
	})
	a.regions.list = slices.Insert(a.regions.list, at, r)
	return nil
}

// tryRegions opens the files of regions while the configuration is loaded.
func (a *App) tryRegions(list []*configuredRegion) error {
	if caddy.ActiveContext().Context != nil {
		return openRegions(list, func(r *configuredRegion) error { return r.start(a.logger, true) })
	}
	return openRegions(list, func(r *configuredRegion) error {
		if r.watched.Awaited {
			return nil
		}
		return r.watched.Start()
	})
}

// eachRegion calls do for all regions concurrently, and returns the errors in order.
func eachRegion(list []*configuredRegion, do func(*configuredRegion) error) []error {
	results := make([]error, len(list))
	var group sync.WaitGroup
	for i, r := range list {
		group.Go(func() { results[i] = do(r) })
	}
	group.Wait()
	return results
}

// openRegions calls open for regions, and returns the first error.
func openRegions(list []*configuredRegion, open func(*configuredRegion) error) error {
	for i, err := range eachRegion(list, open) {
		if err != nil {
			return options.Wrap("region "+list[i].Name(), err)
		}
	}
	return nil
}

// cleanupRegions releases what this configuration holds. Requests that have pinned a region keep it open.
func (a *App) cleanupRegions() {
	for _, release := range slices.Backward(a.regions.release) {
		release()
	}
	a.regions.release = nil
}

// Region returns a region of the configuration by its name. A reference that names a file or a URL (IsRegionFile) adds
// it to the regions, under its RegionName, unless it is one of them already. Modules call it in their Provision.
func (a *App) Region(reference string) (*regions.Region, error) {
	if !IsRegionFile(reference) {
		if r := a.findRegion(reference); r != nil {
			return r.Region, nil
		}
		names := make([]string, len(a.regions.list))
		for i, r := range a.regions.list {
			names[i] = r.Name()
		}
		return nil, noRegion(reference, names)
	}
	name, config := RegionName(reference), &RegionConfig{Path: reference}
	known := a.findRegion(name)
	if known == nil {
		if err := a.addRegion(name, config); err != nil {
			return nil, options.Located("region "+name, options.Wrap("region "+name, err))
		}
		added := a.findRegion(name)
		return added.Region, options.Located("region "+name, a.tryRegions([]*configuredRegion{added}))
	}
	if path, _, err := config.provision(name); err != nil || path != known.Path() {
		return nil, fmt.Errorf("the region %s is the file %s; %s would be another region of that name: rename the file",
			name, known.Path(), reference)
	}
	return known.Region, nil
}

func (a *App) findRegion(name string) *configuredRegion {
	if i := slices.IndexFunc(a.regions.list, func(r *configuredRegion) bool { return r.Name() == name }); i >= 0 {
		return a.regions.list[i]
	}
	return nil
}

func noRegion(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("there is no region %q: the maps app has no regions", name)
	}
	return fmt.Errorf("there is no region %q: %s", name, text.DidYouMean(name, known))
}

// LookupRegions returns the named regions in the same order.
func LookupRegions(ctx caddy.Context, names []string) ([]*regions.Region, error) {
	app, err := Get(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]*regions.Region, 0, len(names))
	for _, name := range names {
		r, err := app.Region(name)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// NeedMap makes the app warn at its start if a region has no map. Modules call it in their Provision.
func (a *App) NeedMap(r *regions.Region) { a.regions.needMap = append(a.regions.needMap, r) }

// warnOfMissingMaps says how to make the maps that handlers serve but the region files lack.
func (a *App) warnOfMissingMaps() {
	for _, r := range a.regions.needMap {
		if status := r.Status(); status.Checksum == "" {
			continue // there is no file yet
		}
		p, err := r.Pin()
		if err != nil {
			continue // logged already
		}
		if p.Map == nil {
			a.logger.Warn("a region file has no map, so its tiles are answered 404; build it again without --no-map: "+
				"`caddy maps build EXTRACT --output "+r.Path()+"`", zap.String("region", r.Name()))
		}
		p.Release()
	}
}

// AllRegions returns the regions of the configuration by name. Modules may add some in their Provision, so it is for
// requests.
func (a *App) AllRegions() []*regions.Region {
	list := make([]*regions.Region, len(a.regions.list))
	for i, r := range a.regions.list {
		list[i] = r.Region
	}
	return list
}

// RegionStatus lists the regions by name.
func (a *App) RegionStatus() []regions.Status {
	list := make([]regions.Status, 0, len(a.regions.list))
	for _, r := range a.regions.list {
		list = append(list, r.status())
	}
	return list
}

// RegionDetails lists the regions by name, with details that only operators may see.
func (a *App) RegionDetails() []RegionDetail {
	list := make([]RegionDetail, 0, len(a.regions.list))
	for _, r := range a.regions.list {
		list = append(list, r.detail())
	}
	return list
}

// ReloadRegions checks all regions now: it verifies files that this process has not verified yet, asks the servers of
// regions for new files, and downloads damaged copies again. The error names the regions with a problem, whose last
// good files stay in service. complete is false if ctx ended while a file was being downloaded or verified.
func (a *App) ReloadRegions(ctx context.Context) (complete bool, err error) {
	complete = true
	var problems []error
	for i, err := range eachRegion(a.regions.list, func(r *configuredRegion) error { return r.reload(ctx) }) {
		switch {
		case errors.Is(err, regions.ErrUnderWay):
			complete = false
		case err != nil:
			problems = append(problems, fmt.Errorf("region %s: %w", a.regions.list[i].Name(), err))
		}
	}
	return complete, errors.Join(problems...)
}
