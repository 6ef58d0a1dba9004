package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// How long Running waits, and how often it checks. Caddy does not tell when a configuration becomes the active one.
const (
	startTimeout = 10 * time.Second // a store that does not answer ends the start sooner
	startPoll    = 10 * time.Millisecond
)

// Errors of Running.
var (
	ErrNoApp    = errors.New("the running configuration has no maps app")
	ErrStarting = errors.New("the configuration is still being started")
)

// Running returns the app of the active configuration. Caddy activates a configuration once all of its apps have
// started, so servers may answer shortly before. Running then waits as long as ctx allows, at most 10 seconds. The
// error is ErrNoApp, ErrStarting or that of ctx.
func Running(ctx context.Context) (*App, error) {
	if app := active(); app != nil {
		return app, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, ErrStarting)
	defer cancel()
	tick := time.NewTicker(startPoll)
	defer tick.Stop()
	for starting() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if app := active(); app != nil {
			return app, nil
		}
	}
	return nil, ErrNoApp
}

// active returns the app of the active configuration, or nil.
func active() *App {
	app, err := caddy.ActiveContext().AppIfConfigured("maps")
	if err != nil {
		return nil
	}
	return app.(*App)
}

// provisioned counts the apps between their Provision and their Cleanup.
var provisioned atomic.Int64

// starting reports whether an app may become active soon: the process has had no configuration yet, or an app has been
// provisioned.
func starting() bool {
	if caddy.Exiting() {
		return false
	}
	return provisioned.Load() > 0 || caddy.ActiveContext().Context == nil
}
