package roadgraph

// find looks for an arc in the table: its place, or the one where it belongs.
func (s *Search) find(arc uint32) (place uint32, found bool) {
	mask := uint32(len(s.table) - 1)
	for place = (arc * 0x9E3779B1) >> 7 & mask; s.marks[place] == s.round; place = (place + 1) & mask {
		if s.labels[s.table[place]].State == arc {
			return place, true
		}
	}
	return place, false
}

// insert adds a label for an arc that has none, at the place that find gave.
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

// knownArcs is how many arcs are kept that searches have looked up: those of a trace's next point are mostly the same.
const cachedArcs = 512

// knownArc is an arc and its number, and 1.
type cachedArc struct {
	key uint32
	Arc
}

// arc looks an arc up.
func (s *Search) arc(number uint32) *Arc {
	k := &s.cache[number*0x9E3779B1>>(32-9)]
	if k.key != number+1 {
		*k = cachedArc{number + 1, s.graph.Arc(number)}
	}
	return &k.Arc
}
