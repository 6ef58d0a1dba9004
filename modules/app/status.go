package app

import (
	"context"
	"errors"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/regions"
)

// Status is the state of the service. It is public: it has nothing that only an operator may see.
type Status struct {
	// Status is "ok"; "degraded" while the store does not answer but cached tokens are accepted, or while the store has a
	// fault; or "unavailable".
	Status string `json:"status"`
	// Store is "ok"; "degraded" while it answers and has a fault; or "unavailable".
	Store string `json:"store"`
	// Reasons are the faults of a store that answers.
	Reasons []string `json:"reasons,omitempty"`
	// Staleness is how long the store has not answered, in seconds; 0 while it does.
	Staleness float64 `json:"staleness"`
	// Regions is the state of each region.
	Regions []regions.Status `json:"regions"`
}

// Healthy reports whether requests can be served.
func (s Status) Healthy() bool { return s.Status != unavailable }

const (
	ok          = "ok"
	degraded    = "degraded"
	unavailable = "unavailable"
)

// Faults of a store that answers.
const (
	faultWrite  = "the store cannot write"
	faultMoved  = "the file of the store was moved, deleted or replaced"
	faultDamage = "the store is damaged"
)

// statusTimeout is how long a status request waits for an app that is starting.
const statusTimeout = time.Second

// Status returns the current state of the service.
func (a *App) Status(ctx context.Context) Status {
	status := Status{Status: unavailable, Store: unavailable, Regions: a.RegionStatus()}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	session, err := a.Session(ctx)
	if err != nil {
		return status
	}
	defer session.Release()
	health := session.Store.Health()
	status.Staleness = health.Silent.Seconds()
	if health.Silent == 0 {
		status.Reasons = faults(health)
	}
	switch {
	case len(status.Reasons) > 0:
		status.Status, status.Store = degraded, degraded
	case health.Silent == 0:
		status.Status, status.Store = ok, ok
	case health.Silent <= a.effective.maxStale:
		status.Status = degraded
	}
	for i := range status.Regions {
		if status.Regions[i].Unusable {
			status.Status = unavailable
		}
	}
	return status
}

func faults(h store.Health) (list []string) {
	switch {
	case errors.Is(h.Write, store.ErrMoved):
		list = append(list, faultMoved)
	case h.Write != nil:
		list = append(list, faultWrite)
	}
	if h.Damage != nil {
		list = append(list, faultDamage)
	}
	return list
}
