package search

import (
	"cmp"
	"slices"
)

// candidate is a name that has words of the query.
type candidate struct {
	name     uint32
	at       uint32  // where its documents begin in the names' section
	count    uint32  // of its documents
	bound    float32 // the greatest text score that one of them can have
	cover    float32 // the part of the name that the query has, 0 to 1
	kind     NameKind
	order    float32 // 1, or otherOrder
	houses   bool    // some of its documents have houses
	twice    bool    // it has a repeated word of the query twice
	greatest uint8   // importance
	isPlace  bool    // it is the whole name of an area or a settlement, maybe
	q        qualities
}

const (
	// firstPostings is how many bytes of lists the first search reads beyond those of the rarest word, allPostings how
	// many the second one does.
	firstPostings, allPostings = 1500, 60_000
	// commonWeight is more than the weights of words that so many names have that they tell nothing, such as "street".
	commonWeight = 90
)

// sortHits sorts the hits by terms, for find, and counts what each word costs.
func (s *searcher) sortHits() {
	slices.SortFunc(s.hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.token, b.token), -cmp.Compare(a.quality, b.quality))
	})
	for i := range s.tokens {
		s.tokens[i].postings = 0
	}
	for _, h := range s.hits {
		s.tokens[h.token].postings += int(*s.lists.At(int(h.term + 1)) - *s.lists.At(int(h.term)))
	}
	for _, p := range s.spans {
		s.tokens[p.token].postings += int(*s.lists.At(int(p.to)) - *s.lists.At(int(p.from)))
	}
}

// find finds the names that have rare words of the query: at least those of the rarest one, unless they are more than
// allPostings. It reports whether there are too many.
func (s *searcher) find(budget int) (tooMany bool) {
	s.candidates = s.candidates[:0]
	s.seen.reset()
	s.entities.reset()
	clear(s.categories[:])
	var order [maxTokens]uint8
	n := 0
	for i := range s.tokens {
		if s.tokens[i].postings > 0 {
			order[n] = uint8(i)
			n++
		}
	}
	slices.SortFunc(order[:n], func(a, b uint8) int { return cmp.Compare(s.tokens[a].postings, s.tokens[b].postings) })
	spent := 0
	for k, i := range order[:n] {
		cost := s.tokens[i].postings
		switch {
		case k == 0 && cost > allPostings:
			return true
		case k > 0 && (spent+cost > budget || cost > firstPostings && s.tokens[i].weight < commonWeight):
			return false
		case k > 0:
			spent += cost
		}
		s.visitToken(i)
	}
	return false
}

// visitToken reads the names of a word's terms.
func (s *searcher) visitToken(token uint8) {
	for i := range s.hits {
		if h := &s.hits[i]; h.token == token && (i == 0 || s.hits[i-1].term != h.term || s.hits[i-1].token != token) {
			s.visitTerms(h.term, h.term+1)
		}
	}
	for _, p := range s.spans {
		if p.token == token {
			s.visitTerms(p.from, p.to)
		}
	}
}

// visitTerms reads the names of a range of terms.
func (s *searcher) visitTerms(from, to uint32) {
	start, end := *s.lists.At(int(from)), *s.lists.At(int(to))
	r := reader{data: s.postings.Range(int(start), int(end))}
	for r.at < len(r.data) {
		name := uint32(0)
		for range r.uint() {
			name += r.uint()
			if s.seen.add(name, int32(len(s.candidates))) {
				s.visitName(name)
			}
		}
	}
}

// visitName compares a name with the query, and makes it a candidate.
func (s *searcher) visitName(name uint32) {
	c, r, ok := s.compare(name)
	if !ok {
		return
	}
	entity, count := uint32(0), r.uint()
	c.isPlace = count > 0 && c.kind != NameCategory && c.cover >= wholeName
	if count > 0 {
		// What has only a part of the name is likely to be something else.
		q := c.q
		for i := range q {
			q[i] = quality(float32(q[i]) * (1 + c.cover) / 2)
		}
		for range count {
			entity += r.uint()
			s.entities.raise(entity, &q)
		}
	}
	if c.kind == NameCategory && count > 0 { // which is its one entity
		r = s.record(entity)
		r.at = categoryHead
		c.name = entity
		s.categories[entity+1] = uint32(len(s.candidates) + 1)
	}
	for i := range s.tokens {
		if s.tokens[i].repeated && !c.twice { // "Newport Road, Newport" is rather in Newport
			c.q[i] = quality(int(c.q[i]) * repeatedWord / sameWord)
		}
	}
	if c.count = r.uint(); c.count > 0 {
		c.at = uint32(r.at)
		s.candidates = append(s.candidates, c)
	}
}

// categoryHead is where the documents of a category begin in its record.
const categoryHead = 4

// record returns a reader of the record of a name.
func (s *searcher) record(name uint32) reader {
	return reader{data: s.names.Range(int(*s.offsets.At(int(name))), int(*s.offsets.At(int(name + 1))))}
}

// compare compares a name with the query; false if they have no word in common. The reader is at the entities.
func (s *searcher) compare(name uint32) (c candidate, r reader, ok bool) {
	r = s.record(name)
	head := r.byte()
	c.name, c.kind, c.houses, c.greatest = name, NameKind(head&^nameHasHouses), head&nameHasHouses != 0, r.byte()
	matched, all := float32(0), float32(0)
	last := uint8(0) // word
	c.order = 1
	for range r.uint() {
		t := r.uint()
		weight := float32(*s.weights.At(int(t)))
		all += weight
		before := c.q
		best, token := s.match(t, &c.q, last)
		if best == 0 {
			continue
		}
		ok = true
		matched += weight * float32(best) / sameWord
		if token < last {
			c.order = otherOrder
		}
		last = token
		for i := range s.tokens { // the name has a word of the query twice
			if s.tokens[i].repeated && before[i] > 0 {
				c.twice = true
			}
		}
	}
	if !ok {
		return c, r, false
	}
	c.cover = matched / all
	return c, r, true
}

// match raises the qualities of the words that match a term, and returns the greatest, with its word: of several, one
// that is not before another one.
func (s *searcher) match(term uint32, q *qualities, last uint8) (best quality, token uint8) {
	take := func(i uint8, level quality) {
		q[i] = max(q[i], level)
		if level > best || level == best && token < last {
			best, token = level, i
		}
	}
	from, to := 0, len(s.hits)
	if to > 0 && (term < s.hits[0].term || term > s.hits[to-1].term) {
		from = to
	}
	for from < to {
		if m := (from + to) / 2; s.hits[m].term < term {
			from = m + 1
		} else {
			to = m
		}
	}
	for ; from < len(s.hits) && s.hits[from].term == term; from++ {
		take(s.hits[from].token, s.hits[from].quality)
	}
	for _, p := range s.spans {
		if term >= p.from && term < p.to {
			take(p.token, p.quality)
		}
	}
	return best, token
}
