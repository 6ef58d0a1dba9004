package admission

import (
	"cmp"
	"container/heap"
	"slices"
)

// share is what a pool knows of an account. Pool.mu guards it.
type share struct {
	account string
	held    int64     // units, in a budget
	used    int64     // since it began to compete, and what others had used then: its virtual time
	queue   []*waiter // first come, first served
	place   int       // in Pool.waiting, while there is a queue
}

func (p *Pool) shareOf(account string) *share {
	s := p.shares[account]
	if s == nil {
		s = &share{account: account, used: p.now}
		p.shares[account] = s
	}
	return s
}

// forget lets go of an account that holds nothing and waits for nothing, unless there is somebody to be fair to.
func (p *Pool) forget(s *share) {
	if len(p.waiting) == 0 && len(s.queue) == 0 && s.held == 0 {
		delete(p.shares, s.account)
	}
}

func (p *Pool) charge(s *share, used int64) {
	s.used += used
	if len(s.queue) > 0 && s.place < len(p.waiting) && p.waiting[s.place] == s {
		heap.Fix(&p.waiting, s.place)
	}
}

func (p *Pool) enqueue(s *share, w *waiter, at int) {
	s.queue = slices.Insert(s.queue, at, w)
	p.queued.Add(1)
	if len(s.queue) == 1 {
		s.used = max(s.used, p.now) // nobody saves up for later
		heap.Push(&p.waiting, s)
	} else if at == 0 {
		heap.Fix(&p.waiting, s.place)
	}
}

func (p *Pool) dequeue(s *share, at int) {
	s.queue = slices.Delete(s.queue, at, at+1)
	p.queued.Add(-1)
	if len(s.queue) > 0 {
		if at == 0 {
			heap.Fix(&p.waiting, s.place)
		}
		return
	}
	heap.Remove(&p.waiting, s.place)
	if len(p.waiting) == 0 { // who comes next begins to compete anew
		for _, idle := range p.shares {
			p.forget(idle)
		}
	}
}

// shareHeap orders accounts by what they have used, and then by how long their first request has waited.
type shareHeap []*share

func (h shareHeap) Len() int { return len(h) }

func (h shareHeap) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(h[i].used, h[k].used), cmp.Compare(h[i].queue[0].arrived, h[k].queue[0].arrived)) < 0
}

func (h shareHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].place, h[k].place = i, k
}

// Push implements heap.Interface.
func (h *shareHeap) Push(s any) {
	s.(*share).place = len(*h)
	*h = append(*h, s.(*share))
}

// Pop implements heap.Interface.
func (h *shareHeap) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return s
}
