package search

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// Ranks returns the ranks of what a query finds, and those of what it would find if all documents of the names that
// have its words were ranked, one by one. Visited is how many they are.
func (x *Index) Ranks(q *geocoding.Query) (got, want []float64, visited int, err error) {
	ranks := func(best []found) (all []float64) {
		for _, f := range best { // as describe does
			if f.score.Text >= almostLeast*best[0].score.Text {
				all = append(all, f.score.Total)
			}
		}
		return all
	}
	s := newSearcher(x)
	if err := s.search(q); err != nil {
		return nil, nil, 0, err
	}
	got, s.best = ranks(s.best), s.best[:0]
	var all []found
	for i := range s.candidates {
		c := &s.candidates[i]
		visited += int(c.count)
		r := s.record(c.name)
		r.at = int(c.at)
		d := uint32(0)
		for range c.count {
			d += r.uint()
			s.best = s.best[:0] // each as if it was the only one
			s.visitDocument(c, d)
			all = append(all, s.best...)
		}
	}
	s.best = s.best[:0]
	if len(all) > 0 {
		top := slices.MaxFunc(all, func(a, b found) int { return cmp.Compare(a.score.Total, b.score.Total) })
		for _, f := range all {
			if f.score.Text >= almostLeast*top.score.Text {
				s.keep(f, s.documents.At(int(f.document)))
			}
		}
	}
	return got, ranks(s.best), visited, nil
}

// MaxVisited is from how many documents on they are ranked along their tree.
const MaxVisited = fewDocuments
