package search

import (
	"errors"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/blevesearch/vellum"

	"github.com/mapsedge/caddy-maps/internal/search/words"
)

// maxTokens limits the words of a query. Further ones are ignored.
const maxTokens = 12

// quality says how well a word of a query matches a term: 0 for not at all, 100 for the same.
type quality = uint8

// The qualities of matches, by how they were found.
const (
	sameWord       = 100
	variantWord    = 98 // an abbreviation, or what it is of
	latinWord      = 95 // in another alphabet
	joinedWords    = 92
	unfinishedWord = 90
	oneEdit        = 80
	twoEdits       = 62
	editedPrefix   = 66
	repeatedWord   = 80 // of a name that has the word once
)

// qualities are those of the words of a query.
type qualities [maxTokens]quality

// raise raises the qualities to those of q.
func (to *qualities) raise(q *qualities) {
	for i := range to {
		to[i] = max(to[i], q[i])
	}
}

// token is a word of the query.
type token struct {
	words.Token
	weight   float32 // how much it counts: 0 to 255
	postings int     // how many bytes its lists have
	house    uint32  // as a house number
	rest     string
	isHouse  bool
	goesOn   bool  // with the next word: 12 a, 12 bis
	known    bool  // some term is the word, a variant of it, begins with it, or is within some edits
	edits    uint8 // terms within so many edits have been added
	repeated bool  // an earlier word is the same
}

// hit is a term that a word matches.
type hit struct {
	term    uint32
	token   uint8
	quality quality
}

// span is a range of terms: all that begin with the last word.
type span struct {
	from, to uint32
	token    uint8
	quality  quality
}

// The weights of words that are no terms, or whose terms tell little.
const (
	houseWeight      = 110
	postcodeWeight   = 140
	unfinishedWeight = 170
	unknownWeight    = 220
)

// read splits a query into words.
func (s *searcher) read(text string) {
	s.words = words.Append(s.words[:0], text)
	s.tokens = s.tokens[:0]
	for _, w := range s.words[:min(len(s.words), maxTokens)] {
		t := token{Token: w, weight: unknownWeight}
		var n int
		if n, t.rest, t.isHouse = words.HouseNumber(w.Text); t.isHouse {
			t.house = uint32(n)
		}
		t.repeated = slices.ContainsFunc(s.tokens, func(o token) bool { return o.Text == t.Text })
		if i := len(s.tokens) - 1; i >= 0 && s.tokens[i].isHouse && !t.Number && !t.Breaks {
			_, _, s.tokens[i].goesOn = words.HouseNumber(s.tokens[i].Text + t.Text)
		}
		s.tokens = append(s.tokens, t)
	}
}

// expand finds the terms of all words.
func (s *searcher) expand(autocomplete bool) error {
	s.hits, s.spans = s.hits[:0], s.spans[:0]
	for i := range s.tokens {
		t := &s.tokens[i]
		t.weight = math.MaxUint8
		err := s.addTerm(i, 1, t.Text, sameWord)
		for _, v := range words.Variants(t.Text) {
			err = errors.Join(err, s.addTerm(i, 1, v, variantWord))
		}
		if latin := words.Latin(t.Text); latin != "" {
			err = errors.Join(err, s.addTerm(i, 1, latin, latinWord))
		}
		if i+1 < len(s.tokens) && !s.tokens[i+1].Breaks {
			err = errors.Join(err, s.addTerm(i, 2, t.Text+s.tokens[i+1].Text, joinedWords))
		}
		if autocomplete && i == len(s.tokens)-1 {
			err = errors.Join(err, s.addPrefix(uint8(i)))
		}
		if err != nil {
			return err
		}
		switch {
		case t.isHouse && len(t.Text) < minPostcode:
			t.weight = houseWeight
		case t.Number:
			t.weight = min(t.weight, postcodeWeight)
		case !t.known:
			t.weight = unknownWeight
		}
	}
	return nil
}

// addTerm adds a term, if it is one, for some words from the i-th on.
func (s *searcher) addTerm(i, n int, text string, q quality) error {
	term, ok, err := s.lookup.Get([]byte(text))
	if err != nil || !ok {
		return err
	}
	for j := range n {
		s.hits = append(s.hits, hit{uint32(term), uint8(i + j), q})
	}
	if t := &s.tokens[i]; n == 1 {
		t.known = true
		t.weight = min(t.weight, float32(*s.weights.At(int(term))))
	}
	return nil
}

// addPrefix adds the terms that begin with a word.
func (s *searcher) addPrefix(i uint8) error {
	t := &s.tokens[i]
	first := func(from []byte) (uint32, error) {
		s.any.left = maxTermSteps
		err := s.iterator.Reset(s.terms, from, nil, &s.any)
		if errors.Is(err, vellum.ErrIteratorDone) {
			return uint32(s.weights.Len()), nil
		}
		_, n := s.iterator.Current()
		return uint32(n), err
	}
	from, err := first([]byte(t.Text))
	if err != nil {
		return err
	}
	to, err := first(after(t.Text))
	if err != nil || from >= to {
		return err
	}
	s.spans = append(s.spans, span{from, to, i, unfinishedWord})
	if t.weight = min(t.weight, unfinishedWeight); !t.known {
		t.known = true
	}
	return nil
}

// after returns the first text after all that begin with one. No byte of UTF-8 is 0xff.
func after(prefix string) []byte {
	b := []byte(prefix)
	b[len(b)-1]++
	return b
}

const (
	// The shortest words, in letters, that may have one or two edits, and the shortest number that may have one.
	minOneEdit, minTwoEdits, minPostcode = 4, 8, 5
	// maxFuzzy limits the terms that a misspelled word may mean.
	maxFuzzy = 256
)

// addFuzzy adds the terms within at most some edits of a word: 1 or 2. Most words with errors have one, which is found
// much faster.
func (s *searcher) addFuzzy(i, edits uint8, autocomplete bool) error {
	t := &s.tokens[i]
	letters := utf8.RuneCountInString(t.Text)
	switch {
	case t.Number && letters < minPostcode, letters+1 < minOneEdit: // that of a longer one may lack a letter: see allows
		edits = 0
	case t.Number || letters+1 < minTwoEdits:
		edits = min(edits, 1)
	}
	if edits <= t.edits {
		return nil
	}
	first := t.edits == 0
	t.edits = edits
	found := len(s.hits)
	if err := s.addEdits(i, edits, false, [3]quality{sameWord, oneEdit, twoEdits}); err != nil {
		return err
	}
	if first && autocomplete && int(i) == len(s.tokens)-1 && !t.Number && letters >= minOneEdit {
		if err := s.addEdits(i, 1, true, [3]quality{unfinishedWord, editedPrefix}); err != nil {
			return err
		}
	}
	if !t.known && len(s.hits) > found {
		t.known, t.weight = true, postcodeWeight
		for _, h := range s.hits[found:] {
			t.weight = max(t.weight, float32(*s.weights.At(int(h.term))))
		}
	}
	return nil
}

// allows reports whether a word may have so many edits, by the letters of the longer one of it and the term.
func allows(letters int, edits uint8) bool {
	return edits == 0 || letters >= minOneEdit && edits == 1 || letters >= minTwoEdits
}

// addEdits adds the terms within some edits of a word, or those that begin so, with qualities by the number of edits.
func (s *searcher) addEdits(i uint8, edits uint8, prefix bool, qualities [3]quality) error {
	s.automaton.reset(s.tokens[i].Text, edits, prefix)
	found := len(s.hits)
	err := s.iterator.Reset(s.terms, nil, nil, &s.automaton)
	for ; err == nil && len(s.hits)-found < maxFuzzy; err = s.iterator.Next() {
		text, term := s.iterator.Current()
		distance := s.iterator.EditDistance()
		if allows(max(len(s.automaton.word), utf8.RuneCount(text)), distance) {
			s.hits = append(s.hits, hit{uint32(term), i, qualities[distance]})
		}
	}
	if errors.Is(err, vellum.ErrIteratorDone) {
		return nil
	}
	return err
}
