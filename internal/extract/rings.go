package extract

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// piece is a way that is a member of an area, as indexes of its nodes.
type piece struct {
	way   int64
	nodes []int32
	inner bool // by its role
}

func (p *piece) closed() bool { return p.nodes[0] == p.nodes[len(p.nodes)-1] }

// chain is a run of pieces put together; a ring when its ends are the same node. Its nodes are unique otherwise.
type chain struct {
	nodes  []int32
	pieces []int // whose nodes it holds, in order
}

func (c *chain) closed() bool { return len(c.nodes) > 3 && c.nodes[0] == c.nodes[len(c.nodes)-1] }

// joiner puts the pieces of one area together.
type joiner struct {
	pieces []piece
	at     func(node int32) orb.Point
	rings  []chain
	open   []chain
	// partial says that members are missing. Then a gap is theirs, and a ring of several ways may close by chance where the
	// missing ones would have led on: only ways that are rings themselves are to be trusted.
	partial bool
	// repaired counts what had to be mended: pieces given twice, ends that do not quite meet.
	repaired int
}

// maxGap is how far apart, in metres, two ends may be that were meant to be one node.
const maxGap = 10

// maxMended bounds the open chains of an area that are looked at for gaps: more of them are no slip of the mapper's.
const maxMended = 500

// join makes rings of the pieces.
func (j *joiner) join() {
	j.dropDuplicates()
	ends := make(map[int32][]int) // pieces by their end nodes
	used := make([]bool, len(j.pieces))
	for i := range j.pieces {
		p := &j.pieces[i]
		if p.closed() {
			used[i] = true
			j.split(chain{nodes: p.nodes, pieces: []int{i}})
			continue
		}
		ends[p.nodes[0]] = append(ends[p.nodes[0]], i)
		last := p.nodes[len(p.nodes)-1]
		ends[last] = append(ends[last], i)
	}
	if j.partial {
		return
	}
	for i := range j.pieces {
		if !used[i] {
			j.walk(i, ends, used)
		}
	}
	j.mend()
}

// dropDuplicates removes pieces that have the nodes of another.
func (j *joiner) dropDuplicates() {
	type key struct {
		a, b, c int32
		length  int
	}
	seen := make(map[key][]int, len(j.pieces))
	kept := j.pieces[:0]
	for _, p := range j.pieces {
		n := len(p.nodes)
		k := key{p.nodes[0], p.nodes[n-1], p.nodes[n/2] ^ p.nodes[(n-1)/2], n}
		k.a, k.b = min(k.a, k.b), max(k.a, k.b)
		if slices.ContainsFunc(seen[k], func(i int) bool { return sameNodes(kept[i].nodes, p.nodes) }) {
			j.repaired++
			continue
		}
		seen[k] = append(seen[k], len(kept))
		kept = append(kept, p)
	}
	j.pieces = kept
}

// sameNodes compares two lists of nodes of one length, in either direction.
func sameNodes(a, b []int32) bool {
	if slices.Equal(a, b) {
		return true
	}
	for i := range a {
		if a[i] != b[len(b)-1-i] {
			return false
		}
	}
	return true
}

// walk goes from piece to piece until none is left to go on with. Wherever it comes back to a node where it has been, a
// ring is complete and is cut off; what remains at the end is open.
func (j *joiner) walk(first int, ends map[int32][]int, used []bool) {
	node := j.pieces[first].nodes[0]
	stack := []step{{node: node}}
	position := map[int32]int{node: 0}
	next := first
	for next >= 0 {
		used[next] = true
		p := &j.pieces[next]
		if p.nodes[0] == node {
			node = p.nodes[len(p.nodes)-1]
		} else {
			node = p.nodes[0]
		}
		stack = append(stack, step{node: node, piece: next})
		if start, ok := position[node]; ok {
			j.split(j.chainOf(stack[start:]))
			for _, s := range stack[start+1:] {
				if s.node != node {
					delete(position, s.node)
				}
			}
			stack = stack[:start+1]
		} else {
			position[node] = len(stack) - 1
		}
		next = j.choose(ends[node], used, p.inner)
	}
	if len(stack) > 1 {
		j.open = append(j.open, j.chainOf(stack))
	}
}

// step is a node of a walk, and the piece that led there (from the step before).
type step struct {
	node  int32
	piece int
}

// choose returns an unused piece, if possible one of the same role: where an inner ring touches the outer one, roles tell
// them apart.
func (j *joiner) choose(candidates []int, used []bool, inner bool) int {
	found := -1
	for _, i := range candidates {
		if used[i] {
			continue
		}
		if j.pieces[i].inner == inner {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

func (j *joiner) chainOf(steps []step) chain {
	c := chain{nodes: []int32{steps[0].node}}
	for _, s := range steps[1:] {
		c.append(j.pieces[s.piece].nodes, s.piece)
	}
	return c
}

// append adds a piece that starts or ends at the chain's end.
func (c *chain) append(nodes []int32, pieces ...int) {
	if nodes[0] != c.nodes[len(c.nodes)-1] {
		nodes = slices.Clone(nodes)
		slices.Reverse(nodes)
	}
	c.nodes = append(c.nodes, nodes[1:]...)
	c.pieces = append(c.pieces, pieces...)
}

// split takes a closed chain, which may touch itself, apart into rings that do not, and keeps those that enclose something.
func (j *joiner) split(c chain) {
	position := make(map[int32]int, len(c.nodes))
	var path []int32
	for _, node := range c.nodes {
		start, seen := position[node]
		if !seen {
			position[node] = len(path)
			path = append(path, node)
			continue
		}
		ring := chain{nodes: append(slices.Clone(path[start:]), node), pieces: c.pieces}
		for _, n := range path[start+1:] {
			delete(position, n)
		}
		path = path[:start+1]
		if ring.closed() {
			j.rings = append(j.rings, ring)
		}
	}
}

// mend joins open chains whose ends are less than maxGap apart, the nearest first.
func (j *joiner) mend() {
	if len(j.open) > maxMended {
		return
	}
	for len(j.open) > 0 {
		a, b, gap := -1, -1, math.Inf(1)
		for i := range j.open {
			for k := i; k < len(j.open); k++ {
				if d := j.gap(i, k); d < gap {
					a, b, gap = i, k, d
				}
			}
		}
		if gap > maxGap {
			return
		}
		j.repaired++
		c := j.open[a]
		if a != b {
			c = j.bridge(c, j.open[b])
			j.open = slices.Delete(j.open, b, b+1)
			j.open[a] = c
		}
		first, last := c.nodes[0], c.nodes[len(c.nodes)-1]
		if a == b || first == last {
			if first != last {
				c.nodes = append(c.nodes, first)
			}
			j.open = slices.Delete(j.open, a, a+1)
			j.split(c)
		}
	}
}

// gap returns the shortest distance between an end of one open chain and an end of another, or between the two ends of one.
func (j *joiner) gap(i, k int) float64 {
	a, b := j.open[i].nodes, j.open[k].nodes
	if i == k {
		if len(a) < 3 {
			return math.Inf(1)
		}
		return j.distance(a[0], a[len(a)-1])
	}
	return min(j.distance(a[0], b[0]), j.distance(a[0], b[len(b)-1]),
		j.distance(a[len(a)-1], b[0]), j.distance(a[len(a)-1], b[len(b)-1]))
}

// bridge returns two chains as one, joined at their nearest ends.
func (j *joiner) bridge(a, b chain) chain {
	na, nb := slices.Clone(a.nodes), slices.Clone(b.nodes)
	gap := j.gap2(na, nb)
	if g := min(j.distance(na[0], nb[0]), j.distance(na[0], nb[len(nb)-1])); g <= gap {
		slices.Reverse(na)
	}
	last := na[len(na)-1]
	if j.distance(last, nb[len(nb)-1]) < j.distance(last, nb[0]) {
		slices.Reverse(nb)
	}
	if nb[0] == last {
		nb = nb[1:]
	}
	return chain{nodes: append(na, nb...), pieces: append(slices.Clone(a.pieces), b.pieces...)}
}

func (j *joiner) gap2(a, b []int32) float64 {
	return min(j.distance(a[len(a)-1], b[0]), j.distance(a[len(a)-1], b[len(b)-1]))
}

// distance returns metres, near enough for gaps.
func (j *joiner) distance(a, b int32) float64 {
	const metresPerDegree = 111_195
	p, q := j.at(a), j.at(b)
	return metresPerDegree * math.Hypot((p[0]-q[0])*math.Cos(p[1]*math.Pi/180), p[1]-q[1])
}

// ring is a closed ring with what is needed to tell which others it lies in.
type ring struct {
	points orb.Ring
	bound  orb.Bound
	area   float64 // in square degrees, positive
	chain  *chain
	inner  bool // all its pieces have the role inner
	parent int  // the smallest ring around it, or -1
	depth  int
}

// nest orders the rings by size, the largest first, and finds for each the rings around it. Rings given twice are dropped.
func (j *joiner) nest() []ring {
	rings := make([]ring, 0, len(j.rings))
	for i := range j.rings {
		c := &j.rings[i]
		r := ring{points: make(orb.Ring, len(c.nodes)), chain: c, parent: -1, inner: true}
		for k, node := range c.nodes {
			r.points[k] = j.at(node)
		}
		for _, p := range c.pieces {
			r.inner = r.inner && j.pieces[p].inner
		}
		r.bound = r.points.Bound()
		r.area = math.Abs(signedArea(r.points))
		if r.area > 0 {
			rings = append(rings, r)
		}
	}
	slices.SortStableFunc(rings, func(a, b ring) int { return cmp.Compare(b.area, a.area) })
	kept := rings[:0]
	for _, r := range rings {
		twice := false
		for k := len(kept) - 1; k >= 0 && !twice && kept[k].area == r.area; k-- {
			twice = kept[k].bound == r.bound && sameRing(kept[k].chain.nodes, r.chain.nodes)
		}
		if twice {
			j.repaired++
			continue
		}
		for k := len(kept) - 1; k >= 0; k-- {
			if covers(kept[k].bound, r.bound) && encloses(kept[k].points, r.points) {
				r.parent, r.depth = k, kept[k].depth+1
				break
			}
		}
		kept = append(kept, r)
	}
	return kept
}

// sameRing says whether two closed rings have the same nodes.
func sameRing(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	a, b = slices.Clone(a[1:]), slices.Clone(b[1:])
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func covers(a, b orb.Bound) bool {
	return a.Min[0] <= b.Min[0] && a.Min[1] <= b.Min[1] && a.Max[0] >= b.Max[0] && a.Max[1] >= b.Max[1]
}

// encloses says whether a ring lies within another. Rings do not cross, so one point tells, if it is not on both.
func encloses(outer, inner orb.Ring) bool {
	for _, p := range inner[1:] {
		if in, on := contains(outer, p); !on {
			return in
		}
	}
	for i := range inner[1:] {
		middle := orb.Point{(inner[i][0] + inner[i+1][0]) / 2, (inner[i][1] + inner[i+1][1]) / 2}
		if in, on := contains(outer, middle); !on {
			return in
		}
	}
	return true
}

// contains says whether a point is within a ring (by the even-odd rule), and whether it lies on the ring itself.
func contains(r orb.Ring, p orb.Point) (in, on bool) {
	for i := 1; i < len(r); i++ {
		a, b := r[i-1], r[i]
		if p == a {
			return false, true
		}
		if (a[1] > p[1]) == (b[1] > p[1]) {
			if a[1] == p[1] && b[1] == p[1] && min(a[0], b[0]) <= p[0] && p[0] <= max(a[0], b[0]) {
				return false, true
			}
			continue
		}
		cross := (b[0]-a[0])*(p[1]-a[1]) - (p[0]-a[0])*(b[1]-a[1])
		if cross == 0 {
			return false, true
		}
		if (cross > 0) == (b[1] > a[1]) {
			in = !in
		}
	}
	return in, false
}

// signedArea is positive for rings that run counter-clockwise. Relative to the first point, so that small rings far from
// the origin keep their digits.
func signedArea(r orb.Ring) float64 {
	sum := 0.0
	for i := 1; i < len(r); i++ {
		a, b := r[i-1], r[i]
		sum += (a[0]-r[0][0])*(b[1]-r[0][1]) - (b[0]-r[0][0])*(a[1]-r[0][1])
	}
	return sum / 2
}

// oriented returns a ring counter-clockwise, or clockwise.
func oriented(r orb.Ring, ccw bool) orb.Ring {
	if (signedArea(r) > 0) != ccw {
		slices.Reverse(r)
	}
	return r
}
