package admission

import (
	"fmt"
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	now := time.Now()
	rates := newRates(10, 5*time.Second, func() time.Time { return now })
	for _, tc := range []struct {
		after time.Duration
		key   string
		n     int
		want  Rate
	}{
		{0, "a", 1, Rate{true, 9, 500 * time.Millisecond, 0}},
		{0, "a", 9, Rate{true, 0, 5 * time.Second, 0}},
		{0, "a", 1, Rate{false, 0, 5 * time.Second, 500 * time.Millisecond}},
		{0, "b", 4, Rate{true, 6, 2 * time.Second, 0}},
		{time.Second, "a", 3, Rate{false, 2, 4 * time.Second, 500 * time.Millisecond}},
		{0, "a", 2, Rate{true, 0, 5 * time.Second, 0}},
		{time.Hour, "a", 1000, Rate{true, 0, 5 * time.Second, 0}},
	} {
		now = now.Add(tc.after)
		if got := rates.Take(tc.key, tc.n); got != tc.want {
			t.Errorf("%+v: got %+v", tc, got)
		}
	}
}

// A flood of keys takes bounded memory, and those that have used up their events stay refused for as long as there are
// full buckets to remove.
func TestRatesMemory(t *testing.T) {
	now := time.Now()
	rates := newRates(2, time.Minute, func() time.Time { return now })
	for i := range 2 * rateShards * bucketsPerShard {
		if !rates.Take(fmt.Sprint(i), 1).Allowed {
			t.Fatal("a new client is refused")
		}
	}
	for i := range rates.shards {
		if n := len(rates.shards[i].buckets); n > bucketsPerShard {
			t.Fatalf("%d buckets in a shard", n)
		}
	}
	now = now.Add(time.Hour) // all are full again
	rates.Take("greedy", 2)
	for i := range 100 {
		rates.Take(fmt.Sprint("new", i), 1)
	}
	if rates.Take("greedy", 1).Allowed {
		t.Error("the bucket of a busy client was removed")
	}
}

func BenchmarkRates(b *testing.B) {
	rates := NewRates(1<<30, time.Second)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			rates.Take("203.0.113.7", 1)
		}
	})
}
