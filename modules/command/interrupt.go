package command

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

var errInterrupted = errors.New("interrupted")

// untilInterrupt returns a context that ends on SIGINT or SIGTERM.
func untilInterrupt(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx == nil {
		ctx = context.Background()
	}
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// interrupted returns errInterrupted for an error that was caused by a signal.
func interrupted(err error) error {
	if errors.Is(err, context.Canceled) {
		return errInterrupted
	}
	return err
}
