// Package heap is the priority queue of best-first searches: the smallest key comes out first. It cannot change the key
// of an item; searches push the item again.
package heap

import "cmp"

// Item is a value with its key.
type Item[K cmp.Ordered, V any] struct {
	Key   K
	Value V
}

// Heap is a 4-ary heap, which has fewer levels than a binary one, and children in one cache line. The zero value is
// empty. Removing items keeps its memory.
type Heap[K cmp.Ordered, V any] []Item[K, V]

// Push adds a value.
func (h *Heap[K, V]) Push(key K, value V) {
	*h = append(*h, Item[K, V]{})
	items := *h
	i := len(items) - 1
	for i > 0 {
		up := (i - 1) / 4
		if items[up].Key <= key {
			break
		}
		items[i] = items[up]
		i = up
	}
	items[i] = Item[K, V]{key, value}
}

// Pop removes and returns the item with the smallest key. The heap must not be empty.
func (h *Heap[K, V]) Pop() Item[K, V] {
	items := *h
	top := items[0]
	last := len(items) - 1
	moved := items[last]
	items = items[:last]
	*h = items
	for i := 0; ; {
		child := 4*i + 1
		if child >= last {
			if last > 0 {
				items[i] = moved
			}
			return top
		}
		for k := child + 1; k < min(child+4, last); k++ {
			if items[k].Key < items[child].Key {
				child = k
			}
		}
		if items[child].Key >= moved.Key {
			items[i] = moved
			return top
		}
		items[i] = items[child]
		i = child
	}
}
