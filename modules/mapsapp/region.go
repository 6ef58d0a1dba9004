package mapsapp

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/paulmach/orb"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/answer"
)

// RegionConfig is one region of the configuration.
type RegionConfig struct {
	// The region file, made by `caddy maps build`. Placeholders are replaced; a relative path starts at the working directory.
	// The file is looked at every 2 seconds, and a new one is swapped in without dropping a request. Replace it by renaming:
	// a file that is written over in place is damaged until it is whole again. Required.
	Path string `json:"path,omitempty"`
}

// Regions are the regions of one configuration.
type Regions struct {
	byName map[string]*Region
	names  []string // sorted
	keys   []string // what this configuration holds of the pool, one for each region that was provisioned
}

// Region is one region of the configuration: a name for a region file that may change while requests are served.
type Region struct {
	name   string
	source *regionSource
}

// Name is what the configuration calls the region.
func (r *Region) Name() string { return r.name }

// Pin returns the region as it is now, for one request, which must Release it. It neither allocates nor locks, except for a
// request that comes before the app has started or after its configuration has been replaced. The error is a
// *region.DamageError, or an apierror.Error where the file cannot be opened; both have been logged.
func (r *Region) Pin() (*Pinned, error) { return r.source.pin() }

// Covers reports whether a position lies in the region as it is now; false where the region cannot be read.
func (r *Region) Covers(point orb.Point) bool {
	p, err := r.Pin()
	if err != nil {
		return false
	}
	defer p.Release()
	covered, err := p.Covers(point)
	return covered && p.Report(err) == nil
}

// Describe tells what clients may know of the region as it is now. The error is that of Pin.
func (r *Region) Describe() (answer.Region, error) {
	return Ask(r.Pin, func(p *Pinned) (answer.Region, error) {
		return answer.Region{Name: r.name, Bounds: p.meta.Bounds, Date: p.meta.Timestamp, Attribution: p.meta.Attribution},
			nil
	})
}

// RegionStatus tells how a region stands. Its JSON holds nothing that only an operator may know.
type RegionStatus struct {
	Name string `json:"name"`
	// Status is "ok"; "stale" while the file has been replaced by one that cannot be opened, and the one before is served;
	// "damaged" where the file was changed in place and cannot be read any more, or where requests have met a part of it that does
	// not match its checksum; or "unavailable", also while the file system does not answer.
	Status string `json:"status"`
	// Checksum identifies the content of the file that is served, as `caddy maps info` shows it.
	Checksum string `json:"checksum,omitempty"`
	// Timestamp is how new the map data is.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// Opened is when the file was opened.
	Opened time.Time `json:"opened,omitzero"`

	// Path is the file's absolute path.
	Path string `json:"-"`
	// Problem is why the file cannot be opened, or what is wrong with it; nil where nothing is.
	Problem error `json:"-"`

	unusable bool // every request is answered 503
}

// States of a region beside ok and unavailable.
const (
	stale   = "stale"
	damaged = "damaged"
)

// provisionRegions resolves the paths. Where a configuration is only checked, or is the first one, a file that cannot
// be opened is worth a warning, so that this works where there is none. Where it is to replace a running one, files
// are opened here already: what cannot be opened refuses the reload before any server of it listens, and no
// connection is lost to one that never serves.
func (a *App) provisionRegions(caddy.Context) error {
	a.regions.byName = make(map[string]*Region, len(a.Regions))
	repl := caddy.NewReplacer()
	for name, config := range a.Regions {
		if name == "" {
			return errors.New("a region needs a name")
		}
		if config == nil || config.Path == "" {
			return fmt.Errorf("region %s: path is missing", name)
		}
		path, err := repl.ReplaceOrErr(config.Path, true, true)
		if err != nil {
			return fmt.Errorf("region %s: path: %w", name, err)
		}
		// Links are not resolved: one that is pointed at another file is a replaced file.
		if path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("region %s: path: %w", name, err)
		}
		a.regions.byName[name] = &Region{name: name, source: acquireRegion(path)}
		a.regions.keys = append(a.regions.keys, path)
		a.regions.names = append(a.regions.names, name)
	}
	slices.Sort(a.regions.names)
	if caddy.ActiveContext().Context == nil {
		a.tryRegions()
		return nil
	}
	return a.openRegions()
}

// tryRegions warns of region files without which the app will not start. They may be elsewhere, on the machine that
// the configuration is meant for.
func (a *App) tryRegions() {
	for name, err := range a.eachRegion((*regionSource).try) {
		if err != nil {
			a.logger.Warn("a region file cannot be opened; the server will not start without it",
				zap.String("region", name), zap.String("path", a.regions.byName[name].source.path), zap.Error(err))
		}
	}
}

// eachRegion does something with all regions at the same time, and yields their names, in order, with what came of it.
func (a *App) eachRegion(do func(*regionSource) error) iter.Seq2[string, error] {
	results := make([]error, len(a.regions.names))
	var group sync.WaitGroup
	for i, name := range a.regions.names {
		group.Go(func() { results[i] = do(a.regions.byName[name].source) })
	}
	group.Wait()
	return func(yield func(string, error) bool) {
		for i, name := range a.regions.names {
			if !yield(name, results[i]) {
				return
			}
		}
	}
}

// startRegions opens the files that are not open yet. One that is open already stays so, whatever has become of its path.
func (a *App) startRegions() error { return a.openRegions() }

func (a *App) openRegions() error {
	for name, err := range a.eachRegion((*regionSource).start) {
		if err != nil {
			return fmt.Errorf("region %s: %w", name, err)
		}
	}
	return nil
}

// cleanupRegions gives back what this configuration holds. Requests that have pinned a region keep it open.
func (a *App) cleanupRegions() {
	for _, key := range a.regions.keys {
		_, _ = regionPool.Delete(key) // Destruct has no error
	}
	a.regions.keys = nil
}

// Region returns a region of the configuration by its name. Modules call it in their Provision.
func (a *App) Region(name string) (*Region, error) {
	if r, has := a.regions.byName[name]; has {
		return r, nil
	}
	if len(a.regions.names) == 0 {
		return nil, fmt.Errorf("there is no region %q: the maps app has no regions", name)
	}
	return nil, fmt.Errorf("there is no region %q among those of the maps app: %q", name, a.regions.names)
}

// RegionStatus lists the regions by name.
func (a *App) RegionStatus() []RegionStatus {
	list := make([]RegionStatus, 0, len(a.regions.names))
	for _, name := range a.regions.names {
		status := a.regions.byName[name].source.status()
		status.Name = name
		list = append(list, status)
	}
	return list
}

// ReloadRegions opens every region's file anew, also one that looks unchanged. Where one cannot be opened, the one before is
// served, and the error says so.
func (a *App) ReloadRegions() error {
	var problems []error
	for name, err := range a.eachRegion(func(s *regionSource) error { return s.look(true) }) {
		if err != nil {
			problems = append(problems, fmt.Errorf("region %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}
