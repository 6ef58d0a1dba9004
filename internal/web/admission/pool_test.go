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

const timeout = 2 * time.Second

func refused(err error) bool {
	overload, ok := errors.AsType[*OverloadError](err)
	return ok && overload.RetryAfter >= time.Second
}

// isIdle checks that nothing is held, or waited for, any more.
func isIdle(t *testing.T, p *Pool) {
	t.Helper()
	if p.root.drop(); p.Held() != 0 || p.Waiting() != 0 || p.root.waits() || len(p.root.children) != 0 {
		t.Errorf("held %d, waiting %d, %d callers", p.Held(), p.Waiting(), len(p.root.children))
	}
}

// eachLevel runs a test for organizations that wait for each other, and for accounts of one, in time that passes at once.
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
	if err := p.Acquire(t.Context(), c, 1, timeout); err != nil {
		t.Fatal(err)
	}
	return func() { p.Release(c, 1, 1) }
}

// await has a request wait for units, and returns where its error will come.
func await(t *testing.T, p *Pool, c Caller, units int64) <-chan error {
	result := make(chan error, 1)
	go func() { result <- p.Acquire(t.Context(), c, units, timeout) }()
	synctest.Wait()
	return result
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

// TestTurns: of two that wait, the one with few requests gets its slots between those of the one with many: accounts,
// organizations, and an account beside the many of another organization.
func TestTurns(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		for _, many := range []func(i int) Caller{
			func(int) Caller { return of("many") }, func(i int) Caller { return Caller{"many", fmt.Sprint(i)} },
		} {
			p, few := NewSlots(1, 1, nil), of("few")
			release := hold(t, p, many(0))
			var served []Caller
			var all sync.WaitGroup
			for i := range 23 {
				c := few
				if i < 20 {
					c = many(i)
				}
				all.Go(func() { use(t, p, c, 1, func() { served = append(served, c) }) })
				synctest.Wait() // in this order
			}
			release()
			all.Wait()
			if len(served) != 23 || slices.Contains(served[7:], few) {
				t.Errorf("served in the order %v", served)
			}
		}
	})
}

// TestShareOfWork: shares are of what requests have used, not of how many there are. An account that has done nothing
// for long has no claim to what it left to others.
func TestShareOfWork(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p, used := NewSlots(1, 1, nil), map[string]int64{}
		var mu sync.Mutex // guards used
		var all sync.WaitGroup
		run := func(account string, cost int64, until time.Time) {
			for range 4 {
				all.Go(func() {
					for time.Now().Before(until) {
						use(t, p, of(account), cost, func() {
							mu.Lock()
							defer mu.Unlock()
							used[account] += cost
						})
					}
				})
			}
		}
		end := time.Now().Add(20 * time.Second)
		run("heavy", 50, end)
		run("light", 5, end)
		time.Sleep(10 * time.Second)
		mu.Lock()
		before := used["heavy"] + used["light"]
		mu.Unlock()
		run("late", 5, end)
		all.Wait()
		third := float64(used["heavy"]+used["light"]+used["late"]-before) / 3
		if a, b, c := float64(used["heavy"]), float64(used["light"]), float64(used["late"]); a/b < 0.9 || a/b > 1.1 ||
			c/third < 0.9 || c/third > 1.1 {
			t.Errorf("used: %v, %d of it before the late one came", used, before)
		}
	})
}

// TestWaitIsBounded: a request waits no longer than the limit, and not at all behind a queue that is longer.
func TestWaitIsBounded(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewSlots(1, 1, nil)
		p.Observe(time.Second)
		release, began := hold(t, p, of("a")), time.Now()
		results := []<-chan error{await(t, p, of("a"), 1), await(t, p, of("a"), 1), await(t, p, of("a"), 1)}
		if err := p.Acquire(t.Context(), of("a"), 1, timeout); !refused(err) || time.Since(began) > 0 {
			t.Errorf("behind a queue of three seconds: %v after %v", err, time.Since(began))
		}
		for _, result := range append(results, await(t, p, of("b"), 1)) { // others may wait all the same
			if err := <-result; !refused(err) || time.Since(began) != timeout {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}
		release()
		isIdle(t, p)
	})
}

// TestYield: a slot is given up for an account that has used less, and for no other.
func TestYield(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewSlots(1, 10, nil)
		release := hold(t, p, of("a"))
		var order []string
		var all sync.WaitGroup
		for i, waiting := range []string{"", "a", "b", ""} {
			if i == 2 {
				order = append(order, "a stays")
			}
			if waiting != "" {
				all.Go(func() { use(t, p, of(waiting), 10, func() { order = append(order, waiting) }) })
				synctest.Wait()
			}
			if err := p.Yield(t.Context(), of("a"), 10, timeout); err != nil {
				t.Fatal(err)
			}
		}
		order = append(order, "a goes on")
		release()
		all.Wait()
		if want := []string{"a stays", "b", "a goes on", "a"}; !slices.Equal(order, want) {
			t.Errorf("served in the order %v, want %v", order, want)
		}
	})
}

// takeAll takes as many units as a caller may have.
func takeAll(p *Pool, c Caller) (n int64) {
	for p.TryGrow(c, 0, 1) {
		n++
	}
	return n
}

// TestBudget: an account leaves as much free as it holds, and an organization a third. More than there is can be had
// while nothing is held.
func TestBudget(t *testing.T) {
	p := NewBudget(1200, 0, nil)
	for i, want := range []int64{600, 300, 150} {
		if got := takeAll(p, organization(string(rune('a'+i)))); got != want {
			t.Errorf("account %d holds %d of 1200, not %d", i, got, want)
		}
	}
	p.Release(organization("a"), 600, 0)
	if b, c := takeAll(p, organization("b")), takeAll(p, organization("c")); b == 0 || c == 0 {
		t.Errorf("of what the first gives back, the others get %d and %d", b, c)
	}
	p = NewBudget(900, 0, nil)
	held := int64(0)
	for i := range 32 {
		held += takeAll(p, Caller{"many", fmt.Sprint(i)})
	}
	if other := takeAll(p, organization("other")); held != 600 || other != 150 {
		t.Errorf("of 900, one organization holds %d and another %d", held, other)
	}
	p = NewBudget(100, 0, nil)
	if !p.TryGrow(organization("a"), 0, 1000) || p.TryGrow(organization("b"), 0, 1) {
		t.Error("a request for more than there is must succeed only if nothing is held")
	}
	p.Release(organization("a"), 1000, 0)
	isIdle(t, p)
}

// TestBudgetPassesOver: an account that holds as much as it may keeps no other waiting.
func TestBudgetPassesOver(t *testing.T) {
	eachLevel(t, func(t *testing.T, of func(string) Caller) {
		p := NewBudget(100, 0, nil)
		if !p.TryGrow(of("a"), 0, 50) {
			t.Fatal("half of the budget cannot be had")
		}
		result := await(t, p, of("a"), 10)
		if err := p.Acquire(t.Context(), of("b"), 10, timeout); err != nil {
			t.Error(err)
		}
		p.Release(of("a"), 50, 0)
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// TestBoundedMemory: while others wait, callers that have gone are forgotten.
func TestBoundedMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewSlots(1, 1, nil)
		defer hold(t, p, organization("a"))()
		await(t, p, organization("b"), 1)
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
		release := hold(t, p, organization("a"))
		result := await(t, p, organization("a"), 1)
		p.Resize(2)
		if err := <-result; err != nil {
			t.Fatal(err)
		}
		p.Resize(1)
		release()
		if err := p.Acquire(t.Context(), organization("a"), 1, timeout); !refused(err) {
			t.Errorf("one slot of one is held: %v", err)
		}
	})
}

// TestNothingIsLost: with any requests at once, there are never more slots in use than there are, and in the end all are
// free.
func TestNothingIsLost(t *testing.T) {
	for _, p := range []*Pool{NewSlots(3, 2, nil), NewBudget(3, 0, nil)} {
		var used atomic.Int64
		var all sync.WaitGroup
		for g := range 16 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(1, uint64(g)))
				account := organization(fmt.Sprint(g % 5))
				for range 500 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(2000))*time.Microsecond)
					err := p.Acquire(ctx, account, 1, time.Duration(r.IntN(2000))*time.Microsecond)
					for yields := r.IntN(3); err == nil; yields-- {
						if n := used.Add(1); n > 3 {
							t.Errorf("%d of 3 are in use", n)
						}
						time.Sleep(time.Duration(r.IntN(50)) * time.Microsecond)
						used.Add(-1)
						if yields <= 0 || p.few == 0 { // of a budget nothing is given up
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
		isIdle(t, p)
	}
}
