package regions

import (
	"errors"
	"io/fs"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Region is one region of a configuration: a name for a region file that may change while requests are served.
type Region struct {
	name    string
	watched *Watched
}

// New returns a region of that name.
func New(name string, watched *Watched) *Region { return &Region{name, watched} }

// Name is what the configuration calls the region.
func (r *Region) Name() string { return r.name }

// Path is the absolute path of the region's file.
func (r *Region) Path() string { return r.watched.Path }

// Pin returns the region as it is now, for one request, which must Release it. It neither allocates nor locks, except
// for a request that comes before the file has been opened or after its configuration has been replaced. The error is a
// *region.DamageError, or ErrUnavailable where the file cannot be opened; both have been logged.
func (r *Region) Pin() (*Pinned, error) { return r.watched.pin() }

// Covers reports whether a position lies in the region as it is now; false where the region cannot be read.
func (r *Region) Covers(point orb.Point) bool {
	covered, err := Ask(r.Pin, func(p *Pinned) (bool, error) { return p.Covers(point) })
	return covered && err == nil
}

// AddTo adds the region as it is now to the coverage of a trace. The error is that of a file that cannot be read.
func (r *Region) AddTo(c *matching.Coverage) error {
	_, err := Ask(r.Pin, func(p *Pinned) (none struct{}, err error) {
		c.Add(p.covers(&err))
		return none, err
	})
	return err
}

// Description is what clients may know of a region.
type Description struct {
	Name        string
	Bounds      region.Bounds
	Date        time.Time // how new the map data is; zero where that is not known
	Attribution string
}

// Describe describes the region as it is now. The error is that of Pin.
func (r *Region) Describe() (Description, error) {
	return Ask(r.Pin, func(p *Pinned) (Description, error) {
		return Description{Name: r.name, Bounds: p.meta.Bounds, Date: p.meta.Timestamp, Attribution: p.meta.Attribution},
			nil
	})
}

// PinCovering pins the first of several regions that covers a position. If none does, it pins the first, whose engines
// find nothing there.
func PinCovering(regions []*Region, point orb.Point) (*Pinned, error) {
	return PinCoveringTrace(regions, []trace.Point{trace.At(point[1], point[0])})
}

// PinCoveringTrace pins the first of several regions that covers a trace, or else the one that covers most of it. One
// that cannot be read is passed over as long as another covers something.
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
		return nil, problem // the region that cannot be read may be the one
	}
	return regions[best].Pin()
}

// Status describes a region. Its JSON holds nothing that only an operator may know.
type Status struct {
	Name string `json:"name"`
	// Status is OK, Stale, Damaged or Unavailable.
	Status string `json:"status"`
	// Checksum identifies the content of the file that is served, as `caddy maps info` shows it.
	Checksum string `json:"checksum,omitempty"`
	// Timestamp is how new the map data is.
	Timestamp time.Time `json:"timestamp,omitzero"`
	// Opened is when the file was opened.
	Opened time.Time `json:"opened,omitzero"`

	// Path is the file's absolute path.
	Path string `json:"-"`
	// Problem is why the file at the path is not served, or what is wrong with it; nil if nothing is.
	Problem error `json:"-"`
	// Unusable says that all requests get 503.
	Unusable bool `json:"-"`
}

// Values of Status.Status.
const (
	// OK: the file at the path is served.
	OK = "ok"
	// Stale: the file at the path is missing, damaged or cannot be opened, and the last good one is served.
	Stale = "stale"
	// Damaged: the file was changed in place and cannot be read any more, or a part of it does not match its checksum.
	Damaged = "damaged"
	// Unavailable: there is no file, or its file system does not respond.
	Unavailable = "unavailable"
)

// Status describes the region now.
func (r *Region) Status() Status {
	status := r.watched.status()
	status.Name = r.name
	return status
}

// Damaged reports whether another file is needed at the path: the one that is there cannot be opened and none is
// served, the file was changed in place, or a part of it is damaged.
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
	case p.met.Load() != nil:
		status.Status, status.Problem, status.Unusable = Damaged, p.met.Load(), false
	case w.problem != nil:
		status.Status, status.Unusable = Stale, false
	default:
		status.Status, status.Unusable = OK, false
	}
	return status
}
