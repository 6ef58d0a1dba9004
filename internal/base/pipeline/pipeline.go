// Package pipeline works on all cores with results in a fixed order (Run, Ranges), and reports the progress of long
// work (Bar). It knows nothing of what the work is. Begin at Run.
package pipeline

import (
	"context"
	"runtime"
	"sync"
)

// Run calls work on all cores with each value that source passes to give, and yields the results in the order of these
// calls. Only a few values for each core are in progress at a time. It ends with the first error of work, in that
// order, or of yield, or when ctx ends.
func Run[In, Out any](ctx context.Context, source func(give func(In) bool), work func(In) (Out, error),
	yield func(Out) error) error {
	type result struct {
		out Out
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	order := make(chan chan result, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		defer close(order)
		source(func(in In) bool {
			done := make(chan result, 1)
			if !Send(ctx, order, done) {
				return false
			}
			wg.Go(func() {
				out, err := work(in)
				done <- result{out, err}
			})
			return true
		})
	})
	for done := range order {
		r := <-done
		if r.err != nil {
			return r.err
		}
		if err := yield(r.out); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Ranges is Run for the numbers below n, in ranges of at most size numbers.
func Ranges[Out any](ctx context.Context, n, size int, work func(from, to int) (Out, error),
	yield func(Out) error) error {
	return Run(ctx, func(give func(int) bool) {
		for from := 0; from < n && give(from); from += size {
		}
	}, func(from int) (Out, error) { return work(from, min(from+size, n)) }, yield)
}

// Send sends a value and reports true, or reports false if the context ends first.
func Send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}
