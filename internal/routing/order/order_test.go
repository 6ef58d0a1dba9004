package order

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// permutations calls visit with all orders of n stops.
func permutations(n int, visit func([]int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var permute func(int)
	permute = func(k int) {
		if k == n {
			visit(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			permute(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	permute(0)
}

// random is a matrix that differs by direction; some of its elements are missing.
func random(rng *rand.Rand, n int, missing float64) [][]float64 {
	costs := make([][]float64, n)
	for i := range costs {
		costs[i] = make([]float64, n)
		for k := range costs[i] {
			costs[i][k] = float64(1 + rng.IntN(1000))
			if rng.Float64() < missing {
				costs[i][k] = math.NaN()
			}
		}
	}
	return costs
}

// valid reports whether an order visits each stop once, with those that are fixed where they belong.
func valid(order []int, n int, o Options) bool {
	sorted := slices.Sorted(slices.Values(order))
	for i, stop := range sorted {
		if stop != i {
			return false
		}
	}
	return len(sorted) == n && (!o.First || order[0] == 0) && (!o.Last || order[n-1] == n-1)
}

func allOptions() (all []Options) {
	for i := range 8 {
		all = append(all, Options{First: i&1 != 0, Last: i&2 != 0, Roundtrip: i&4 != 0})
	}
	return all
}

// Up to Exact stops the order is the best of all.
func TestBestIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		n := 2 + round%6
		costs := random(rng, n, float64(round%4)*0.15)
		for _, o := range allOptions() {
			problem, shortest := &tour{n: n, o: o, costs: costs}, math.Inf(1)
			permutations(n, func(order []int) {
				if valid(order, n, o) {
					shortest = min(shortest, problem.length(order))
				}
			})
			got := Best(costs, o)
			if math.IsInf(shortest, 1) {
				if got != nil {
					t.Fatalf("%+v of %v: %v, but there is no order", o, costs, got)
				}
			} else if !valid(got, n, o) || problem.length(got) != shortest {
				t.Fatalf("%+v of %v: %v, want an order of length %v", o, costs, got, shortest)
			}
		}
	}
}

// Beyond Exact stops the order keeps what is fixed, and is the shortest one on a circle.
func TestBestOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 40
	place := rng.Perm(n) // of each stop on the circle
	costs := make([][]float64, n)
	for i := range costs {
		costs[i] = make([]float64, n)
		for k := range costs[i] {
			costs[i][k] = math.Hypot(math.Cos(2*math.Pi*float64(place[i])/n)-math.Cos(2*math.Pi*float64(place[k])/n),
				math.Sin(2*math.Pi*float64(place[i])/n)-math.Sin(2*math.Pi*float64(place[k])/n))
		}
	}
	round := Options{First: true, Roundtrip: true}
	problem := &tour{n: n, o: round, costs: costs}
	if got, want := problem.length(Best(costs, round)), n*2*math.Sin(math.Pi/n); got > want*1.0001 {
		t.Errorf("a circle: length %v, want %v", got, want)
	}
	for _, o := range allOptions() {
		skewed := random(rng, n, 0.05)
		if got := Best(skewed, o); !valid(got, n, o) {
			t.Errorf("%+v: %v", o, got)
		}
	}
}

// A stop that no other one leads to has no order.
func TestNoOrder(t *testing.T) {
	for _, n := range []int{3, 15} {
		costs := random(rand.New(rand.NewPCG(5, 6)), n, 0)
		for i := range costs {
			costs[i][1] = math.Inf(1)
		}
		if got := Best(costs, Options{First: true}); got != nil {
			t.Errorf("%d stops: %v", n, got)
		}
	}
}

// A request of the most stops ends soon.
func TestWorkIsBounded(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("there is nothing to race here")
	}
	const n = 1000
	problem := &tour{n: n, o: Options{First: true}, costs: random(rand.New(rand.NewPCG(7, 8)), n, 0)}
	problem.search()
	if problem.work > maxWork+n {
		t.Errorf("%d steps of work, want at most %d", problem.work, maxWork)
	}
}
