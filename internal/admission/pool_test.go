package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
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

// hold takes a slot and keeps it until the returned function is called.
func hold(t *testing.T, p *Pool, account string) (release func()) {
	t.Helper()
	if err := p.Acquire(t.Context(), account, 1, patience); err != nil {
		t.Fatal(err)
	}
	return func() { p.Release(account, 1, 1) }
}

// TestTurns: of two accounts that wait, the one with few requests gets its slots between those of the one with many.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		release := hold(t, p, "many")
		var served []string
		var all sync.WaitGroup
		wait := func(account string) {
			all.Go(func() {
				if err := p.Acquire(t.Context(), account, 1, time.Hour); err != nil {
					t.Error(err)
				}
				served = append(served, account)
				time.Sleep(time.Millisecond)
				p.Release(account, 1, 1)
			})
			synctest.Wait() // in this order
		}
		for range 20 {
			wait("many")
		}
		for range 3 {
			wait("few")
		}
		release()
		all.Wait()
		last := 0
		for i, account := range served {
			if account == "few" {
				last = i
			}
		}
		if len(served) != 23 || last > 6 {
			t.Errorf("served in the order %v", served)
		}
	})
}

// TestShareOfWork: what counts is what requests have used, not how many there are.
func TestShareOfWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		used := map[string]int64{}
		var all sync.WaitGroup
		for account, cost := range map[string]int64{"heavy": 50, "light": 5} {
			for range 4 {
				all.Go(func() {
					for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
						if err := p.Acquire(t.Context(), account, 1, time.Hour); err != nil {
							t.Error(err)
						}
						time.Sleep(time.Duration(cost) * time.Millisecond)
						used[account] += cost
						p.Release(account, 1, cost)
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
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		var all sync.WaitGroup
		var mu sync.Mutex
		counts := map[string]int{}
		run := func(account string, n int) {
			for range n {
				all.Go(func() {
					if err := p.Acquire(t.Context(), account, 1, time.Hour); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Millisecond)
					mu.Lock()
					counts[account]++
					mu.Unlock()
					p.Release(account, 1, 1)
				})
			}
		}
		run("busy", 1000)
		time.Sleep(500 * time.Millisecond)
		run("late", 200)
		time.Sleep(100 * time.Millisecond)
		mu.Lock()
		late, busy := counts["late"], counts["busy"]-500
		mu.Unlock()
		if late < 45 || busy < 45 {
			t.Errorf("in 100 turns, the late account had %d and the busy one %d", late, busy)
		}
		all.Wait()
	})
}

// TestWaitIsBounded: nobody waits longer than the limit, and not at all behind a queue that is longer.
func TestWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		p.Observe(time.Second)
		release := hold(t, p, "a")
		began := time.Now()
		results := make(chan error, 10)
		for range 3 {
			go func() { results <- p.Acquire(t.Context(), "a", 1, patience) }()
			synctest.Wait()
		}
		if err := p.Acquire(t.Context(), "a", 1, patience); !refused(err) || time.Since(began) > 0 {
			t.Errorf("behind a queue of three seconds: %v after %v", err, time.Since(began))
		}
		// Others are not kept from waiting by it.
		go func() { results <- p.Acquire(t.Context(), "b", 1, patience) }()
		for range 4 {
			if err := <-results; !refused(err) || time.Since(began) != patience {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		release()
		if p.Held() != 0 || p.Waiting() != 0 || len(p.shares) != 0 || len(p.waiting) != 0 {
			t.Errorf("held %d, waiting %d, %d accounts", p.Held(), p.Waiting(), len(p.shares))
		}
	})
}

// TestGoneAway: who has gone away no longer waits, and holds nothing.
func TestGoneAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		release := hold(t, p, "a")
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- p.Acquire(ctx, "b", 1, patience) }()
		synctest.Wait()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) || p.Waiting() != 0 {
			t.Errorf("%v, waiting %d", err, p.Waiting())
		}
		release()
		hold(t, p, "b")()
	})
}

// TestYield: a slot is given up for an account that has used less, and for no other.
func TestYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 10, nil)
		release := hold(t, p, "a")
		yield := func(used int64) error { return p.Yield(t.Context(), "a", used, patience) }
		if err := yield(10); err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 10)
		var all sync.WaitGroup
		for _, account := range []string{"a", "b"} {
			all.Go(func() {
				if err := p.Acquire(t.Context(), account, 1, patience); err != nil {
					t.Error(err)
				}
				order <- account
				time.Sleep(time.Millisecond)
				p.Release(account, 1, 10)
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

// TestYieldedAreFew: of requests that are half done, only some wait at a time.
func TestYieldedAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		var most, halfDone atomic.Int64
		var all sync.WaitGroup
		for i := range 100 {
			account := fmt.Sprint(i)
			all.Go(func() {
				if err := p.Acquire(t.Context(), account, 1, time.Hour); err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), halfDone.Add(1)))
				for range 20 {
					time.Sleep(time.Millisecond)
					if err := p.Yield(t.Context(), account, 1, time.Hour); err != nil {
						t.Error(err)
					}
				}
				halfDone.Add(-1)
				p.Release(account, 1, 1)
			})
		}
		all.Wait()
		if n := most.Load(); n < 2 || n > maxYielded+1 {
			t.Errorf("%d requests were half done at once", n)
		}
	})
}

// TestBudget: an account leaves as much free as it holds, however many it has, and more than there is can be had alone.
func TestBudget(t *testing.T) {
	p := NewBudget(1200, 0, nil)
	take := func(account string) (n int64) {
		for p.TryGrow(account, 0, 1) {
			n++
		}
		return n
	}
	if a, b, c := take("a"), take("b"), take("c"); a != 600 || b != 300 || c != 150 {
		t.Errorf("three accounts hold %d, %d and %d of 1200", a, b, c)
	}
	// what the first gives back, the others may have
	p.Release("a", 600, 0)
	if b, c := take("b"), take("c"); b == 0 || c == 0 {
		t.Errorf("afterwards the others get %d and %d more", b, c)
	}
	p = NewBudget(100, 0, nil)
	if !p.TryGrow("a", 0, 1000) || p.TryGrow("b", 0, 1) {
		t.Error("more than there is must be had alone, and by itself")
	}
	p.Release("a", 1000, 0)
	if p.Held() != 0 || len(p.shares) != 0 {
		t.Errorf("held %d, %d accounts", p.Held(), len(p.shares))
	}
}

// TestBudgetPassesOver: an account that holds as much as it may keeps no other waiting.
func TestBudgetPassesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewBudget(100, 0, nil)
		if !p.TryGrow("a", 0, 50) {
			t.Fatal("half of the budget cannot be had")
		}
		result := make(chan error)
		go func() { result <- p.Acquire(t.Context(), "a", 10, patience) }()
		synctest.Wait()
		if err := p.Acquire(t.Context(), "b", 20, patience); err != nil {
			t.Error(err)
		}
		p.Release("a", 50, 0)
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

func TestResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		first := hold(t, p, "a")
		result := make(chan error)
		go func() { result <- p.Acquire(t.Context(), "a", 1, patience) }()
		synctest.Wait()
		p.Resize(2)
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		p.Resize(1)
		first()
		if err := p.Acquire(t.Context(), "a", 1, patience); !refused(err) {
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
					err := p.Acquire(ctx, account, 1, time.Duration(r.IntN(2000))*time.Microsecond)
					for yields := r.IntN(3); err == nil; yields-- {
						if n := used.Add(1); n > 3 {
							t.Errorf("%d of 3 are in use", n)
						}
						time.Sleep(time.Duration(r.IntN(50)) * time.Microsecond)
						used.Add(-1)
						if yields <= 0 || budget {
							p.Release(account, 1, int64(r.IntN(5)))
							break
						}
						err = p.Yield(ctx, account, int64(r.IntN(5)), time.Millisecond)
					}
					cancel()
				}
			})
		}
		all.Wait()
		if p.Held() != 0 || p.Waiting() != 0 || len(p.waiting) != 0 || p.yielded != 0 || len(p.shares) > 5 {
			t.Errorf("held %d, waiting %d and %d, %d accounts", p.Held(), p.Waiting(), len(p.waiting), len(p.shares))
		}
	}
}

// BenchmarkSlots is what a request pays while nobody waits.
func BenchmarkSlots(b *testing.B) {
	p := NewSlots(64, 1, nil)
	ctx := context.Background()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := p.Acquire(ctx, "a", 1, patience); err != nil {
				b.Error(err)
			}
			p.Release("a", 1, 1)
		}
	})
}
