package search

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/search/words"
)

// house is a house of a document that a query names.
type house struct {
	feature uint32 // + 1, 0 for none; of an interpolated one, the house before it
	next    uint32 // + 1: of an interpolated one, the house after it; else 0
	context uint32
	between float32
	token   uint8 // the word with its number
}

// The qualities of house numbers.
const (
	inRange      = 92 // 14 of 12-14
	otherRest    = 88 // 34 where there is only 34a
	interpolated = 72
)

// maxNumberGap is the greatest difference of two numbers between which houses are interpolated.
const maxNumberGap = 100

// findHouse finds the house of a document whose number is in the query, and raises the qualities of the words that it
// matches.
func (s *searcher) findHouse(d *Document, q *qualities) (best house) {
	for i := range s.tokens {
		t := &s.tokens[i]
		if !t.isHouse || q[i] > 0 {
			continue
		}
		rest, letter := t.rest, -1
		if t.goesOn && q[i+1] == 0 {
			rest, letter = t.rest+s.tokens[i+1].Text, i+1
		}
		h, quality, exact := s.lookUp(d, t.house, rest, q)
		if quality == 0 {
			continue
		}
		q[i] = quality
		if exact && letter >= 0 {
			q[letter] = sameWord
		}
		h.token = uint8(i)
		if h.next == 0 {
			s.matchAddress(&h, q)
		}
		return h
	}
	return house{}
}

// lookUp finds a number among the houses of a document. exact says that the rest is the same.
func (s *searcher) lookUp(d *Document, number uint32, rest string, q *qualities) (best house, quality quality,
	exact bool) {
	r := reader{data: s.houses.Range(int(d.Houses), s.houseEnd(d))}
	var low, high house // the nearest on the same side of the street
	lowNumber, highNumber := uint32(0), uint32(0)
	n, feature := uint32(0), int64(0)
	most := float32(-1)
	for range r.uint() {
		n += r.uint()
		head := r.byte()
		length := int(head &^ houseHasContext)
		own := r.data[r.at : r.at+length]
		r.at += length
		feature += r.int()
		f, context := uint32(feature)+1, d.Context
		if head&houseHasContext != 0 {
			context = r.uint()
		}
		level, same := uint8(0), string(own) == rest
		switch {
		case n == number && same:
			level = sameWord
		case n == number:
			level = otherRest
		case n < number && length > 1 && own[0] == '-':
			if last, _, ok := words.HouseNumber(string(own[1:])); ok && uint32(last) >= number && (number-n)%2 == 0 {
				level = inRange
			}
		}
		if level > 0 && level >= quality {
			// Of several houses with the number, the one whose address fits best.
			h := house{feature: f, context: context}
			with := *q
			s.matchAddress(&h, &with)
			if fits := s.matched(&with); level > quality || fits > most {
				best, quality, most, exact = h, level, fits, same
			}
			continue
		}
		if (n^number)&1 == 0 {
			if n < number {
				low, lowNumber = house{feature: f}, n
			} else if high.feature == 0 && n > number {
				high, highNumber = house{feature: f}, n
			}
		}
	}
	if quality == 0 && low.feature != 0 && high.feature != 0 && highNumber-lowNumber <= maxNumberGap {
		return house{feature: low.feature, next: high.feature,
			between: float32(number-lowNumber) / float32(highNumber-lowNumber)}, interpolated, false
	}
	return best, quality, exact
}

// matchAddress raises the qualities of the words that are in the address of a house, which may differ from that of its
// street.
func (s *searcher) matchAddress(h *house, q *qualities) {
	missing := false
	for i := range s.tokens {
		missing = missing || q[i] == 0
	}
	if !missing {
		return
	}
	q.raise(s.contextOf(h.context, 0))
	f := s.places.Feature(h.feature - 1)
	for _, text := range [...][]byte{f.Own.Postcode, f.Name} {
		if len(text) == 0 {
			continue
		}
		s.words = words.Append(s.words[:0], string(text))
		for _, w := range s.words {
			if term, ok, err := s.lookup.Get([]byte(w.Text)); ok && err == nil {
				s.match(uint32(term), q, 0)
			}
		}
	}
}

// houseEnd returns an upper bound of where the houses of a document end.
func (s *searcher) houseEnd(d *Document) int {
	const most = 1 << 20
	return min(int(d.Houses)+most, s.Index.houses.Len())
}

// itemOf returns the feature to describe for a document that was found.
func (s *searcher) itemOf(f *found) geocoding.Item {
	d := s.documents.At(int(f.document))
	if f.feature == 0 {
		return geocoding.Item{Feature: d.Feature, At: d.Position(), Part: geocoding.Part(d.Part)}
	}
	before := s.places.Feature(f.feature - 1)
	at := before.Geometry.Inner()
	if f.next == 0 {
		return geocoding.Item{Feature: f.feature - 1, At: at}
	}
	after := s.places.Feature(f.next - 1)
	to, t := after.Geometry.Inner(), float64(f.between)
	return geocoding.Item{Feature: d.Feature, House: []byte(s.tokens[f.token].Text),
		At: orb.Point{at[0] + t*(to[0]-at[0]), at[1] + t*(to[1]-at[1])}}
}
