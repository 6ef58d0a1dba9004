package text

import "strings"

// DidYouMean returns a text that lists the known words, with the closest one first: "did you mean local? It is one of
// local, nominatim, photon". If none is close, it is only the list.
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

// OrList joins words, at least one, with commas, and the last with "or": "car, bicycle or foot".
func OrList(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Closest returns the known word that was probably meant. ok is false if none is close.
func Closest(given string, known []string) (word string, ok bool) {
	const far = 3
	folded := []rune(strings.ToLower(given))
	if len(folded) > 64 {
		return "", false // no typing error, and comparing needs quadratic time
	}
	least := min(far, max(1, len(folded)/3)) + 1
	for _, candidate := range known {
		// At least one letter must be the same.
		if d := distance(folded, []rune(strings.ToLower(candidate))); d < least && d < len(folded) {
			least, word, ok = d, candidate, true
		}
	}
	return word, ok
}

// distance is the number of letters to insert, delete, replace or swap with their neighbour to change one word into
// another (optimal string alignment).
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
