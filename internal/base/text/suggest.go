// Package suggest helps people who wrote a word that is none of those that are known.
package text

import "strings"

// DidYouMean says what may stand in place of a word: "did you mean local? It is one of local, nominatim, photon". The
// question is left out where no known word is close.
func DidYouMean(given string, known []string) string {
	var list string
	switch len(known) {
	case 0:
		return "there is none"
	case 1:
		list = "it can only be " + known[0]
	default:
		list = "it is one of " + strings.Join(known, ", ")
	}
	if meant, found := Closest(given, known); found {
		if len(known) == 1 {
			return "did you mean " + meant + "?"
		}
		return "did you mean " + meant + "? I" + list[1:]
	}
	return list
}

// Closest returns the known word that was probably meant; ok is false where none is close.
func Closest(given string, known []string) (word string, ok bool) {
	const far = 3
	folded := []rune(strings.ToLower(given))
	if len(folded) > 64 {
		return "", false // nobody mistypes a word like that, and comparing takes the square of its length
	}
	least := min(far, max(1, len(folded)/3)) + 1
	for _, candidate := range known {
		// Where no letter is left as it was, nothing hints at the word.
		if d := distance(folded, []rune(strings.ToLower(candidate))); d < least && d < len(folded) {
			least, word, ok = d, candidate, true
		}
	}
	return word, ok
}

// distance is how many letters have to be put in, left out, replaced or swapped with their neighbour to turn one word
// into another (optimal string alignment).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
