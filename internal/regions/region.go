package regions

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Region is one region of a configuration: the name of a watched region file.
type Region struct {
	name    string
	watched *Watched
}

// New returns a region.
func New(name string, watched *Watched) *Region { return &Region{name, watched} }

// Name is the region's name in the configuration.
func (r *Region) Name() string { return r.name }

// Path is the absolute path of the region's file.
func (r *Region) Path() string { return r.watched.Path }

// Pin returns the current file for one request, which must Release it. It neither allocates nor locks, except before
// the file has been opened or after a reload. The error is a *region.DamageError or ErrUnavailable; both have been
// logged.
func (r *Region) Pin() (*Pinned, error) { return r.watched.pin() }

// SetSpeeds replaces all live speeds of the region, also for later files. It returns when routes use them. The error is
// that of Pin or of ctx.
func (r *Region) SetSpeeds(ctx context.Context, speeds routing.Speeds) error {
	r.watched.speeds.Store(&speeds)
	_, err := Ask(r.Pin, func(p *Pinned) (none struct{}, err error) { return none, p.Router.SetSpeeds(ctx, speeds) })
	return err
}

// Covers reports whether a position is in the region. It is false if the region cannot be read.
func (r *Region) Covers(point orb.Point) bool {
	covered, err := Ask(r.Pin, func(p *Pinned) (bool, error) { return p.Covers(point) })
	return covered && err == nil
}

// AddTo adds the region to the coverage of a trace. The error means that the file cannot be read.
func (r *Region) AddTo(c *matching.Coverage) error {
	_, err := Ask(r.Pin, func(p *Pinned) (none struct{}, err error) {
		c.Add(p.covers(&err))
		return none, err
	})
	return err
}

// Description describes a region to clients.
type Description struct {
	Name        string
	Bounds      region.Bounds
	Date        time.Time // of the map data; zero if unknown
	Attribution string
}

// Describe describes the current file. The error is that of Pin.
func (r *Region) Describe() (Description, error) {
	return Ask(r.Pin, func(p *Pinned) (Description, error) {
		return Description{Name: r.name, Bounds: p.meta.Bounds, Date: p.meta.Timestamp, Attribution: p.meta.Attribution},
			nil
	})
}

// Middle returns the middle of the current file's bounds, or a covered position near it. The error is that of Pin.
func (r *Region) Middle() (orb.Point, error) {
	return Ask(r.Pin, func(p *Pinned) (middle orb.Point, err error) {
		defer region.Recover(&err, region.FaultsPanic())
		return p.middle(), nil
	})
}

// PinCovering pins the first region that covers a position, or else the first one, whose engines find nothing there.
func PinCovering(regions []*Region, point orb.Point) (*Pinned, error) {
	return PinCoveringTrace(regions, []trace.Point{trace.At(point[1], point[0])})
}

// PinCoveringTrace pins the first region that covers a trace, or else the one that covers most of it. A region that
// cannot be read is skipped if another covers a part.
func PinCoveringTrace(regions []*Region, points []trace.Point) (*Pinned, error) {
	if len(regions) == 1 {
		return regions[0].Pin()
	}
	var problem error
	best, most := BestCovering(regions, func(r *Region) (covered, of int) {
		of, err := Ask(r.Pin, func(p *Pinned) (of int, err error) {
			covered, of = trace.CountSampled(points, p.covers(&err))
			return of, err
		})
		if err != nil {
			problem = err
			return -1, 0
		}
		return covered, of
	})
	if problem != nil && most <= 0 {
		return nil, problem // the region that cannot be read may cover it
	}
	return regions[best].Pin()
}

// Status is the state of a region. Its JSON has no details that are only for operators.
type Status struct {
	Name string `json:"name"`
	// Status is OK, Stale, Damaged or Unavailable.
	Status string `json:"status"`
	// Checksum identifies the content of the file that is served, as `caddy maps info` shows it.
	Checksum string `json:"checksum,omitempty"`
	// Timestamp is the date of the map data.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// Opened is when the file was opened.
	Opened time.Time `json:"opened,omitzero"`

	// Path is the file's absolute path.
	Path string `json:"-"`
	// Problem is why the file at the path is not served, or what is damaged; nil if nothing is wrong.
	Problem error `json:"-"`
	// Unusable means that all requests get 503.
	Unusable bool `json:"-"`
}

// Values of Status.Status.
const (
	// OK means that the file at the path is served.
	OK = "ok"
	// Stale means that the file at the path is missing, damaged or cannot be opened, and the last good one is served.
	Stale = "stale"
	// Damaged means that the file was changed in place, or that a part of it does not match its checksum.
	Damaged = "damaged"
	// Unavailable means that there is no file, or that its file system does not respond.
	Unavailable = "unavailable"
)

// Status returns the current state of the region.
func (r *Region) Status() Status {
	status := r.watched.status()
	status.Name = r.name
	return status
}

// Damaged reports whether the path needs another file: it cannot be opened and none is served, it was changed in place,
// or a part of it is damaged.
func (w *Watched) Damaged() bool {
	status := w.status()
	if status.Status == Unavailable && status.Checksum == "" {
		return status.Problem != nil && !errors.Is(status.Problem, fs.ErrNotExist) && !errors.Is(status.Problem, errHangs)
	}
	return status.Status == Damaged
}

func (w *Watched) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	status := Status{Status: Unavailable, Path: w.Path, Problem: w.problem, Unusable: true}
	p := w.current.Load()
	if p != nil {
		status.Checksum, status.Timestamp, status.Opened = p.Checksum, p.meta.Timestamp, p.opened.UTC()
	}
	switch {
	case w.hangs.Load():
		status.Problem = w.hanging()
	case p == nil:
	case p.overwritten.Load():
		status.Status = Damaged
	case p.damage.Load() != nil:
		status.Status, status.Problem, status.Unusable = Damaged, p.damage.Load(), false
	case w.problem != nil:
		status.Status, status.Unusable = Stale, false
	default:
		status.Status, status.Unusable = OK, false
	}
	return status
}
