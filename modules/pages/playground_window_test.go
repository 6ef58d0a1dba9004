package pages

import (
	"strconv"
	"testing"
	"time"
)

func TestWindow(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	w := newWindow(func() time.Time { return now })
	for range windowEach {
		if wait := w.take("a"); wait != 0 {
			t.Fatalf("wait %v", wait)
		}
	}
	now = now.Add(time.Second)
	if wait := w.take("a"); wait != windowLength-time.Second {
		t.Errorf("beyond the limit: wait %v", wait)
	}
	for i := range 2 * windowAddresses {
		wait := w.take(strconv.Itoa(i))
		if full := i >= windowAddresses-1; full != (wait > 0) {
			t.Fatalf("address %d: wait %v", i, wait)
		}
	}
	if len(w.taken) > windowAddresses {
		t.Errorf("%d addresses are kept", len(w.taken))
	}
	now = now.Add(windowLength)
	if wait := w.take("a"); wait != 0 {
		t.Errorf("in the next window: wait %v", wait)
	}
}
