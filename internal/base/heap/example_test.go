package heap_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
)

func Example() {
	var queue heap.Heap[float64, string]
	queue.Push(2.5, "school")
	queue.Push(0.5, "café")
	queue.Push(1.5, "house")
	for len(queue) > 0 {
		next := queue.Pop()
		fmt.Println(next.Key, next.Value)
	}
	// Output:
	// 0.5 café
	// 1.5 house
	// 2.5 school
}
