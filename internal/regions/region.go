package regions

import (
	"errors"
	"io/fs"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/response"
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
// *region.DamageError, or an apierror.Error where the file cannot be opened; both have been logged.
func (r *Region) Pin() (*Pinned, error) { return r.watched.pin() }

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
func (r *Region) Describe() (response.Region, error) {
	return Ask(r.Pin, func(p *Pinned) (response.Region, error) {
		return response.Region{Name: r.name, Bounds: p.meta.Bounds, Date: p.meta.Timestamp, Attribution: p.meta.Attribution},
			nil
	})
}

// Status tells how a region stands. Its JSON holds nothing that only an operator may know.
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
	// Problem is why the file cannot be opened, or what is wrong with it; nil where nothing is.
	Problem error `json:"-"`
	// Unusable says that every request is answered 503.
	Unusable bool `json:"-"`
}

// How a region stands.
const (
	// OK: what stands at the path is served.
	OK = "ok"
	// Stale: the file has been replaced by one that cannot be opened, and the one before is served.
	Stale = "stale"
	// Damaged: the file was changed in place and cannot be read any more, or requests have met a part of it that does not
	// match its checksum.
	Damaged = "damaged"
	// Unavailable: there is no file, or its file system does not answer.
	Unavailable = "unavailable"
)

// Status tells how the region stands now.
func (r *Region) Status() Status {
	status := r.watched.status()
	status.Name = r.name
	return status
}

// Damaged reports whether another file is needed at the path: the one that stands there cannot be opened and none is
// served, the file was changed in place, or requests have met a part of it that is damaged.
func (s *Watched) Damaged() bool {
	status := s.status()
	if status.Status == Unavailable && status.Checksum == "" {
		problem := status.Problem
		return problem != nil && !errors.Is(problem, fs.ErrNotExist) && !errors.Is(problem, errHangs)
	}
	return status.Status == Damaged
}

func (s *Watched) status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Status: Unavailable, Path: s.Path, Problem: s.problem, Unusable: !s.closed}
	p := s.current.Load()
	if p == nil {
		return status
	}
	status.Unusable = false
	status.Checksum, status.Timestamp, status.Opened = p.File.Checksum(), p.meta.Timestamp, p.opened.UTC()
	met := p.met.Load()
	switch {
	case s.hangs.Load():
		status.Status, status.Unusable = Unavailable, true
	case p.overwritten.Load() != nil:
		status.Status, status.Unusable = Damaged, true
	case met != nil:
		status.Status, status.Problem = Damaged, met
	case s.problem != nil:
		status.Status = Stale
	default:
		status.Status = OK
	}
	return status
}
