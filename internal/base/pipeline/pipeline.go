// Package inorder works on all cores, with results in the order of what they were made of.
package pipeline

import (
	"context"
	"runtime"
	"sync"
)

// Run works on what source calls give with, on all cores, and yields the results in the order of these calls. No more
// than some for each core are in hand at a time. The first error of work, in that order, or of yield ends it.
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
