package geocoding

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// maxWork limits the steps of a request, see Origin.Spend, to some hundredths of a second. Some hundred steps are
// usual, some thousand with a category filter.
const maxWork = 16_000_000

// Reverse implements Geocoder. Its errors are those of ctx, of a position that is not on Earth, ErrWork, and
// *region.DamageError.
func (x *Index) Reverse(ctx context.Context, req *Request) (result *Result, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !geometry.Finite(req.Point) {
		return nil, fmt.Errorf("no position on Earth: longitude %g, latitude %g", req.Point[0], req.Point[1])
	}
	if x.empty() {
		return req.nothing(), nil
	}
	o := geometry.NewOrigin(req.Point)
	o.Left = maxWork
	around := x.runOf(req.Point)
	if around.Context == 0 && !x.file.Covers(req.Point) { // tiles that areas touch are covered
		return req.nothing(), nil
	}
	s := x.scratch.Get().(*search)
	defer s.release()
	s.reset(x, &o, min(max(req.Size, MinSize), MaxLimit), farthestOf(req.MaxDistance))
	s.request = req
	asked := s.searchCategories(req.Categories)
	if !asked && !req.Areas {
		s.search(placefile.TreeGeneral)
	}
	hits := s.hits
	if len(hits) == 0 && asked {
		return req.nothing(), nil
	}
	s.enclose(around.Context)
	where := s.locate(req.Point)
	byParts := len(hits) == 0 && (req.Keep != nil || req.Areas)
	if len(hits) == 0 && !byParts {
		hits = s.fallback(req.Point, &where)
	}
	if len(hits) > 0 || byParts {
		s.settle(&where, around.Near)
		s.infer(&where)
	}
	if byParts {
		hits = s.parts(&where)
	}
	if len(hits) == 0 {
		return req.nothing(), nil
	}
	return s.describe(hits, req, &where), nil
}

// farthestOf turns the greatest distance of a request into whole centimetres.
func farthestOf(m float64) float64 {
	if !(m > 0) {
		m = DefaultMaxDistance
	}
	return math.Floor(min(m, math.Pi*geometry.EarthRadius)*100 + 1e-6)
}

// searchCategories searches the trees of the terms of a filter, and reports whether there is a filter. Blank terms are
// ignored; a term without matches has no tree.
func (s *search) searchCategories(categories []string) (asked bool) {
	var trees []uint32
	for _, c := range categories {
		c = placefile.Normalize(c)
		if c == "" {
			continue
		}
		asked = true
		if n, ok := s.x.findTerm(c); ok && !slices.Contains(trees, n) {
			trees = append(trees, n)
			s.search(n)
		}
	}
	return asked
}

// findTerm returns the tree of a term in lower case.
func (x *Index) findTerm(word string) (tree uint32, ok bool) {
	from, to := 0, x.terms.Len()
	for from < to {
		middle := (from + to) / 2
		t := x.terms.At(middle)
		text := x.text.String(t.Text)
		if string(text) == word {
			return t.Tree, true
		}
		if string(text) < word {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return 0, false
}
