package app

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
)

// What Running waits for, and how often it looks: Caddy tells nobody when a configuration has become the active one.
const (
	startPatience = 10 * time.Second // a store that does not answer ends the start sooner
	startPoll     = 10 * time.Millisecond
)

// Errors of Running.
var (
	ErrNoApp    = errors.New("the running configuration has no maps app")
	ErrStarting = errors.New("the configuration is still being started")
)

// Running returns the app of the active configuration. Caddy makes a configuration the active one when all of its
// apps have started, so the sites of a server may answer for a moment while there is none yet. Running waits for it
// then, as long as ctx allows and for at most 10 seconds. The error is ErrNoApp, ErrStarting or that of ctx.
func Running(ctx context.Context) (*App, error) {
	if app := active(); app != nil {
		return app, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, ErrStarting)
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

// active returns the app of the active configuration, nil where there is none.
func active() *App {
	app, err := caddy.ActiveContext().AppIfConfigured("maps")
	if err != nil {
		return nil
	}
	return app.(*App)
}

// provisioned is how many apps there are between their Provision and their Cleanup.
var provisioned atomic.Int64

// starting reports whether the app may be about to become active: the process has had no configuration yet, or the
// app of one has been provisioned.
func starting() bool {
	if caddy.Exiting() {
		return false
	}
	return provisioned.Load() > 0 || caddy.ActiveContext().Context == nil
}
