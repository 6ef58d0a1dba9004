package roadgraph

// find looks up a state in the table: its place, or the one where it belongs.
func (s *Search) find(state uint32) (place uint32, found bool) {
	mask := uint32(len(s.table) - 1)
	for place = (state * 0x9E3779B1) >> 7 & mask; s.marks[place] == s.round; place = (place + 1) & mask {
		if s.labels[s.table[place]].State == state {
			return place, true
		}
	}
	return place, false
}

// insert adds the first label of a state, at the place that find returned.
func (s *Search) insert(place uint32, l Label) {
	s.labels = append(s.labels, l)
	s.table[place], s.marks[place] = int32(len(s.labels)-1), s.round
	if s.used++; 2*s.used > len(s.table) {
		old, marks, round := s.table, s.marks, s.round
		s.resize(2 * len(old))
		for i, label := range old {
			if marks[i] == round {
				at, _ := s.find(s.labels[label].State)
				s.table[at], s.marks[at] = label, s.round
			}
		}
	}
}

// resize empties the table.
func (s *Search) resize(n int) {
	s.table, s.marks, s.round = make([]int32, n), make([]uint32, n), 1
}

// cachedArcs is the size of a search's cache of arcs. Searches for neighbouring points of a trace use mostly the same.
const cachedArcs = 512

// cachedArc is the arc of a state.
type cachedArc struct {
	key uint32 // the state's number + 1
	Arc
}

// arc returns the arc of a state.
func (s *Search) arc(state uint32) *Arc {
	c := &s.cache[state*0x9E3779B1>>(32-9)]
	if c.key != state+1 {
		*c = cachedArc{state + 1, s.graph.Arc(state)}
	}
	return &c.Arc
}
