package roadgraph

// Arc is a edge in one direction. Arc 2i travels edge i forward, arc 2i+1 backward. Behind those of all base edges
// come copies; see Copy.
type Arc struct {
	Length   uint32 // millimetres
	Duration uint32 // milliseconds, at the road's free speed
	Number   uint32 // the arc that this one is a copy of; itself where it is none
	Head
}

// Head is where an arc ends.
type Head struct {
	EndLat, EndLon int32  // 1e-7 degrees
	baseEdge       uint32 // the arc's last one
}

// Arc returns an arc.
func (g *Graph) Arc(arc uint32) (a Arc) {
	a.Number = g.ArcOf(arc)
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

// Base is the arc that an arc is a copy of, or the arc itself.
func (g *Graph) ArcOf(arc uint32) uint32 {
	if edges := uint32(g.NumBaseEdges()); arc>>1 >= edges {
		return g.states.At(int(arc - 2*edges)).Arc
	}
	return arc
}

// SegmentOf is the edge that an arc travels, and whether it does so forward.
func (g *Graph) EdgeOf(arc uint32) (edge uint32, forward bool) {
	base := g.ArcOf(arc)
	return base >> 1, base&1 == 0
}

// Turns appends the ways to go on at an arc's end.
func (g *Graph) Turns(arc uint32, turns []Turn) []Turn {
	a := g.Arc(arc)
	return g.turnsOf(arc, &a, turns)
}

// turnsOf is Turns for an arc that is known.
func (g *Graph) turnsOf(arc uint32, a *Arc, turns []Turn) []Turn {
	own := a.own()
	words, back, n := g.turnWords(arc, a)
	for i := 0; i < n; i++ {
		word := back
		if i < len(words) {
			word = words[i]
		}
		t := turnOf(word, own, a)
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

// own is the arc by which the last base edge of an arc is travelled.
func (a *Arc) own() uint32 { return a.baseEdge<<1 | a.Number&1 }

// turnOf is the turn of a word of an arc; where it is farTurn, its target is still to be read.
func turnOf(word, own uint32, a *Arc) Turn {
	by := int32(word) >> turnTarget
	t := Turn{To: own + uint32(by), Angle: int8(word), DestinationOnly: word&turnDestinationOnly != 0}
	if by == 0 && t.Angle == TurningBack {
		t.To = a.Number ^ 1
	}
	return t
}

// turnWords are the n turns of an arc, those of other modes among them: words, and back where n is one more than these.
func (g *Graph) turnWords(arc uint32, a *Arc) (words []uint32, back uint32, n int) {
	var first, end uint32
	if arc != a.Number {
		i := int(arc) - 2*g.NumBaseEdges()
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
			g.corrupt("an base has more turns at its end than it has")
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

// countWords finds where the turns at the beginning of an base edge begin.
func (g *Graph) countWords(first, end uint32) uint32 {
	if end-first > 2*MaxTurns {
		g.corrupt("an base has too many turns")
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

// Copies are the copies of an arc that travels a edge with HasCopies; see Copy.
func (g *Graph) StatesOf(base uint32) (first, last uint32) {
	end := max(g.states.Len()-1, 0)
	i, j := 0, end
	for i < j {
		h := int(uint(i+j) >> 1)
		if c := g.states.At(h); c.Mode < uint32(g.mode) || c.Mode == uint32(g.mode) && c.Arc < base {
			i = h + 1
		} else {
			j = h
		}
	}
	for j < end && g.states.At(j).Arc == base && g.states.At(j).Mode == uint32(g.mode) {
		if j++; j-i > MaxStates {
			g.corrupt("an arc has too many copies")
		}
	}
	originals := uint32(2 * g.NumBaseEdges())
	return originals + uint32(i), originals + uint32(j)
}

// Length is that of an arc in millimetres.
func (g *Graph) Length(arc uint32) uint32 {
	edge := g.ArcOf(arc) >> 1
	_, _, length := g.run(edge, g.baseEdges.At(int(edge)))
	return length
}
