package app

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// eventQueueLength is how many events may wait for their handlers, which Caddy runs one after another.
const eventQueueLength = 1024

// event is one that waits: for the configuration in which it happened, or, once that is gone, for the one that runs
// then.
type event struct {
	app    *App // nil where it happened in no particular configuration
	logger *zap.Logger
	name   string
	data   map[string]any
	// done, where set, is closed instead of anything being emitted: everything before it has been.
	done chan struct{}
}

// eventQueue takes events off the path of requests.
type eventQueue struct {
	events chan event
	closed chan struct{}
	worker sync.WaitGroup
}

func newEventQueue(length int) *eventQueue {
	q := &eventQueue{events: make(chan event, length), closed: make(chan struct{})}
	q.worker.Go(q.run)
	return q
}

func (q *eventQueue) run() {
	for {
		select {
		case <-q.closed:
			return
		case e := <-q.events:
			if e.done != nil {
				close(e.done)
				continue
			}
			if app := e.emitter(); app != nil {
				app.events.Emit(app.ctx, e.name, e.data)
			}
		}
	}
}

// emitter returns the app of the event's configuration while that runs, or else of the one that runs now, if any.
func (e *event) emitter() *App {
	if e.app == nil {
		app, _ := Running(context.Background()) // the first configuration may be about to become the active one
		return app
	}
	select {
	case <-e.app.stopped:
		return active()
	default:
		return e.app
	}
}

// put queues an event. A full queue drops it, with a line in the log: a slow handler must not hold up requests.
func (q *eventQueue) put(e event) {
	select {
	case q.events <- e:
	default:
		e.logger.Error("event dropped: its handlers are too slow", zap.String("event", e.name), zap.Any("data", e.data))
	}
}

// flush waits until what is queued now has been emitted, but no longer than limit.
func (q *eventQueue) flush(limit time.Duration) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	done := make(chan struct{})
	select {
	case q.events <- event{done: done}:
	case <-timeout.C:
		return
	}
	select {
	case <-done:
	case <-timeout.C:
	}
}

func (q *eventQueue) close() { close(q.closed) }
