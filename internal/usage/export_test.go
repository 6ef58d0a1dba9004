package usage

import "time"

// SetSteady sets the clock that nobody sets.
func (m *Meter) SetSteady(steady func() time.Time) {
	m.steady = steady
	m.born = steady()
}

// Known is of how many accounts and organizations the meter keeps something.
func (m *Meter) Known() (accounts, organizations int) {
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	return len(m.registry.counters), len(m.registry.organizations)
}
