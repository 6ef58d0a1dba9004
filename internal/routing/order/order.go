// Package order finds the order in which to visit stops: the travelling salesman problem on a matrix of costs, which
// need not be the same in both directions. Start with Best.
package order

import (
	"math"
	"slices"
)

// Exact is the greatest number of stops for which the order is the best one. It is found by dynamic programming (Held
// and Karp 1962).
const Exact = 12

// Options are what is fixed.
type Options struct {
	// First says that the tour begins at stop 0, Last that it ends at the last stop.
	First, Last bool
	// Roundtrip says that the tour returns to where it begins.
	Roundtrip bool
}

// Best returns the order of stops with the least sum of costs; costs[i][k] is that from stop i to stop k, and NaN or
// infinity means that there is no way. Beyond Exact stops it is a good order: that of the nearest neighbour, improved
// by Or-opt and 2-opt moves (Or 1976, Croes 1958). It returns nil if there is no order.
func Best(costs [][]float64, o Options) []int {
	n := len(costs)
	if n < 2 {
		return slices.Collect(func(yield func(int) bool) {
			for i := range n {
				if !yield(i) {
					return
				}
			}
		})
	}
	t := &tour{n: n, o: o, costs: costs}
	var best []int
	if n <= Exact {
		best = t.exact()
	} else {
		best = t.search()
	}
	if best == nil || math.IsInf(t.length(best), 1) {
		return nil
	}
	return best
}

// tour is a problem.
type tour struct {
	n     int
	o     Options
	costs [][]float64
	work  int // of improving moves so far: lengths of the orders that were tried
}

// maxWork bounds the work of improving moves to less than a second.
const maxWork = 200_000_000

// cost returns the cost from one stop to another one.
func (t *tour) cost(a, b int) float64 {
	if c := t.costs[a][b]; !math.IsNaN(c) {
		return c
	}
	return math.Inf(1)
}

func (t *tour) length(order []int) (sum float64) {
	for i := range order[1:] {
		sum += t.cost(order[i], order[i+1])
	}
	if t.o.Roundtrip {
		sum += t.cost(order[len(order)-1], order[0])
	}
	return sum
}

// exact returns the best order.
func (t *tour) exact() []int {
	n, last := t.n, t.n-1
	var best []int
	shortest := math.Inf(1)
	starts := n
	if t.o.First || t.o.Roundtrip && !t.o.Last {
		starts = 1
	}
	for start := range starts {
		if t.o.Last && start == last {
			continue
		}
		// sums[set*n+k] is the least cost from start over a set of stops to k, which is one of them.
		sums, from := make([]float64, n<<n), make([]int8, n<<n)
		for i := range sums {
			sums[i] = math.Inf(1)
		}
		sums[(1<<start)*n+start] = 0
		for set := range 1 << n {
			for k := range n {
				sum := sums[set*n+k]
				if math.IsInf(sum, 1) || t.o.Last && k == last {
					continue // it ends there
				}
				for next := range n {
					if to := (set|1<<next)*n + next; set&(1<<next) == 0 && sum+t.cost(k, next) < sums[to] {
						sums[to], from[to] = sum+t.cost(k, next), int8(k)
					}
				}
			}
		}
		all := 1<<n - 1
		for end := range n {
			sum := sums[all*n+end]
			if t.o.Roundtrip {
				sum += t.cost(end, start)
			}
			if t.o.Last && end != last || !(sum < shortest) {
				continue
			}
			shortest, best = sum, best[:0]
			for set, k := all, end; ; {
				best = append(best, k)
				if set == 1<<k {
					break
				}
				set, k = set&^(1<<k), int(from[set*n+k])
			}
			slices.Reverse(best)
		}
	}
	return best
}

// search returns a good order.
func (t *tour) search() []int {
	order := t.nearest()
	for improved := true; improved; {
		improved = t.orOpt(order) || t.twoOpt(order)
	}
	return order
}

// nearest goes to the nearest stop that is left, again and again.
func (t *tour) nearest() []int {
	order, used := []int{0}, make([]bool, t.n)
	used[0] = true
	if t.o.Last {
		used[t.n-1] = true
	}
	for len(order) < t.n {
		next := -1
		for k := range t.n {
			if !used[k] && (next < 0 || t.cost(order[len(order)-1], k) < t.cost(order[len(order)-1], next)) {
				next = k
			}
		}
		if next < 0 {
			next = t.n - 1
		}
		used[next] = true
		order = append(order, next)
	}
	return order
}

// movable returns the range of positions whose stops may move.
func (t *tour) movable() (from, to int) {
	from, to = 0, t.n
	if t.o.First || t.o.Roundtrip && !t.o.Last {
		from = 1
	}
	if t.o.Last {
		to--
	}
	return from, to
}

// improved tries another order of stops, and keeps it if it is shorter.
func (t *tour) improved(order, other []int, length *float64) bool {
	if t.work > maxWork {
		return false
	}
	t.work += t.n
	if l := t.length(other); l < *length-1e-9 || math.IsInf(*length, 1) && l < *length {
		copy(order, other)
		*length = l
		return true
	}
	return false
}

// orOpt moves runs of up to three stops elsewhere.
func (t *tour) orOpt(order []int) (moved bool) {
	first, end := t.movable()
	length, other := t.length(order), make([]int, 0, t.n)
	for size := 1; size <= 3; size++ {
		for i := first; i+size <= end && t.work <= maxWork; i++ {
			for k := first; k+size <= end; k++ {
				if k == i {
					continue
				}
				other = append(append(other[:0], order[:i]...), order[i+size:]...)
				other = slices.Insert(other, k, order[i:i+size]...)
				if t.improved(order, other, &length) {
					moved = true
				}
			}
		}
	}
	return moved
}

// twoOpt reverses runs of stops.
func (t *tour) twoOpt(order []int) (moved bool) {
	first, end := t.movable()
	length, other := t.length(order), make([]int, t.n)
	for i := first; i < end && t.work <= maxWork; i++ {
		for k := i + 2; k <= end; k++ {
			copy(other, order)
			slices.Reverse(other[i:k])
			if t.improved(order, other, &length) {
				moved = true
			}
		}
	}
	return moved
}
