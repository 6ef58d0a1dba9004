package admission

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// perWork is how long a unit of work takes here.
const perWork = 300 * time.Nanosecond

// request is one that does so much work, and what became of it.
type request struct {
	work, step int64

	err  error
	took time.Duration
}

func (r *request) run(ctx context.Context, p *Processors, c Caller) {
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	var w Work
	if r.err = w.Begin(ctx, p, c); r.err != nil {
		return
	}
	defer w.End()
	for done := int64(0); done < r.work && r.err == nil; done += r.step {
		time.Sleep(time.Duration(r.step) * perWork)
		r.err = w.Spend(r.step)
	}
}

func brief() *request { return &request{work: 3 << 10, step: 1 << 10} }
func heavy() *request { return &request{work: 3 << 20, step: 1 << 10} }

func (p *Processors) idle() bool {
	return p.Waiting() == 0 && p.working.Held() == 0 && p.heavy.Held() == 0
}

// TestHeavyMakesWay: however many heavy requests an account has, those of another take hardly longer than without them.
func TestHeavyMakesWay(t *testing.T) {
	for _, processors := range []int{1, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			p := NewProcessors(processors, timeout, nil)
			hostile := make([]*request, 50)
			for i := range hostile {
				hostile[i] = heavy()
				go hostile[i].run(t.Context(), p, organization("hostile"))
			}
			time.Sleep(100 * time.Millisecond)
			for _, r := range []*request{brief(), {work: 30 << 10, step: 1 << 10}} {
				alone := time.Duration(r.work) * perWork
				// Before it gets its turn, one that is brief may be at work.
				if r.run(t.Context(), p, organization("other")); r.err != nil || r.took > 3*alone+briefWork*perWork {
					t.Errorf("%d processors: work of %v took %v, error %v", processors, alone, r.took, r.err)
				}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			served := 0
			for _, r := range hostile {
				switch {
				case r.err == nil:
					served++
				case !refused(r.err):
					t.Error(r.err)
				}
				if r.took > timeout+time.Duration(r.work)*perWork+100*time.Millisecond {
					t.Errorf("%d processors: a heavy request was answered after %v", processors, r.took)
				}
			}
			// In the time that one may wait, and for as long as the last of them works.
			if least := max(1, processors-1) * 2; served < least {
				t.Errorf("%d processors: %d heavy requests were served, not %d", processors, served, least)
			}
			if !p.idle() {
				t.Errorf("something is left: %+v", p)
			}
		})
	}
}

// TestRefusedAtOnce: once it is known how long heavy requests take, one behind a long queue is refused at once, and a
// brief one of the same account is not.
func TestRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := NewProcessors(2, timeout, nil), organization("hostile")
		heavy().run(t.Context(), p, c) // 0.94 s
		for range 20 {
			go heavy().run(t.Context(), p, c)
			time.Sleep(10 * time.Millisecond)
		}
		for _, r := range []*request{heavy(), brief()} {
			if r.run(t.Context(), p, c); refused(r.err) != (r.work == heavy().work) || r.took > 20*time.Millisecond {
				t.Errorf("work of %d: %v after %v", r.work, r.err, r.took)
			}
		}
	})
}

// TestGoneWhileAtWork: a request whose client goes away gives back what it had, at any stage.
func TestGoneWhileAtWork(t *testing.T) {
	for after := time.Duration(0); after < 3*time.Second; after += 97 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			p := NewProcessors(2, timeout, nil)
			ctx, cancel := context.WithCancel(t.Context())
			requests := make([]*request, 6)
			for i := range requests {
				requests[i] = heavy()
				go requests[i].run(ctx, p, Caller{string(rune('a' + i%2)), string(rune('a' + i%3))})
			}
			time.Sleep(after)
			cancel()
			time.Sleep(time.Millisecond)
			synctest.Wait()
			for _, r := range requests {
				if r.err != nil && !errors.Is(r.err, context.Canceled) && !refused(r.err) {
					t.Errorf("after %v: %v", after, r.err)
				}
			}
			if !p.idle() {
				t.Errorf("after %v, something is left", after)
			}
		})
	}
}

// BenchmarkWork is the cost of counting for the only request.
func BenchmarkWork(b *testing.B) {
	p := NewProcessors(8, timeout, nil)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		var w Work
		if err := w.Begin(ctx, p, organization("a")); err != nil {
			b.Fatal(err)
		}
		_ = w.Spend(1 << 10)
		w.End()
	}
}
