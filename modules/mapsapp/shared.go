package mapsapp

import "github.com/caddyserver/caddy/v2"

// shared is what all configurations of the process have in common, whatever store they use.
type shared struct {
	metrics *Metrics
	events  *eventQueue
}

var sharedPool = caddy.NewUsagePool()

const sharedKey = "maps"

func acquireShared() *shared {
	value, _, err := sharedPool.LoadOrNew(sharedKey, func() (caddy.Destructor, error) {
		return &shared{metrics: newMetrics(), events: newEventQueue(eventQueueLength)}, nil
	})
	if err != nil {
		panic(err) // the constructor above has no error
	}
	return value.(*shared)
}

func releaseShared() { _, _ = sharedPool.Delete(sharedKey) } // Destruct has no error

// Destruct ends the queue's goroutine.
func (s *shared) Destruct() error {
	s.events.close()
	return nil
}
