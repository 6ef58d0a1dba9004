package admission

import (
	"maps"
	"slices"
)

// node is the state of an organization or an account in a Pool. Pool.mu guards it.
type node struct {
	parent *node
	held   int64     // units, in a budget
	start  int64     // virtual start time of its next request: its use since it began to compete
	queue  []*waiter // of an account, in order of arrival

	children map[string]*node
	waiting  []*node // children with requests that wait, longest first
	now      int64   // virtual time of the children: the start of the request that was last granted
	period   int64   // number of the busy period, in which children wait without a break
	of       int64   // the parent's period in which start was set
	sweep    int     // number of children from which idle ones are dropped
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
	if c.of != n.period { // a new busy period
		c.of, c.start = n.period, n.now
	}
	return c
}

// drop drops children that neither hold units nor wait. It is so rare that losing their use does not matter.
func (n *node) drop() {
	maps.DeleteFunc(n.children, func(_ string, c *node) bool { return c.held == 0 && !c.waits() })
	if n.children == nil {
		n.children = make(map[string]*node)
	}
	n.sweep = 2*len(n.children) + 32
}

func (n *node) waits() bool { return len(n.queue)+len(n.waiting) > 0 }

// behind reports whether a sibling that has used less waits.
func (n *node) behind() bool {
	return slices.ContainsFunc(n.parent.waiting, func(other *node) bool { return other.start < n.start })
}

// hold records that an account holds more units.
func (n *node) hold(units int64) {
	n.held += units
	n.parent.held += units
}

// charge counts the use of an account while requests wait.
func (p *Pool) charge(a *node, used int64) {
	if p.queued.Load() > 0 {
		a.start += used
		a.parent.start += used
	}
}

func (p *Pool) enqueue(a *node, w *waiter, at int) {
	p.queued.Add(1)
	for n, waits := a, a.waits(); n.parent != nil && !waits; n = n.parent {
		n.start = max(n.start, n.parent.now) // unused shares are not saved
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
