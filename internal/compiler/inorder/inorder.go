// Package inorder works on all cores, with results in the order of what they were made of.
package inorder

import (
	"context"
	"runtime"
	"sync"
)

// Run works on what give is called with, on all cores, and yields the results in the order of these calls. No more
// than some for each core are in hand at a time. The first error of work, in that order, or of yield ends it.
func Run[In, Out any](ctx context.Context, source func(give func(In) bool), work func(In) (Out, error),
	yield func(Out) error) error {
	type task struct {
		in   In
		out  Out
		err  error
		done chan struct{}
	}
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	tasks, order := make(chan *task, workers), make(chan *task, workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			for t := range tasks {
				if t.err = ctx.Err(); t.err == nil {
					t.out, t.err = work(t.in)
				}
				close(t.done)
			}
		})
	}
	wg.Go(func() {
		defer close(order)
		defer close(tasks)
		source(func(in In) bool {
			t := &task{in: in, done: make(chan struct{})}
			return Send(ctx, order, t) && Send(ctx, tasks, t)
		})
	})
	for t := range order {
		select {
		case <-t.done:
		case <-ctx.Done(): // a task that no worker has been given is never done
			return ctx.Err()
		}
		if t.err != nil {
			return t.err
		}
		if err := yield(t.out); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Ranges runs work on the numbers below n, some at a time.
func Ranges[Out any](ctx context.Context, n, some int, work func(from, to int) (Out, error),
	yield func(Out) error) error {
	return Run(ctx, func(give func(int) bool) {
		for from := 0; from < n && give(from); from += some {
		}
	}, func(from int) (Out, error) { return work(from, min(from+some, n)) }, yield)
}

// Send sends, unless the context ends before.
func Send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}
