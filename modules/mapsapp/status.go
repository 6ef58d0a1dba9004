package mapsapp

import (
	"context"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/regions"
)

// Status tells how the service stands. It holds nothing that only an operator may know.
type Status struct {
	// Status is "ok"; "degraded" while the store does not answer but known tokens are still accepted, or has a fault; or
	// "unavailable".
	Status string `json:"status"`
	// Store is "ok"; "degraded" while it answers and has a fault; or "unavailable".
	Store string `json:"store"`
	// Reasons are the faults of a store that answers: texts of account.Fault.
	Reasons []account.Fault `json:"reasons,omitempty"`
	// Staleness is for how long the store has not answered, in seconds; 0 while it does.
	Staleness float64 `json:"staleness"`
	// Regions tells how each region stands.
	Regions []regions.Status `json:"regions"`
}

// Healthy reports whether requests can be served.
func (s Status) Healthy() bool { return s.Status != unavailable }

const (
	ok          = "ok"
	degraded    = "degraded"
	unavailable = "unavailable"
)

// statusPatience is how long a question after the status waits for an app that is just starting.
const statusPatience = time.Second

// Status returns how the service stands now.
func (a *App) Status(ctx context.Context) Status {
	status := Status{Status: unavailable, Store: unavailable, Regions: a.RegionStatus()}
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	session, err := a.Session(ctx)
	if err != nil {
		return status
	}
	defer session.Release()
	stale := session.Staleness()
	status.Staleness = stale.Seconds()
	if stale == 0 {
		status.Reasons = session.store.faults()
	}
	switch {
	case len(status.Reasons) > 0:
		status.Status, status.Store = degraded, degraded
	case stale == 0:
		status.Status, status.Store = ok, ok
	case stale <= time.Duration(a.MaxStale):
		status.Status = degraded
	}
	for i := range status.Regions {
		if status.Regions[i].Unusable {
			status.Status = unavailable
		}
	}
	return status
}
