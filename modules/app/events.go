package app

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"
)

// eventQueueLength is how many events may wait for their handlers. Caddy runs handlers one after another.
const eventQueueLength = 1024

// event is emitted by the app that created it or, if that was stopped, by the active one.
type event struct {
	app    *App // nil if no particular configuration created it
	logger *zap.Logger
	name   string
	data   map[string]any
	// done, if set, is closed instead of emitting an event. All earlier events have been emitted then.
	done chan struct{}
}

// eventQueue emits events in the background, so that requests do not wait for their handlers.
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

// emitter returns the app of the event's configuration while that runs, otherwise the active app, or nil.
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

// put queues an event. A full queue drops it and logs that, because a slow handler must not delay requests.
func (q *eventQueue) put(e event) {
	select {
	case q.events <- e:
	default:
		e.logger.Error("event dropped: its handlers are too slow", zap.String("event", e.name), zap.Any("data", e.data))
	}
}

// flush waits until the events queued so far have been emitted, for at most limit.
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
