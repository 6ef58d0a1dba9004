package search

import (
	"encoding/binary"
	"unicode/utf8"
)

// automaton accepts the terms within some edits of a word: letters that are wrong, missing, added or swapped with the
// next (optimal string alignment). It is an automaton of package vellum whose states are made when they are first
// visited, since a search visits few of them, while building all takes longer than searching.
//
// A state is the last two rows of the matrix of distances between beginnings of the word and of the term.
type automaton struct {
	word   []rune
	edits  uint8
	prefix bool // the word is the beginning of the term

	classes []rune // the different letters of the word; all other letters are one class
	states  []fuzzyState
	next    []int32 // of each state and class: a state, or 0 if not yet known
	rows    []uint8 // of each state: the previous row, then the last one
	known   map[string]int32
	key     []byte
	fresh   []uint8
	left    int // steps
}

type fuzzyState struct {
	pending  uint32 // the bytes of an unfinished letter
	last     uint8  // class of the last letter
	distance uint8  // of the term up to here; more than the edits if it is too far
	alive    bool   // a longer term can match
	final    bool   // every longer term matches
}

// maxSteps limits the steps on terms: damaged ones may go on for ever.
const maxSteps = 1 << 20

// deadState accepts nothing; startState is the first one.
const (
	deadState  = 1
	startState = 2
)

// reset prepares the automaton for a word.
func (a *automaton) reset(word string, edits uint8, prefix bool) {
	a.word, a.edits, a.prefix, a.left = a.word[:0], edits, prefix, maxSteps
	a.classes, a.states, a.next, a.rows = a.classes[:0], a.states[:0], a.next[:0], a.rows[:0]
	if a.known == nil {
		a.known = map[string]int32{}
	}
	clear(a.known)
	for _, r := range word {
		a.word = append(a.word, r)
		if a.class(r) == len(a.classes) {
			a.classes = append(a.classes, r)
		}
	}
	width := len(a.word) + 1
	rows := a.fresh[:0]
	for range width {
		rows = append(rows, edits+1)
	}
	for i := range width {
		rows = append(rows, uint8(min(i, int(edits)+1)))
	}
	a.fresh = rows
	a.add(fuzzyState{distance: edits + 1}, rows) // 0 is unused
	a.add(fuzzyState{distance: edits + 1}, rows)
	start := fuzzyState{distance: min(uint8(min(len(a.word), 255)), edits+1), alive: true, last: 255}
	a.add(start, rows)
}

func (a *automaton) class(r rune) int {
	for i, c := range a.classes {
		if c == r {
			return i
		}
	}
	return len(a.classes)
}

func (a *automaton) add(s fuzzyState, rows []uint8) int32 {
	a.states = append(a.states, s)
	a.rows = append(a.rows, rows...)
	for range 257 {
		a.next = append(a.next, 0)
	}
	return int32(len(a.states) - 1)
}

// Start implements vellum.Automaton.
func (a *automaton) Start() int { return startState }

// IsMatch implements vellum.Automaton.
func (a *automaton) IsMatch(s int) bool {
	return a.states[s].distance <= a.edits && a.states[s].pending == 0
}

// CanMatch implements vellum.Automaton.
func (a *automaton) CanMatch(s int) bool { return a.states[s].alive }

// WillAlwaysMatch implements vellum.Automaton.
func (a *automaton) WillAlwaysMatch(s int) bool { return a.states[s].final }

// EditDistance implements vellum.FuzzyAutomaton.
func (a *automaton) EditDistance(s int) uint8 { return a.states[s].distance }

// MatchAndDistance implements vellum.FuzzyAutomaton.
func (a *automaton) MatchAndDistance(term string) (bool, uint8) {
	s := a.Start()
	for i := range len(term) {
		s = a.Accept(s, term[i])
	}
	return a.IsMatch(s), a.EditDistance(s)
}

// Accept implements vellum.Automaton.
func (a *automaton) Accept(s int, b byte) int {
	if a.left--; a.left < 0 {
		return deadState
	}
	state := &a.states[s]
	if !state.alive || state.final {
		return s
	}
	slot := s*257 + int(b)
	if n := a.next[slot]; n != 0 {
		return int(n)
	}
	n := a.step(s, b)
	a.next[slot] = n
	return int(n)
}

// step computes the state after a byte.
func (a *automaton) step(s int, b byte) int32 {
	state, width := a.states[s], len(a.word)+1
	rows := a.rows[2*width*s : 2*width*(s+1)]
	letter := rune(b)
	if b >= utf8.RuneSelf {
		pending := state.pending<<8 | uint32(b)
		var text [4]byte
		binary.BigEndian.PutUint32(text[:], pending)
		bytes := text[:]
		for len(bytes) > 1 && bytes[0] == 0 {
			bytes = bytes[1:]
		}
		if !utf8.FullRune(bytes) {
			state.pending = pending
			return a.intern(state, rows)
		}
		letter, _ = utf8.DecodeRune(bytes)
	}
	c := a.class(letter)
	a.fresh = append(append(a.fresh[:0], rows[width:]...), rows[width:]...)
	fresh := a.fresh
	before, last, row := rows[:width], rows[width:], fresh[width:]
	far := a.edits + 1
	row[0] = min(last[0]+1, far)
	least := row[0]
	for i, w := range a.word {
		cost := uint8(1)
		if w == letter {
			cost = 0
		}
		v := min(last[i]+cost, last[i+1]+1, row[i]+1, far)
		if i > 0 && w == a.lastOf(state) && a.word[i-1] == letter {
			v = min(v, before[i-1]+1)
		}
		row[i+1] = v
		least = min(least, v)
	}
	next := fuzzyState{last: uint8(c), distance: row[width-1], alive: least <= a.edits}
	if a.prefix && next.distance <= a.edits {
		next.final = true
	}
	if !next.alive {
		return deadState
	}
	return a.intern(next, fresh)
}

// lastOf returns the last letter before a state; 0 if it is none of the word.
func (a *automaton) lastOf(s fuzzyState) rune {
	if int(s.last) < len(a.classes) {
		return a.classes[s.last]
	}
	return 0
}

// intern returns the state with some content.
func (a *automaton) intern(s fuzzyState, rows []uint8) int32 {
	a.key = append(a.key[:0], s.last)
	if s.final {
		a.key = append(a.key, 1)
	}
	a.key = binary.BigEndian.AppendUint32(a.key, s.pending)
	a.key = append(a.key, rows...)
	if n, ok := a.known[string(a.key)]; ok {
		return n
	}
	n := a.add(s, rows)
	a.known[string(a.key)] = n
	return n
}

// anyTerm is an automaton that accepts all terms.
type anyTerm struct{ left int } // steps

// maxTermSteps is more than the steps to the next term.
const maxTermSteps = 1 << 14

func (a *anyTerm) Start() int               { return 0 }
func (a *anyTerm) IsMatch(int) bool         { return true }
func (a *anyTerm) CanMatch(int) bool        { return a.left > 0 }
func (a *anyTerm) WillAlwaysMatch(int) bool { return true }
func (a *anyTerm) Accept(int, byte) int {
	a.left--
	return 0
}
