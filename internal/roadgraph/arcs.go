package roadgraph

// Arc is an edge in one direction. Arc 2i travels edge i forward, arc 2i+1 backward.
type Arc struct {
	Length   uint32 // millimetres
	Duration uint32 // milliseconds, at the road's free speed
	Number   uint32
	Head
}

// Head is where an arc ends.
type Head struct {
	EndLat, EndLon int32  // 1e-7 degrees
	baseEdge       uint32 // the arc's last one
}

// Arc returns the arc of a state.
func (g *Graph) Arc(state uint32) (a Arc) {
	a.Number = g.ArcOf(state)
	edge, backward := a.Number>>1, a.Number&1 == 1
	first := g.baseEdges.At(int(edge))
	var last *BaseEdge
	a.baseEdge, last, a.Length = g.run(edge, first)
	if backward {
		a.baseEdge, a.EndLat, a.EndLon = edge, first.Lat, first.Lon
	} else {
		end := g.end(a.baseEdge, last)
		a.EndLat, a.EndLon = end.lat, end.lon
	}
	reversed := first.Flags&Reversed != 0
	a.Duration = duration(a.Length, g.speed(g.kind(g.roads.At(int(first.Road))), backward == reversed))
	return a
}

// ArcOf returns the number of a state's arc. For an arc it is the arc itself.
func (g *Graph) ArcOf(state uint32) uint32 {
	if edges := uint32(g.NumBaseEdges()); state>>1 >= edges {
		return g.states.At(int(state - 2*edges)).Arc
	}
	return state
}

// EdgeOf returns the edge of a state, and whether the state travels it forward.
func (g *Graph) EdgeOf(state uint32) (edge uint32, forward bool) {
	arc := g.ArcOf(state)
	return arc >> 1, arc&1 == 0
}

// Turns appends the turns at the end of a state.
func (g *Graph) Turns(state uint32, turns []Turn) []Turn {
	a := Arc{Number: g.ArcOf(state)}
	if a.baseEdge = a.Number >> 1; a.Number&1 == 0 {
		a.baseEdge = g.LastBaseEdge(a.baseEdge)
	}
	own := a.own()
	words, back, n := g.turnWords(state, &a)
	for i := 0; i < n; i++ {
		word := back
		if i < len(words) {
			word = words[i]
		}
		t := turnOf(word, own, &a)
		if int32(word)>>turnTarget == farTurn {
			i++
			t.To = words[i]
		}
		if word>>turnModes&uint32(g.mode) != 0 {
			turns = append(turns, t)
		}
	}
	return turns
}

// own returns the arc by which the arc's last base edge is travelled.
func (a *Arc) own() uint32 { return a.baseEdge<<1 | a.Number&1 }

// turnOf reads a word. The caller reads the target of a farTurn.
func turnOf(word, own uint32, a *Arc) Turn {
	by := int32(word) >> turnTarget
	t := Turn{To: own + uint32(by), Angle: int8(word), DestinationOnly: word&turnDestinationOnly != 0}
	if by == 0 && t.Angle == TurningBack {
		t.To = a.Number ^ 1
	}
	return t
}

// turnWords returns the n words of the turns of a state, for all modes: words, then back if that is not 0.
func (g *Graph) turnWords(state uint32, a *Arc) (words []uint32, back uint32, n int) {
	var first, end uint32
	if state != a.Number {
		i := int(state) - 2*g.NumBaseEdges()
		first, end = g.states.At(i).FirstTurn, g.states.At(i+1).FirstTurn
	} else {
		e := g.baseEdges.At(int(a.baseEdge))
		first, end = e.FirstTurn, g.baseEdges.At(int(a.baseEdge)+1).FirstTurn
		count := uint32(e.Flags >> wordsAt & manyWords)
		split := first + count
		if count == manyWords {
			split = g.countWords(first, end)
		}
		if split > end {
			g.corrupt("a base edge has more turns at its end than it has")
		}
		if a.Number&1 == 0 {
			end = split
		} else {
			first = split
		}
		if back = e.Flags.backWord(a.Number & 1); back != 0 {
			n = 1
		}
	}
	if end-first > MaxTurns {
		g.corrupt("an arc has too many turns")
	}
	words = g.turns.Range(int(first), int(end))
	return words, back, n + len(words)
}

// countWords finds the first word of the turns at the beginning of a base edge.
func (g *Graph) countWords(first, end uint32) uint32 {
	if end-first > 2*MaxTurns {
		g.corrupt("a base edge has too many turns")
	}
	words := g.turns.Range(int(first), int(end))
	for i := 0; i < len(words); i++ {
		if words[i]&turnBackward != 0 {
			return first + uint32(i)
		}
		if int32(words[i])>>turnTarget == farTurn {
			i++
		}
	}
	return end
}

// StatesOf returns the numbers, first inclusive and last exclusive, of the further states of an arc. Only edges with
// HasStates have any.
func (g *Graph) StatesOf(arc uint32) (first, last uint32) {
	end := max(g.states.Len()-1, 0)
	i, j := 0, end
	for i < j {
		h := int(uint(i+j) >> 1)
		if s := g.states.At(h); s.Mode < uint32(g.mode) || s.Mode == uint32(g.mode) && s.Arc < arc {
			i = h + 1
		} else {
			j = h
		}
	}
	for j < end && g.states.At(j).Arc == arc && g.states.At(j).Mode == uint32(g.mode) {
		if j++; j-i > MaxStates {
			g.corrupt("an arc has too many states")
		}
	}
	arcs := uint32(2 * g.NumBaseEdges())
	return arcs + uint32(i), arcs + uint32(j)
}

// Length returns the length of a state's arc in millimetres.
func (g *Graph) Length(state uint32) uint32 {
	edge := g.ArcOf(state) >> 1
	_, _, length := g.run(edge, g.baseEdges.At(int(edge)))
	return length
}
