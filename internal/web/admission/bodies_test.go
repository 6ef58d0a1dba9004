package admission

import (
	"testing"
	"testing/synctest"
	"time"
)

// resized checks that a Reservation can be made so many bytes without waiting, and how much of the budget is held then.
func resized(t *testing.T, b *Bodies, h *Reservation, bytes, held int64) {
	t.Helper()
	began := time.Now()
	if err := h.Resize(t.Context(), bytes); err != nil || b.Held() != held || time.Since(began) > 0 {
		t.Errorf("%d bytes: %v after %v, and %d are held, not %d", bytes, err, time.Since(began), b.Held(), held)
	}
}

// TestReservation: the budget lacks exactly the bytes that requests hold, after any steps. A request that cannot get more
// keeps its bytes, and gets more when others have ended.
func TestReservation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(1<<20, timeout, nil)
		h, other := b.For(organization("a")), b.For(organization("b"))
		for _, bytes := range []int64{1 << 10, 100 << 10, 300 << 10, 40 << 10, 2 << 10, 64 << 10} {
			resized(t, b, &h, bytes, bytes)
		}
		if !h.TryGrow(128<<10) || b.Held() != 128<<10 {
			t.Errorf("%d bytes are held", b.Held())
		}
		if err := other.Resize(t.Context(), 480<<10); !refused(err) {
			t.Errorf("more than it leaves free: %v", err)
		}
		h.Release()
		resized(t, b, &other, 100<<20, 512<<10) // of more than there is, half
		other.Release()

		resized(t, b, &h, 100<<10, 100<<10)
		resized(t, b, &other, 400<<10, 500<<10)
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
		isIdle(t, b.pool)

		var none Reservation // of a program without a budget
		if err := none.Resize(t.Context(), 1<<40); err != nil || !none.TryGrow(1<<50) {
			t.Error(err)
		}
		none.Release()
	})
}

// TestOneCannotHoldAll: bodies that never end keep neither small ones nor those of others from being read.
func TestOneCannotHoldAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBodies(256<<20, timeout, nil)
		held := int64(0)
		for range 50 {
			if h := b.For(organization("hostile")); h.TryGrow(16 << 20) {
				held += 16 << 20
			}
		}
		if held != 128<<20 {
			t.Errorf("one account holds %d bytes", held)
		}
		large, small := b.For(organization("other")), b.For(organization("hostile"))
		resized(t, b, &large, 16<<20, held+16<<20)
		resized(t, b, &small, 8<<10, held+16<<20+8<<10)
	})
}

// TestGrowAlone: a request that takes memory as its body comes gets as much of it as one that takes all at once.
func TestGrowAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for total := int64(1 << 20); total <= 256<<20; total *= 2 {
			for _, try := range []bool{false, true} {
				b := NewBodies(total, timeout, nil)
				h := b.For(organization("a"))
				for bytes := int64(smallMemory); bytes <= 64<<20; bytes *= 2 {
					if try && !h.TryGrow(bytes) {
						t.Errorf("of %d bytes, %d cannot be had", total, bytes)
					}
					resized(t, b, &h, bytes, b.atMost(bytes))
				}
				h.Release()
				isIdle(t, b.pool)
			}
		}
	})
}
