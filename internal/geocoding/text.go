package geocoding

import (
	"bytes"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// textBuffer collects the text of an answer.
type textBuffer struct{ bytes []byte }

// span is a part of the text.
type span struct{ from, to uint32 }

func (s span) of(text string) string { return text[s.from:s.to] }

func (t *textBuffer) reset() { t.bytes = t.bytes[:0] }

// since returns the text after a length.
func (t *textBuffer) since(length int) span { return span{uint32(length), uint32(len(t.bytes))} }

func (t *textBuffer) add(s []byte) span {
	from := len(t.bytes)
	t.bytes = append(t.bytes, s...)
	return t.since(from)
}

// replace replaces a span by another text unless that is empty, and reports whether it did.
func (t *textBuffer) replace(p *span, s []byte) bool {
	if len(s) == 0 {
		return false
	}
	*p = t.add(s)
	return true
}

// same reports whether two parts are the same, ignoring case.
func (t *textBuffer) same(a, b span) bool {
	return a.to-a.from == b.to-b.from && bytes.EqualFold(t.bytes[a.from:a.to], t.bytes[b.from:b.to])
}

// words joins non-empty parts with spaces.
func (t *textBuffer) words(parts ...span) span {
	from := len(t.bytes)
	for _, p := range parts {
		if p.from == p.to {
			continue
		}
		if len(t.bytes) > from {
			t.bytes = append(t.bytes, ' ')
		}
		t.bytes = append(t.bytes, t.bytes[p.from:p.to]...)
	}
	return t.since(from)
}

func (t *textBuffer) addString(s string) span {
	from := len(t.bytes)
	t.bytes = append(t.bytes, s...)
	return t.since(from)
}

var kindNames = [...]string{region.KindNode: "node:", region.KindWay: "way:", region.KindRelation: "relation:"}

func (t *textBuffer) id(ref uint64) span {
	from := len(t.bytes)
	t.bytes = append(t.bytes, kindNames[ref&3]...)
	t.bytes = strconv.AppendInt(t.bytes, int64(ref)>>2, 10)
	return t.since(from)
}

// join joins non-empty parts with commas. It skips what is there already, even in a part: "Bear, Delaware" has the
// state.
func (t *textBuffer) join(parts ...span) span {
	from := len(t.bytes)
	for _, p := range parts {
		if p.from == p.to || t.repeats(from, p) {
			continue
		}
		if len(t.bytes) > from {
			t.bytes = append(t.bytes, ", "...)
		}
		t.bytes = append(t.bytes, t.bytes[p.from:p.to]...)
	}
	return t.since(from)
}

// repeats reports whether the text from an offset on has a part between commas, ignoring case.
func (t *textBuffer) repeats(from int, p span) bool {
	part := t.bytes[p.from:p.to]
	for rest := t.bytes[from:]; len(rest) >= len(part); {
		if bytes.EqualFold(rest[:len(part)], part) && (len(rest) == len(part) || bytes.HasPrefix(rest[len(part):], comma)) {
			return true
		}
		i := bytes.Index(rest, comma)
		if i < 0 {
			break
		}
		rest = rest[i+len(comma):]
	}
	return false
}

var comma = []byte(", ")
