package geocoding

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/paulmach/orb"
)

// maxWork is how many steps one request may take, see origin.spend: some hundredth parts of a second. Some hundred
// steps are usual, some thousand where a category is looked for.
const maxWork = 16_000_000

// Reverse implements Geocoder. The error is that of ctx, of a request that makes no sense, ErrOverloaded, or a
// *region.DamageError.
func (x *Index) Reverse(ctx context.Context, req *Request) (result *Result, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !finite(req.Point) {
		return nil, fmt.Errorf("no position on Earth: longitude %g, latitude %g", req.Point[0], req.Point[1])
	}
	if x.empty() {
		return req.nothing(), nil
	}
	o := newOrigin(req.Point)
	o.left = maxWork
	c := x.cellAt(&o)
	if c.flags&cellCovered == 0 && !x.file.Covers(req.Point) {
		return req.nothing(), nil
	}
	s := x.scratch.Get().(*search)
	defer s.release()
	s.reset(x, o, min(max(req.Size, MinSize), MaxSize), reachOfRequest(req.MaxDistance))
	asked := s.openCategories(req.Categories)
	switch {
	case asked:
	case c.serves(s.reach):
		s.openCell(&c)
	default:
		s.open(treeGeneral)
	}
	hits := s.run()
	if len(hits) == 0 && asked {
		return req.nothing(), nil
	}
	x.enclose(s, &c)
	around := s.surroundings(req.Point)
	if len(hits) == 0 {
		hits = s.fallback(req.Point, &around)
	}
	if len(hits) == 0 {
		return req.nothing(), nil
	}
	s.settle(&around, &c)
	return s.describe(hits, req, &around), nil
}

// reachOfRequest turns the greatest distance of a request into whole centimetres.
func reachOfRequest(m float64) float64 {
	if !(m > 0) {
		m = DefaultMaxDistance
	}
	return math.Floor(min(m, math.Pi*earthRadius)*100 + 1e-6)
}

// openCategories opens the trees of the terms of a filter, and tells whether there is a filter at all. Blank terms say
// nothing; a term that nothing matches opens no tree.
func (s *search) openCategories(categories []string) (asked bool) {
	var trees []uint32
	for _, c := range categories {
		c = normalize(c)
		if c == "" {
			continue
		}
		asked = true
		if n, ok := s.x.findTerm(c); ok && !slices.Contains(trees, n) && len(s.trees) < math.MaxUint16 {
			trees = append(trees, n)
			s.open(n)
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
		text := x.bytes(t.Text)
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

// enclose finds the areas that contain the search's origin.
func (x *Index) enclose(s *search, c *cell) {
	if c.flags&cellContext != 0 {
		s.context = *x.contexts.At(int(c.context))
		for _, i := range c.areas {
			n := *x.items.At(int(x.trees.At(treeAreas).First + i))
			x.encloseBy(s, n, i)
		}
		return
	}
	s.context = enclosing{}
	t := x.trees.At(treeAreas)
	if t.Count == 0 {
		return
	}
	p := newPyramid(t.Count)
	x.encloseIn(s, t, &p, p.height, 0, p.count[p.height])
}

func (x *Index) encloseIn(s *search, t *tree, p *pyramid, level int, from, to uint32) {
	s.o.spend(int(to - from))
	if level > 0 {
		first := t.Branches + p.first[level]
		boxes := x.branches.Range(int(first+from), int(first+to))
		for i := range boxes {
			if boxes[i].holds(&s.o) {
				below, end := p.children(level, from+uint32(i))
				x.encloseIn(s, t, p, level-1, below, end)
			}
		}
		return
	}
	boxes := x.branches.Range(int(t.Boxes+from), int(t.Boxes+to))
	for i := range boxes {
		if !boxes[i].holds(&s.o) {
			continue
		}
		n := *x.items.At(int(t.First+from) + i)
		x.encloseBy(s, n, from+uint32(i))
	}
}

// encloseBy takes a feature, with the number of its area, into account if it contains the search's origin.
func (x *Index) encloseBy(s *search, n, area uint32) {
	if g := x.geometry(n); g.contains(&s.o) {
		f := x.features.At(int(n))
		s.context.add(n, x.areas.At(int(area)), f.Name, f.Extent)
	}
}

func (b *box) holds(o *origin) bool {
	return o.x >= float64(b.MinX) && o.x <= float64(b.MaxX) && o.y >= float64(b.MinY) && o.y <= float64(b.MaxY)
}

// location is the position that lies dx and dy from the origin.
func (o *origin) location(at position) orb.Point {
	lon, lat := (o.x+at.dx)/unitsPerDegree, (o.y+at.dy)/unitsPerDegree
	if lon > 180 {
		lon -= 360
	} else if lon < -180 {
		lon += 360
	}
	return orb.Point{lon, lat}
}
