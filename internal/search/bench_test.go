package search_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// delaware compiles Delaware's places and opens its search.
func delaware(t testing.TB) *search.Index {
	t.Helper()
	return openExtract(t, compiler.Options{Inputs: []string{testkit.Extract(t, testkit.Delaware)}})
}

// kinds are queries for Delaware by what makes them fast or slow. A text that ends with * is half-typed.
var kinds = []struct {
	name  string
	texts []string
}{
	{"prefix", []string{"d*", "wil*", "newar*", "main s*", "rehob*", "lewes b*", "kirkwood h*"}},
	{"place", []string{"Dover", "Wilmington", "Newark", "Rehoboth Beach", "Lewes"}},
	{"street", []string{"Main Street, Newark", "Kirkwood Highway", "South State Street, Dover", "Philadelphia Pike"}},
	{"address", []string{"100 Main Street, Newark", "1000 King Street, Wilmington", "500 South State Street, Dover 19901"}},
	{"typo", []string{"Wilmingtno", "Kirkwod Highway", "Rehobth Beach", "main stret, newrak", "philadelfia pike"}},
	{"category", []string{"pharmacy dover", "school newark", "restaurant rehoboth beach"}},
	{"nothing", []string{"xyzzyqq", "qqqqqq wwwwww", "zzzz 17"}},
}

func BenchmarkSearch(b *testing.B) {
	x := delaware(b)
	for _, kind := range kinds {
		for _, near := range []*orb.Point{nil, {-75.7497, 39.6837}} {
			b.Run(fmt.Sprintf("%s/near=%v", kind.name, near != nil), func(b *testing.B) {
				q := geocoding.Query{Limit: 5, Near: near, Into: new(geocoding.Result)} // as the handler asks
				times := make([]time.Duration, 0, 10_000)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					q.Text, q.Autocomplete = halfTyped(kind.texts[i%len(kind.texts)])
					start := time.Now()
					if _, err := x.Search(b.Context(), &q); err != nil {
						b.Fatal(err)
					}
					if took := time.Since(start); len(times) < cap(times) {
						times = append(times, took)
					} else {
						times[i%len(times)] = took
					}
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
				b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
			})
		}
	}
}

// TestConcurrent: searches at once have the answers that they have one after the other.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	x := openRegion(t, state())
	var queries []geocoding.Query
	for _, text := range []string{"m*", "36 mian st", "pharmacy newport", "dover", "12 a loockerman st", "walkers drugs", "wilmignton main", "lost ln", "19901", "zzz"} {
		for _, near := range []*orb.Point{nil, &dover, &wilmington} {
			q := geocoding.Query{Near: near, Limit: 5}
			q.Text, q.Autocomplete = halfTyped(text)
			queries = append(queries, q)
		}
	}
	want := make([][]geocoding.Place, len(queries))
	for i := range queries {
		want[i] = ask(t, x, &queries[i])
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			into := new(geocoding.Result)
			for i := range testkit.Some(10) * len(queries) {
				k := (worker*7 + i) % len(queries)
				q := queries[k]
				q.Into = into
				if diff := cmp.Diff(want[k], ask(t, x, &q), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%q: %s", q.Text, diff)
				}
			}
		})
	}
	all.Wait()
}

// TestAllocations: a search allocates as much where very many documents match as where some do.
func TestAllocations(t *testing.T) {
	small, large := openRegion(t, crowd(100)), openRegion(t, crowd(3000))
	for _, text := range []string{"sa*", "s*", "number7 sa*", "town", "sa tonw*", "numbre salt"} {
		q := geocoding.Query{Limit: 5, Near: &orb.Point{.5, .5}, Into: new(geocoding.Result)}
		q.Text, q.Autocomplete = halfTyped(text)
		count := func(x *search.Index) float64 {
			ask := func() {
				if r, err := x.Search(t.Context(), &q); err != nil || len(r.Places) == 0 {
					t.Errorf("%q: %v, %v", text, r, err)
				}
			}
			for range 5 { // what is kept for the next search grows
				ask()
			}
			return testing.AllocsPerRun(50, ask)
		}
		few, many := count(small), count(large)
		if t.Logf("%q: %.0f and %.0f", text, few, many); many > few+20 && !testkit.RaceDetector {
			t.Errorf("%q: %.0f allocations, and %.0f with very many matches", text, few, many)
		}
	}
}
