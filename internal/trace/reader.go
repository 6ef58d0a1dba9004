package trace

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// maxDepth limits the nesting of values that Skip accepts.
const maxDepth = 64

// reader reads a trace in JSON. Its methods expect something at the current position, after white space, and move past
// it. After the first error, which Err returns, every method does nothing.
//
// All other requests are read by go-json-experiment. It does not fit here for two reasons: the path of a query is not
// quite JSON ({39.1,-75.5}), and jsontext.Decoder takes 2 to 5 times as long for thousands of positions.
type reader struct {
	data []byte
	at   int // in bytes
	err  error
	plus bool // numbers may begin with a +
}

func newReader(data []byte) *reader { return &reader{data: data} }

// Err returns the first error. Clients see its text.
func (r *reader) Err() error { return r.err }

// fail keeps the first error.
func (r *reader) fail(problem string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s at byte %d", problem, r.at)
	}
}

// expected fails with what should be here.
func (r *reader) expected(what string) {
	if r.at >= len(r.data) {
		r.fail("it ends early, " + what + " is expected")
		return
	}
	r.fail(what + " is expected")
}

// Peek returns the next byte that is not white space, without moving past it; 0 at the end and after an error.
func (r *reader) Peek() byte {
	if r.err != nil {
		return 0
	}
	for r.at < len(r.data) {
		switch c := r.data[r.at]; c {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return c
		}
	}
	return 0
}

// Next moves past a byte if it is the next one.
func (r *reader) Next(c byte) bool {
	if r.Peek() != c || r.at >= len(r.data) {
		return false
	}
	r.at++
	return true
}

// Expect moves past a byte that must be the next one.
func (r *reader) Expect(c byte) bool {
	if r.Next(c) {
		return true
	}
	r.expected("'" + string(rune(c)) + "'")
	return false
}

// More reports whether an array or object that ends with the given byte has another element, and moves past the comma
// or the end. first must be true before the first element; More sets it to false.
func (r *reader) More(end byte, first *bool) bool {
	if *first {
		*first = false
		return !r.Next(end) && r.err == nil
	}
	if r.Next(end) || r.err != nil {
		return false
	}
	if r.Next(',') {
		return true
	}
	r.expected("',' or '" + string(rune(end)) + "'")
	return false
}

// End expects nothing more.
func (r *reader) End() {
	if r.Peek(); r.err == nil && r.at < len(r.data) {
		r.fail("something follows the end")
	}
}

// Number reads a number; one too large for a float64 is ±Inf.
func (r *reader) Number() float64 {
	r.Peek()
	if r.err != nil {
		return 0
	}
	value, n := text.ScanNumber(r.data[r.at:], r.plus)
	if n == 0 {
		r.expected("a number")
		return 0
	}
	r.at += n
	return value
}

// Null moves past a null if it is next.
func (r *reader) Null() bool { return r.Peek() == 'n' && r.literal("null") }

// Bool reads true or false.
func (r *reader) Bool() bool {
	switch r.Peek() {
	case 't':
		return r.literal("true")
	case 'f':
		r.literal("false")
		return false
	}
	r.expected("true or false")
	return false
}

func (r *reader) literal(word string) bool {
	if len(r.data)-r.at < len(word) || string(r.data[r.at:r.at+len(word)]) != word {
		r.expected("a value")
		return false
	}
	r.at += len(word)
	return true
}

// String reads a string. Without escapes it is a part of the document.
func (r *reader) String() []byte {
	if r.Peek() != '"' {
		r.expected("a string")
		return nil
	}
	quote := r.at
	escaped := r.skipString()
	if r.err != nil {
		return nil
	}
	if !escaped {
		return r.data[quote+1 : r.at-1]
	}
	var text string
	if err := json.Unmarshal(r.data[quote:r.at], &text); err != nil {
		r.at = quote
		r.fail("a string that is not well-formed")
		return nil
	}
	return []byte(text)
}

// passString skips a string and checks it.
func (r *reader) passString() {
	if r.Peek() != '"' {
		r.expected("a string")
		return
	}
	quote := r.at
	if r.skipString() && !json.Valid(r.data[quote:r.at]) {
		r.at = quote
		r.fail("a string that is not well-formed")
	}
}

// skipString moves past a string, whose opening quote is next, and reports whether it has escapes. It does not check
// them.
func (r *reader) skipString() (escaped bool) {
	start := r.at + 1
	ascii := true
	for i := start; i < len(r.data); i++ {
		for len(r.data)-i > 8 && plain(r.data[i:]) {
			i += 8
		}
		switch c := r.data[i]; {
		case c == '"':
			if !ascii && !utf8.Valid(r.data[start:i]) {
				r.fail("a string that is not UTF-8")
				return false
			}
			r.at = i + 1
			return escaped
		case c == '\\':
			escaped = true
			i++
			ascii = ascii && i < len(r.data) && r.data[i] < utf8.RuneSelf
		case c < ' ':
			r.at = i
			r.fail("a string with a control character")
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	r.at = len(r.data)
	r.fail("it ends early, a string is not closed")
	return false
}

// Name reads the name of an object's member and the colon after it.
func (r *reader) Name() []byte {
	name := r.String()
	r.Expect(':')
	return name
}

// Skip moves past a value of any kind, at most maxDepth deep.
func (r *reader) Skip() { r.skip(maxDepth) }

func (r *reader) skip(depth int) {
	switch c := r.Peek(); c {
	case '{', '[':
		if depth == 0 {
			r.fail("a value that is nested too deeply")
			return
		}
		r.at++
		end := c + 2 // ']' and '}' are two after their openings in ASCII
		for first := true; r.More(end, &first); {
			if c == '{' {
				r.passString()
				r.Expect(':')
			}
			r.skip(depth - 1)
		}
	case '"':
		r.passString()
	case 't', 'f':
		r.Bool()
	case 'n':
		r.literal("null")
	default:
		if r.err == nil && (r.at >= len(r.data) || c != '-' && c != '+' && (c < '0' || c > '9')) {
			r.expected("a value")
			return
		}
		r.Number()
	}
}

// plain reports whether the first eight bytes of a string are ASCII without escapes, all at once.
func plain(s []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	quote, backslash := v^'"'*ones, v^'\\'*ones
	// A byte less than n has its high bit set by the subtraction of n, unless it had one before; a borrow from the byte
	// below can only be where that one is found already.
	return (v|(v-' '*ones)|(quote-ones)&^quote|(backslash-ones)&^backslash)&highs == 0
}
