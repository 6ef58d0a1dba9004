package admission

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHold: what a request holds is what the budget lacks, however it came to it.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(1<<20, patience, nil)
		h := b.For(organization("a"))
		for _, bytes := range []int64{1 << 10, 100 << 10, 300 << 10, 40 << 10, 2 << 10, 64 << 10} {
			if err := h.Resize(t.Context(), bytes); err != nil || b.Held() != bytes {
				t.Errorf("%d bytes are held, not %d, error %v", b.Held(), bytes, err)
			}
		}
		if !h.TryGrow(128<<10) || b.Held() != 128<<10 {
			t.Errorf("%d bytes are held", b.Held())
		}
		other := b.For(organization("b"))
		if err := other.Resize(t.Context(), 480<<10); !refused(err) {
			t.Errorf("more than it leaves free: %v", err)
		}
		h.Release()
		if err := other.Resize(t.Context(), 100<<20); err != nil || b.Held() != 512<<10 {
			t.Errorf("more than there is: %d bytes are held, error %v", b.Held(), err)
		}
		other.Release()
		wantIdle(t, b.pool)
	})
}

// TestOneCannotHoldAll: bodies that never end keep neither small ones nor those of others from being read.
func TestOneCannotHoldAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(256<<20, patience, nil)
		hostile := make([]Hold, 50)
		held := 0
		for i := range hostile {
			hostile[i] = b.For(organization("hostile"))
			if hostile[i].TryGrow(16 << 20) {
				held++
			}
		}
		if held != 8 {
			t.Errorf("one account holds %d bodies", held)
		}
		began := time.Now()
		large, small := b.For(organization("other")), b.For(organization("hostile"))
		if err := large.Resize(t.Context(), 16<<20); err != nil || time.Since(began) > 0 {
			t.Errorf("a large body of another account: %v after %v", err, time.Since(began))
		}
		if err := small.Resize(t.Context(), 8<<10); err != nil || time.Since(began) > 0 {
			t.Errorf("a small body: %v after %v", err, time.Since(began))
		}
	})
}

// TestNoBudget: the zero Hold is good for programs that have none.
func TestNoBudget(t *testing.T) {
	var h Hold
	if err := h.Resize(t.Context(), 1<<40); err != nil || !h.TryGrow(1<<50) {
		t.Error(err)
	}
	h.Release()
}

// TestGrowAlone: a request that takes memory as its body comes gets as much of it as one that takes all at once.
func TestGrowAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for total := int64(1 << 20); total <= 256<<20; total *= 2 {
			for _, try := range []bool{false, true} {
				b := NewBodies(total, patience, nil)
				h, began := b.For(organization("a")), time.Now()
				for bytes := int64(smallMemory); bytes <= 64<<20; bytes *= 2 {
					if try && !h.TryGrow(bytes) {
						t.Errorf("of %d bytes, %d cannot be had", total, bytes)
					}
					if err := h.Resize(t.Context(), bytes); err != nil {
						t.Errorf("of %d bytes, %d: %v", total, bytes, err)
					}
					if want := min(bytes, b.atMost(bytes)); b.Held() != want {
						t.Errorf("%d bytes are held, not %d", b.Held(), want)
					}
				}
				if waited := time.Since(began); waited > 0 {
					t.Errorf("it waited %v for itself", waited)
				}
				h.Release()
				wantIdle(t, b.pool)
			}
		}
	})
}

// TestGrowBeside: who cannot get more keeps what it has, and gets more when others have ended.
func TestGrowBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(1<<20, patience, nil)
		h, other := b.For(organization("a")), b.For(organization("b"))
		if err := h.Resize(t.Context(), 100<<10); err != nil {
			t.Fatal(err)
		}
		if err := other.Resize(t.Context(), 400<<10); err != nil {
			t.Fatal(err)
		}
		if err := h.Resize(t.Context(), 400<<10); !refused(err) || b.Held() != 500<<10 {
			t.Errorf("error %v, %d bytes are held", err, b.Held())
		}
		result := make(chan error)
		go func() { result <- h.Resize(t.Context(), 400<<10) }()
		synctest.Wait()
		other.Release()
		if err := <-result; err != nil || b.Held() != 400<<10 {
			t.Errorf("error %v, %d bytes are held", err, b.Held())
		}
		h.Release()
		wantIdle(t, b.pool)
	})
}
