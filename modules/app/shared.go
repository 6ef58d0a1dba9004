package app

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
)

// shared is what all configurations of the process share, also those with different stores.
type shared struct {
	metrics    *Metrics
	events     *eventQueue
	bodies     *admission.Bodies
	processors *admission.Processors

	endedLogged atomic.Int64 // when max_grants was last logged to have ended a grant, in Unix nanoseconds
}

var sharedPool = caddy.NewUsagePool()

const sharedKey = "maps"

func acquireShared() *shared {
	value, _, err := sharedPool.LoadOrNew(sharedKey, func() (caddy.Destructor, error) {
		s := &shared{metrics: newMetrics(), events: newEventQueue(eventQueueLength)}
		s.bodies = admission.NewBodies(defaultMaxBodies, defaultMaxWait, s.metrics.Overloaded.Inc)
		s.processors = admission.NewProcessors(runtime.GOMAXPROCS(0), defaultMaxWait, s.metrics.Overloaded.Inc)
		s.metrics.addAdmission(s)
		return s, nil
	})
	if err != nil {
		panic(err) // the constructor above has no error
	}
	return value.(*shared)
}

func releaseShared() { _, _ = sharedPool.Delete(sharedKey) } // Destruct has no error

// applyLimits sets the limits of the configuration that runs from now on.
func (s *shared) applyLimits(bodies int64, wait time.Duration) {
	s.bodies.Configure(bodies, wait)
	s.processors.SetLimit(wait)
}

// Destruct ends the queue's goroutine.
func (s *shared) Destruct() error {
	s.events.close()
	return nil
}
