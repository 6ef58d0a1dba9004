package search

import "github.com/mapsedge/caddy-maps/internal/geocoding"

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
	for i := range s.candidates {
		visited += int(s.candidates[i].count)
		s.visitDocuments(&s.candidates[i])
	}
	return got, ranks(s.best), visited, nil
}

// MaxVisited is from how many documents on they are ranked along their tree.
const MaxVisited = fewDocuments
