package heap

import (
	"testing"

	"pgregory.net/rapid"
)

// TestOrder: with any sequence of Push and Pop, the smallest key comes first, with its value.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Heap[float64, float64]
		left := map[float64]int{}
		for _, key := range rapid.SliceOf(rapid.Float64Range(-10, 10)).Draw(t, "keys") {
			if key < 0 && len(h) > 0 {
				smallest := h[0].Key
				for k := range left {
					smallest = min(smallest, k)
				}
				item := h.Pop()
				if item.Key != smallest || item.Value != 2*item.Key {
					t.Fatalf("%v with %v, the smallest is %v", item.Key, item.Value, smallest)
				}
				if left[item.Key]--; left[item.Key] == 0 {
					delete(left, item.Key)
				}
				continue
			}
			h.Push(key, 2*key)
			left[key]++
		}
		for last := -11.; len(h) > 0; {
			item := h.Pop()
			if item.Key < last {
				t.Fatalf("%v after %v", item.Key, last)
			}
			last = item.Key
			left[item.Key]--
		}
		for key, n := range left {
			if n != 0 {
				t.Errorf("%v is lost or doubled", key)
			}
		}
	})
}
