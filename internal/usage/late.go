package usage

// Count sets the units of a request, instead of 1, whatever the quotas say: for units that are known when the work is
// done. It is for requests that Charge is not called for, and for the rest like that.
func (e *Entry) Count(units int64) {
	c := e.counter
	units = min(max(units, 0), MaxUnits)
	if c == nil || units == 1 {
		return
	}
	now := *e
	now.unix = c.meter.now().Unix()
	for _, p := range &now.plans {
		for _, q := range p.quotas {
			q.reserve(q.amount(now.scopes, 0, units-1), now.unix)
		}
	}
	c.extra(now.scopes, now.unix/60, units-1)
	now.count(0, units-1)
}

// reserve takes n, also where that is more than is left of the quota.
func (q *tracked) reserve(n, unix int64) {
	if s := q.at(unix); n != 0 && s.has(unix) {
		s.reserved.Add(n)
	}
}
