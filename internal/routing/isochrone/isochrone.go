// Package isochrone draws the area that can be reached, from the roads that are reached and when. Start with Areas.
package isochrone

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// Piece is a straight piece of a road, reached at FromCost at one end and at ToCost at the other one, in the unit of
// the limits.
type Piece struct {
	From, To         orb.Point
	FromCost, ToCost float32
}

const (
	// maxCells bounds the raster.
	maxCells = 1 << 17
	// least is the size of a cell of the raster in metres, unless there would be too many.
	least = 40.0
	// width is how far an area extends from its roads: in metres, and in cells if that is more.
	width, widthCells = 100.0, 1.6
	// small is the area of rings that are left out, unless the origin is in them, in cells.
	small = 16.0
	// metre is the length of 1° of latitude.
	metre = 111_195.0
)

// Areas returns one area for each limit: what is near a road that is reached within it. offRoad is the cost of a metre
// beside the roads. Outer rings are counter-clockwise and inner ones clockwise (RFC 7946). origin lies in each area.
// Across the antimeridian longitudes go on beyond 180°.
func Areas(pieces []Piece, origin orb.Point, limits []float64, offRoad float64) []orb.MultiPolygon {
	pieces = append(pieces, Piece{From: origin, To: origin})
	b := orb.Bound{Min: origin, Max: origin}
	for i := range pieces {
		for _, p := range [...]*orb.Point{&pieces[i].From, &pieces[i].To} {
			p[0] = beside(p[0], origin[0])
			b.Min = orb.Point{min(b.Min[0], p[0]), min(b.Min[1], p[1])}
			b.Max = orb.Point{max(b.Max[0], p[0]), max(b.Max[1], p[1])}
		}
	}
	r := newRaster(b, origin, offRoad)
	for i := range pieces {
		r.draw(&pieces[i])
	}
	r.spread()
	values := r.values()
	areas := make([]orb.MultiPolygon, len(limits))
	for i, limit := range limits {
		areas[i] = r.area(values, float32(limit), origin)
	}
	return areas
}

// beside returns a longitude that is at most half the Earth away from another one, by whole turns.
func beside(lon, other float64) float64 {
	if math.Abs(lon-other) < 180 {
		return lon
	}
	return lon - 360*math.Round((lon-other)/360)
}

// raster is the nearest road to each of its points: the distance in metres, and the cost there.
type raster struct {
	west, south    float64 // degrees
	perX, perY     float64 // degrees between two points
	size, width    float64 // metres between two points, and of the area beside a road
	offRoad        float32
	columns, rows  int
	distance, cost []float32
}

// newRaster returns a raster for pieces within b. origin is one of its points, so that the smallest areas have it.
func newRaster(b orb.Bound, origin orb.Point, offRoad float64) *raster {
	shrink := max(math.Cos((b.Min[1]+b.Max[1])/2*math.Pi/180), 0.01)
	wide, high := (b.Max[0]-b.Min[0])*metre*shrink, (b.Max[1]-b.Min[1])*metre
	r := &raster{offRoad: float32(offRoad), size: max(least, math.Sqrt(wide*high/maxCells), max(wide, high)/maxCells*64)}
	r.width = max(width, widthCells*r.size)
	margin := math.Ceil(r.width/r.size) + 2
	r.perX, r.perY = r.size/metre/shrink, r.size/metre
	r.west = origin[0] - r.perX*(margin+math.Ceil((origin[0]-b.Min[0])/r.perX))
	r.south = origin[1] - r.perY*(margin+math.Ceil((origin[1]-b.Min[1])/r.perY))
	r.columns, r.rows = int(wide/r.size+2*margin)+3, int(high/r.size+2*margin)+3
	r.distance, r.cost = make([]float32, r.columns*r.rows), make([]float32, r.columns*r.rows)
	for i := range r.distance {
		r.distance[i] = math.MaxFloat32
	}
	return r
}

// draw sets the points next to a piece of road.
func (r *raster) draw(p *Piece) {
	x, y := (p.From[0]-r.west)/r.perX, (p.From[1]-r.south)/r.perY
	dx, dy := (p.To[0]-r.west)/r.perX-x, (p.To[1]-r.south)/r.perY-y
	steps := math.Ceil(2*math.Sqrt(dx*dx+dy*dy)) + 1
	for i := 0.0; i <= steps; i++ {
		at := i / steps
		px, py := x+at*dx, y+at*dy
		cost := p.FromCost + float32(at)*(p.ToCost-p.FromCost)
		cx, cy := int(px+0.5), int(py+0.5)
		k := cy*r.columns + cx
		ox, oy := px-float64(cx), py-float64(cy)
		d := float32(math.Sqrt(ox*ox+oy*oy) * r.size)
		if r.distance[k] == math.MaxFloat32 || cost+d*r.offRoad < r.cost[k]+r.distance[k]*r.offRoad {
			r.distance[k], r.cost[k] = d, cost
		}
	}
}

// spread sets all other points to the nearest road of their neighbours (Borgefors 1986, "Distance Transformations in
// Digital Images").
func (r *raster) spread() {
	straight, diagonal := float32(r.size), float32(r.size*math.Sqrt2)
	n := r.columns
	take := func(k, from int, step float32) {
		if d := r.distance[from] + step; d < r.distance[k] {
			r.distance[k], r.cost[k] = d, r.cost[from]
		}
	}
	for y := 1; y < r.rows-1; y++ {
		for k := y*n + 1; k < y*n+n-1; k++ {
			take(k, k-1, straight)
			take(k, k-n, straight)
			take(k, k-n-1, diagonal)
			take(k, k-n+1, diagonal)
		}
	}
	for y := r.rows - 2; y > 0; y-- {
		for k := y*n + n - 2; k > y*n; k-- {
			take(k, k+1, straight)
			take(k, k+n, straight)
			take(k, k+n+1, diagonal)
			take(k, k+n-1, diagonal)
		}
	}
}

// values returns the cost of each point, infinite far from roads and at the edge of the raster.
func (r *raster) values() []float32 {
	values := make([]float32, len(r.cost))
	for k := range values {
		x, y := k%r.columns, k/r.columns
		values[k] = float32(math.Inf(1))
		if float64(r.distance[k]) <= r.width && x > 0 && y > 0 && x < r.columns-1 && y < r.rows-1 {
			values[k] = r.cost[k] + r.distance[k]*r.offRoad
		}
	}
	return values
}

// The sides of a cell of the raster.
const (
	bottom = iota
	right
	top
	left
)

// lines are, for each set of corners of a cell that are inside, the lines through it as pairs of sides, with the inside
// on their left (marching squares). The corners are bottom left, bottom right, top right, top left. Two inner corners
// across are not joined.
var lines = [16][]int{
	1: {bottom, left}, 2: {right, bottom}, 3: {right, left}, 4: {top, right}, 5: {bottom, left, top, right},
	6: {top, bottom}, 7: {top, left}, 8: {left, top}, 9: {bottom, top}, 10: {right, bottom, left, top}, 11: {right, top},
	12: {left, right}, 13: {bottom, right}, 14: {left, bottom},
}

// area returns the area whose values are at most limit.
func (r *raster) area(values []float32, limit float32, origin orb.Point) orb.MultiPolygon {
	// next leads from each side that the border crosses to the next one, and from all others to 0, which is at the edge.
	// Sides are numbered by the point at their left or lower end: twice its number, plus 1 for vertical ones.
	next := make([]int32, 2*len(values))
	var starts []int
	n := r.columns
	for y := range r.rows - 1 {
		low, high := values[y*n:(y+1)*n], values[(y+1)*n:(y+2)*n]
		set := 0 // of corners: those on the right become those on the left
		for x := range n - 1 {
			set = set>>1&1 | set>>2&1<<3
			if low[x+1] <= limit {
				set |= 1 << 1
			}
			if high[x+1] <= limit {
				set |= 1 << 2
			}
			if set == 0 || set == 15 {
				continue
			}
			k := y*n + x
			sides := [...]int{2 * k, 2*(k+1) + 1, 2 * (k + n), 2*k + 1}
			for l := lines[set]; len(l) > 0; l = l[2:] {
				next[sides[l[0]]] = int32(sides[l[1]])
				starts = append(starts, sides[l[0]])
			}
		}
	}
	var outer, inner []orb.Ring
	for _, start := range starts {
		if next[start] == 0 {
			continue
		}
		var ring orb.Ring
		for side := start; next[side] != 0; {
			ring = append(ring, r.crossing(values, limit, side))
			side, next[side] = int(next[side]), 0
		}
		ring = append(ring, ring[0])
		size := planar.Area(ring) / (r.perX * r.perY) // positive if it is counter-clockwise
		switch {
		case math.Abs(size) < small && !planar.RingContains(ring, origin):
		case size > 0:
			outer = append(outer, ring)
		default:
			inner = append(inner, ring)
		}
	}
	return nest(outer, inner)
}

// crossing returns where the border crosses a side.
func (r *raster) crossing(values []float32, limit float32, side int) orb.Point {
	a := side / 2
	b := a + 1
	if side&1 == 1 {
		b = a + r.columns
	}
	share := 0.5
	if low, high := float64(values[a]), float64(values[b]); !math.IsInf(low, 0) && !math.IsInf(high, 0) {
		// Points of the raster themselves are left out, so that rings do not touch.
		share = min(max((float64(limit)-low)/(high-low), 0.05), 0.95)
	}
	x, y := float64(a%r.columns), float64(a/r.columns)
	if side&1 == 1 {
		y += share
	} else {
		x += share
	}
	return orb.Point{r.west + x*r.perX, r.south + y*r.perY}
}

// nest puts inner rings into the smallest outer ring around them. The largest polygon comes first.
func nest(outer, inner []orb.Ring) orb.MultiPolygon {
	slices.SortFunc(outer, func(a, b orb.Ring) int { return cmp.Compare(planar.Area(b), planar.Area(a)) })
	polygons := make(orb.MultiPolygon, len(outer))
	bounds := make([]orb.Bound, len(outer))
	for i, ring := range outer {
		polygons[i], bounds[i] = orb.Polygon{ring}, ring.Bound()
	}
	for _, hole := range inner {
		for i := len(outer) - 1; i >= 0; i-- {
			if bounds[i].Contains(hole[0]) && contains(outer[i], hole[0]) {
				polygons[i] = append(polygons[i], hole)
				break
			}
		}
	}
	return polygons
}

// contains reports whether a point is in a ring and not on it. Unlike orb's, it does not look for the ring's bounds.
func contains(ring orb.Ring, p orb.Point) (in bool) {
	for i := range ring[1:] {
		a, b := ring[i], ring[i+1]
		if (a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0]+(p[1]-a[1])/(b[1]-a[1])*(b[0]-a[0]) {
			in = !in
		}
	}
	return in
}
