package search

import (
	"bytes"
	"slices"
	"testing"

	"github.com/blevesearch/vellum"
	"pgregory.net/rapid"
)

// distance is the optimal string alignment distance of two words, by the whole matrix. The last row has the distances of
// the word to the beginnings of the term.
func distance(word, term []rune) (all int, beginnings []int) {
	d := make([][]int, len(word)+1)
	for i := range d {
		d[i] = make([]int, len(term)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			cost := 1
			if word[i-1] == term[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j-1]+cost, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && word[i-1] == term[j-2] && word[i-2] == term[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(word)][len(term)], d[len(word)]
}

// alphabets have few letters, so that words are often near each other: of one, two, three and four bytes, some with the
// same first bytes.
var alphabets = []string{"ab", "abc1", "абв", "aéè", "አኣbß", "東東京a", "𐐨𐐩a", "aаα"}

// someWord draws a word, or a text that is some edits away from another one.
func someWord(t *rapid.T, label string, letters []rune, like []rune) []rune {
	if like == nil {
		return rapid.SliceOfN(rapid.SampledFrom(letters), 1, 12).Draw(t, label)
	}
	word := slices.Clone(like)
	for range rapid.IntRange(0, 4).Draw(t, label+" edits") {
		at := rapid.IntRange(0, len(word)).Draw(t, label+" at")
		letter := rapid.SampledFrom(letters).Draw(t, label+" letter")
		switch kind := rapid.IntRange(0, 3).Draw(t, label+" edit"); {
		case kind == 0:
			word = slices.Insert(word, at, letter)
		case at == len(word):
		case kind == 1:
			word = slices.Delete(word, at, at+1)
		case kind == 2:
			word[at] = letter
		case at+1 < len(word):
			word[at], word[at+1] = word[at+1], word[at]
		}
	}
	return word
}

// TestAutomaton compares the automaton with the whole matrix, for words one after the other with one automaton.
func TestAutomaton(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var a automaton
		for range 3 {
			letters := []rune(rapid.SampledFrom(alphabets).Draw(t, "letters"))
			word := someWord(t, "word", letters[:len(letters)-1], nil) // a term may have a letter that the word lacks
			edits := uint8(rapid.IntRange(1, 2).Draw(t, "edits"))
			prefix := rapid.Bool().Draw(t, "prefix")
			a.reset(string(word), edits, prefix)
			for range 10 {
				term := someWord(t, "term", letters, nil)
				if rapid.Bool().Draw(t, "alike") {
					term = someWord(t, "alike", letters, word)
				}
				all, beginnings := distance(word, term)
				want, least := all <= int(edits), all
				if prefix {
					least = slices.Min(beginnings)
					want = least <= int(edits)
				}
				got, d := a.MatchAndDistance(string(term))
				if got != want || got && (int(d) > int(edits) || int(d) < least) || got && !prefix && int(d) != all {
					t.Fatalf("%q and %q, %d edits, prefix %v: %v, %d; want %v, %d", string(word), string(term), edits, prefix, got, d, want, least)
				}
				// No beginning of what matches is a dead end, and no other one matches always.
				s := a.Start()
				for i, b := range []byte(string(term)) {
					if want && !a.CanMatch(s) {
						t.Fatalf("%q and %q: no match after %d bytes", string(word), string(term), i)
					}
					if !want && a.WillAlwaysMatch(s) {
						t.Fatalf("%q and %q: always a match after %d bytes", string(word), string(term), i)
					}
					s = a.Accept(s, b)
				}
			}
		}
	})
}

// TestAutomatonOfTerms: iterating over a transducer finds those of many terms that are near enough, with their
// distances.
func TestAutomatonOfTerms(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		letters := []rune(rapid.SampledFrom(alphabets).Draw(t, "letters"))
		word := someWord(t, "word", letters, nil)
		known := map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "terms") {
			if term := someWord(t, "term", letters, word); len(term) > 0 {
				known[string(term)] = true
			}
		}
		var terms []string
		for term := range known {
			terms = append(terms, term)
		}
		slices.Sort(terms)
		var data bytes.Buffer
		b, err := vellum.New(&data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, term := range terms {
			if err := b.Insert([]byte(term), uint64(i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		fst, err := vellum.Load(data.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		edits := uint8(rapid.IntRange(1, 2).Draw(t, "edits"))
		want, got := map[string]uint8{}, map[string]uint8{}
		for _, term := range terms {
			if d, _ := distance(word, []rune(term)); d <= int(edits) {
				want[term] = uint8(d)
			}
		}
		var a automaton
		a.reset(string(word), edits, false)
		var i vellum.FSTIterator
		for err = i.Reset(fst, nil, nil, &a); err == nil; err = i.Next() {
			text, n := i.Current()
			if got[string(text)] = i.EditDistance(); terms[n] != string(text) {
				t.Fatalf("%q is number %d", text, n)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%q, %d edits: %v, want %v", string(word), edits, got, want)
		}
		for term, d := range want {
			if g, ok := got[term]; !ok || g != d {
				t.Fatalf("%q and %q: %d, want %d", string(word), term, g, d)
			}
		}
	})
}
