package admission

import (
	"maps"
	"slices"
)

// node is what a pool knows of an organization or of an account. Pool.mu guards it.
type node struct {
	parent *node
	held   int64     // units, in a budget
	start  int64     // the virtual time at which its next request starts: what it has used since it began to compete
	queue  []*waiter // of an account; first come, first served

	children map[string]*node
	waiting  []*node // children with requests that wait, those first that have waited for longer
	now      int64   // virtual time among the children: when the request started that was granted last
	period   int64   // number of the time in which children have been waiting without a break
	of       int64   // the parent's period in which start was set
	sweep    int     // how many children there may be before some are dropped
}

func (p *Pool) account(c Caller) *node { return p.root.child(c.Organization).child(c.Account) }

func (n *node) child(name string) *node {
	c := n.children[name]
	if c == nil {
		if len(n.children) >= n.sweep {
			n.drop()
		}
		c = &node{parent: n, of: -1}
		n.children[name] = c
	}
	if c.of != n.period { // all begin to compete anew
		c.of, c.start = n.period, n.now
	}
	return c
}

// drop drops the children that hold nothing and wait for nothing. It is rare enough that what they have used does not
// matter.
func (n *node) drop() {
	maps.DeleteFunc(n.children, func(_ string, c *node) bool { return c.held == 0 && !c.waits() })
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	n.sweep = 2*len(n.children) + 32
}

func (n *node) waits() bool { return len(n.queue)+len(n.waiting) > 0 }

// behind reports whether a sibling waits that has used less.
func (n *node) behind() bool {
	return slices.ContainsFunc(n.parent.waiting, func(other *node) bool { return other.start < n.start })
}

// hold notes that an account holds so many units more.
func (n *node) hold(units int64) {
	n.held += units
	n.parent.held += units
}

// charge counts what an account has used, as far as there are others to be fair to.
func (p *Pool) charge(a *node, used int64) {
	if p.queued.Load() > 0 {
		a.start += used
		a.parent.start += used
	}
}

func (p *Pool) enqueue(a *node, w *waiter, at int) {
	p.queued.Add(1)
	for n, waits := a, a.waits(); n.parent != nil && !waits; n = n.parent {
		n.start = max(n.start, n.parent.now) // nobody saves up for later
		waits = n.parent.waits()
		n.parent.waiting = append(n.parent.waiting, n)
	}
	a.queue = slices.Insert(a.queue, at, w)
}

func (p *Pool) dequeue(a *node, at int) {
	p.queued.Add(-1)
	a.queue = slices.Delete(a.queue, at, at+1)
	for n := a; n.parent != nil && !n.waits(); n = n.parent {
		up := n.parent
		i := slices.Index(up.waiting, n)
		up.waiting = slices.Delete(up.waiting, i, i+1)
		if len(up.waiting) == 0 {
			up.period++
		}
	}
}
