package regions

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/coverage"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// PinCovering pins the first of several regions that covers a position. If none does, it pins the first, whose engines
// find nothing there.
func PinCovering(regions []*Region, point orb.Point) (*Pinned, error) {
	return pinBest(regions, func(p *Pinned) (covered, of int, err error) {
		yes, err := p.Covers(point)
		if yes {
			covered = 1
		}
		return covered, 1, err
	})
}

// PinCoveringTrace pins the first of several regions that covers a trace, or else the one that covers most of it.
func PinCoveringTrace(regions []*Region, points []trace.Point) (*Pinned, error) {
	return pinBest(regions, func(p *Pinned) (covered, of int, err error) {
		covered, of = trace.CountSampled(points, func(point orb.Point) bool {
			yes, damage := p.Covers(point)
			if damage != nil {
				err = damage
			}
			return yes
		})
		return covered, of, err
	})
}

// AddTo adds the region as it is now to the coverage of a trace. The error is that of a file that cannot be read.
func (r *Region) AddTo(c *matching.Coverage) error {
	p, err := r.Pin()
	if err != nil {
		return err
	}
	defer p.Release()
	c.Add(func(at orb.Point) bool {
		covered, damage := p.Covers(at)
		if damage != nil {
			err = damage
		}
		return covered
	})
	if p.File.Changed() {
		err = p.beingChanged()
	}
	return p.Report(err)
}

// pinBest pins the best of several regions. One that cannot be read is passed over as long as another covers
// something.
func pinBest(regions []*Region, measure func(*Pinned) (covered, of int, err error)) (*Pinned, error) {
	if len(regions) == 1 {
		return regions[0].Pin()
	}
	pins := make([]*Pinned, 0, len(regions)) // of those that were measured; nil for one that cannot be read
	var problem error
	best, covered := coverage.Best(regions, func(r *Region) (covered, of int) {
		p, covered, of, err := r.cover(measure)
		pins = append(pins, p)
		if err != nil {
			problem = err
			return -1, 0
		}
		return covered, of
	})
	if problem != nil && covered <= 0 {
		best = -1 // the region that cannot be read may be the one
	}
	for i, p := range pins {
		if p != nil && i != best {
			p.Release()
		}
	}
	if best < 0 {
		return nil, problem
	}
	return pins[best], nil
}

// cover pins a region and measures it. What was read while the file was written over in place counts for nothing.
func (r *Region) cover(measure func(*Pinned) (covered, of int, err error)) (p *Pinned, covered, of int, err error) {
	if p, err = r.Pin(); err != nil {
		return nil, 0, 0, err
	}
	covered, of, err = measure(p)
	if p.File.Changed() {
		err = p.beingChanged()
		r.watched.replace(p) // so that the next request finds the file as it is then
	}
	if err == nil {
		return p, covered, of, nil
	}
	p.Release()
	return nil, 0, 0, p.Report(err)
}
