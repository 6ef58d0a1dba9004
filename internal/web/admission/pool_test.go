package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const patience = 2 * time.Second

func refused(err error) bool {
	var overload *OverloadError
	return errors.As(err, &overload) && overload.RetryAfter >= time.Second
}

// wantIdle checks that nothing is held, or waited for, any more.
func wantIdle(t *testing.T, p *Pool) {
	t.Helper()
	if p.root.drop(); p.Held() != 0 || p.Waiting() != 0 || p.root.waits() || len(p.root.children) != 0 {
		t.Errorf("held %d, waiting %d, %d callers", p.Held(), p.Waiting(), len(p.root.children))
	}
}

// eachLevel runs a test for organizations that wait for each other, and for accounts of one.
func eachLevel(t *testing.T, test func(t *testing.T, of func(name string) Caller)) {
	t.Run("organizations", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(t, organization) })
	})
	t.Run("accounts of one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, func(name string) Caller { return Caller{"one", name} })
		})
	})
}

func organization(name string) Caller { return Caller{name, "account"} }

// hold takes a slot and keeps it until the returned function is called.
func hold(t *testing.T, p *Pool, c Caller) (release func()) {
	t.Helper()
	if err := p.Acquire(t.Context(), c, 1, patience); err != nil {
		t.Fatal(err)
	}
	return func() { p.Release(c, 1, 1) }
}

// use waits for a slot, uses it for so many milliseconds, and notes that before it gives it back.
func use(t *testing.T, p *Pool, c Caller, cost int64, note func()) {
	if err := p.Acquire(t.Context(), c, 1, time.Hour); err != nil {
		t.Error(err)
	}
	time.Sleep(time.Duration(cost) * time.Millisecond)
	note()
	p.Release(c, 1, cost)
}

// TestTurns: of two accounts that wait, the one with few requests gets its slots between those of the one with many.
func TestTurns(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		turns(t, func(int) Caller { return of("many") }, of("few"))
	})
}

// TestOrganizationsFirst: so does one account between the many of another organization.
func TestOrganizationsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns(t, func(i int) Caller { return Caller{"many", fmt.Sprint(i)} }, organization("few"))
	})
}

// turns has 20 requests of many wait for a slot, and 3 of few after them.
func turns(t *testing.T, many func(i int) Caller, few Caller) {
	p := NewSlots(1, 1, nil)
	release := hold(t, p, many(0))
	var served []Caller
	var all sync.WaitGroup
	for i := range 23 {
		c := few
		if i < 20 {
			c = many(i)
		}
		all.Go(func() {
			use(t, p, c, 1, func() { served = append(served, c) })
		})
		synctest.Wait() // in this order
	}
	release()
	all.Wait()
	if len(served) != 23 || slices.Contains(served[7:], few) {
		t.Errorf("served in the order %v", served)
	}
}

// TestShareOfWork: what counts is what requests have used, not how many there are.
func TestShareOfWork(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewSlots(1, 1, nil)
		used := map[string]int64{}
		var all sync.WaitGroup
		for account, cost := range map[string]int64{"heavy": 50, "light": 5} {
			for range 4 {
				all.Go(func() {
					for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
						use(t, p, of(account), cost, func() { used[account] += cost })
					}
				})
			}
		}
		all.Wait()
		if a, b := float64(used["heavy"]), float64(used["light"]); a/b < 0.9 || a/b > 1.1 {
			t.Errorf("used: %v", used)
		}
	})
}

// TestNoSavings: an account that has done nothing for long has no claim to all that it left to others.
func TestNoSavings(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewSlots(1, 1, nil)
		var all sync.WaitGroup
		counts := map[string]*atomic.Int64{"busy": {}, "late": {}}
		run := func(account string, n int) {
			for range n {
				all.Go(func() {
					use(t, p, of(account), 1, func() { counts[account].Add(1) })
				})
			}
		}
		run("busy", 1000)
		time.Sleep(500 * time.Millisecond)
		run("late", 200)
		time.Sleep(100 * time.Millisecond)
		late, busy := counts["late"].Load(), counts["busy"].Load()-500
		if late < 45 || busy < 45 {
			t.Errorf("in 100 turns, the late account had %d and the busy one %d", late, busy)
		}
		all.Wait()
	})
}

// TestWaitIsBounded: nobody waits longer than the limit, and not at all behind a queue that is longer.
func TestWaitIsBounded(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewSlots(1, 1, nil)
		p.Observe(time.Second)
		release := hold(t, p, of("a"))
		began := time.Now()
		results := make(chan error, 10)
		for range 3 {
			go func() { results <- p.Acquire(t.Context(), of("a"), 1, patience) }()
			synctest.Wait()
		}
		if err := p.Acquire(t.Context(), of("a"), 1, patience); !refused(err) || time.Since(began) > 0 {
			t.Errorf("behind a queue of three seconds: %v after %v", err, time.Since(began))
		}
		// Others are not kept from waiting by it.
		go func() { results <- p.Acquire(t.Context(), of("b"), 1, patience) }()
		for range 4 {
			if err := <-results; !refused(err) || time.Since(began) != patience {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		release()
		wantIdle(t, p)
	})
}

// TestYield: a slot is given up for an account that has used less, and for no other.
func TestYield(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewSlots(1, 10, nil)
		release := hold(t, p, of("a"))
		yield := func(used int64) error { return p.Yield(t.Context(), of("a"), used, patience) }
		if err := yield(10); err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 10)
		var all sync.WaitGroup
		for _, account := range []string{"a", "b"} {
			all.Go(func() {
				if err := p.Acquire(t.Context(), of(account), 1, patience); err != nil {
					t.Error(err)
				}
				order <- account
				time.Sleep(time.Millisecond)
				p.Release(of(account), 1, 10)
			})
			synctest.Wait()
		}
		if err := yield(10); err != nil {
			t.Fatal(err)
		}
		order <- "a again"
		if err := yield(10); err != nil { // nobody but a's own request waits
			t.Fatal(err)
		}
		release()
		for _, want := range []string{"b", "a again", "a"} {
			if got := <-order; got != want {
				t.Errorf("%s is served, not %s", got, want)
			}
		}
		all.Wait()
	})
}

// takeAll takes as many units as a caller may have.
func takeAll(p *Pool, c Caller) (n int64) {
	for p.TryGrow(c, 0, 1) {
		n++
	}
	return n
}

// TestBudget: an account leaves as much free as it holds, however many it has, and more than there is can be had alone.
func TestBudget(t *testing.T) {
	p := NewBudget(1200, 0, nil)
	for i, want := range []int64{600, 300, 150} {
		if got := takeAll(p, organization(string(rune('a'+i)))); got != want {
			t.Errorf("account %d holds %d of 1200, not %d", i, got, want)
		}
	}
	// what the first gives back, the others may have
	p.Release(organization("a"), 600, 0)
	if b, c := takeAll(p, organization("b")), takeAll(p, organization("c")); b == 0 || c == 0 {
		t.Errorf("afterwards the others get %d and %d more", b, c)
	}
	p = NewBudget(100, 0, nil)
	if !p.TryGrow(organization("a"), 0, 1000) || p.TryGrow(organization("b"), 0, 1) {
		t.Error("more than there is must be had alone, and by itself")
	}
	p.Release(organization("a"), 1000, 0)
	wantIdle(t, p)
}

// TestBudgetPassesOver: an account that holds as much as it may keeps no other waiting.
func TestBudgetPassesOver(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewBudget(100, 0, nil)
		if !p.TryGrow(of("a"), 0, 50) {
			t.Fatal("half of the budget cannot be had")
		}
		result := make(chan error)
		go func() { result <- p.Acquire(t.Context(), of("a"), 10, patience) }()
		synctest.Wait()
		if err := p.Acquire(t.Context(), of("b"), 10, patience); err != nil {
			t.Error(err)
		}
		p.Release(of("a"), 50, 0)
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// TestBudgetOfOrganization: an organization leaves a third of a budget free, however many accounts it has, and others
// may have half of that.
func TestBudgetOfOrganization(t *testing.T) {
	p := NewBudget(900, 0, nil)
	held := int64(0)
	for i := range 32 {
		held += takeAll(p, Caller{"many", fmt.Sprint(i)})
	}
	if other := takeAll(p, organization("other")); held != 600 || other != 150 {
		t.Errorf("of 900, one organization holds %d and another %d", held, other)
	}
}

// TestBoundedMemory: while others wait, those that have gone are forgotten.
func TestBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		defer hold(t, p, organization("a"))()
		go p.Acquire(t.Context(), organization("b"), 1, time.Second)
		synctest.Wait()
		for i := range 1000 {
			p.TryGrow(Caller{fmt.Sprint(i), "account"}, 0, 1)
			p.TryGrow(Caller{"b", fmt.Sprint(i)}, 0, 1)
		}
		if o, a := len(p.root.children), len(p.root.children["b"].children); o > 40 || a > 40 {
			t.Errorf("%d organizations and %d accounts are known", o, a)
		}
	})
}

func TestResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		first := hold(t, p, organization("a"))
		result := make(chan error)
		go func() { result <- p.Acquire(t.Context(), organization("a"), 1, patience) }()
		synctest.Wait()
		p.Resize(2)
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		p.Resize(1)
		first()
		if err := p.Acquire(t.Context(), organization("a"), 1, patience); !refused(err) {
			t.Errorf("one slot of one is held: %v", err)
		}
	})
}

// TestNothingIsLost: whatever comes at once, there are never more slots in use than there are, and in the end all are
// free.
func TestNothingIsLost(t *testing.T) {
	for _, budget := range []bool{false, true} {
		p := NewSlots(3, 2, nil)
		if budget {
			p = NewBudget(3, 0, nil)
		}
		var used atomic.Int64
		var all sync.WaitGroup
		for g := range 16 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				account := fmt.Sprint(g % 5)
				for range 500 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(2000))*time.Microsecond)
					err := p.Acquire(ctx, organization(account), 1, time.Duration(r.IntN(2000))*time.Microsecond)
					for yields := r.IntN(3); err == nil; yields-- {
						if n := used.Add(1); n > 3 {
							t.Errorf("%d of 3 are in use", n)
						}
						time.Sleep(time.Duration(r.IntN(50)) * time.Microsecond)
						used.Add(-1)
						if yields <= 0 || budget {
							p.Release(organization(account), 1, int64(r.IntN(5)))
							break
						}
						err = p.Yield(ctx, organization(account), int64(r.IntN(5)), time.Millisecond)
					}
					cancel()
				}
			})
		}
		all.Wait()
		wantIdle(t, p)
	}
}

// BenchmarkSlots is what a request pays while nobody waits.
func BenchmarkSlots(b *testing.B) {
	p := NewSlots(64, 1, nil)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := p.Acquire(ctx, organization("a"), 1, patience); err != nil {
				b.Error(err)
			}
			p.Release(organization("a"), 1, 1)
		}
	})
}
