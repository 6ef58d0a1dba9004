// Package mapsapp is the Caddy app `maps`. It owns what the handlers share, the accounts and their store, the signing
// keys, the cache of verified tokens and the regions, and keeps all of it open across configuration reloads.
package app

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(App)) }

// App holds what the handlers of the maps service share: service accounts and their store, the keys that sign tokens,
// and the regions that reverse geocoding and map matching work on.
type App struct {
	// The issuer (`iss`) of the tokens that this service signs. Default: `caddy-maps`.
	Issuer string `json:"issuer,omitempty"`

	// The audience (`aud`) of access tokens. Locally minted user tokens have the same with `:accounts` added. Default:
	// `caddy-maps`.
	Audience string `json:"audience,omitempty"`

	// Where accounts, grants and signing keys are kept. Default: the `sqlite` store, a file in Caddy's data
	// directory.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=maps.stores inline_key=module"`

	// The algorithm of new access tokens: `EdDSA` (Ed25519), or `ES256` for upstreams that cannot verify Ed25519. Default:
	// `EdDSA`.
	SigningAlgorithm string `json:"signing_algorithm,omitempty"`

	// Seals private signing keys in the store with AES-256-GCM. It must be one placeholder, such as
	// `{file./run/secrets/kek}` or `{env.MAPS_KEK}`, that yields 32 random bytes in base64 or hexadecimal; a key written
	// into the configuration is refused, because Caddy shows and saves its configuration. Default: private keys are kept
	// in clear.
	KeyEncryptionKey string `json:"key_encryption_key,omitempty"`

	// The age at which signing keys are followed by new ones, at least 1 hour. Tokens of the old keys stay good until
	// they expire; then the keys are removed. Default: keys are rotated only by `caddy maps rotate-keys`.
	KeyRotation caddy.Duration `json:"key_rotation,omitempty"`

	// How long an access token is valid, from 1 second to 24 hours. Default: 15 minutes.
	AccessTokenTTL caddy.Duration `json:"access_token_ttl,omitempty"`

	// How long the refresh token of an exchange is valid, counted from the exchange and never extended. At least as long
	// as an access token. Default: 30 days.
	RefreshTokenTTL caddy.Duration `json:"refresh_token_ttl,omitempty"`

	// How many refresh tokens of exchanges a client token and a server token can have at the same time. Beyond that the
	// oldest ends first, with its access tokens, which is logged and counted. Default: 100,000.
	MaxGrants int `json:"max_grants,omitempty"`

	// How many service accounts an organization can have; deleted and revoked ones do not count. Default: 1,000.
	MaxAccounts int `json:"max_accounts,omitempty"`

	// How long a known token is accepted while the store does not answer. After that, requests get 503. Default: 1 minute.
	MaxStale caddy.Duration `json:"max_stale,omitempty"`

	// Total memory, in bytes, for bodies that are being read at the same time: of requests, and of responses from services
	// behind `matcher` and `geocoder`. A body counts for twice its size. One account gets at most half, and one
	// organization two thirds. Further requests wait for up to `max_wait`. At least 1 MiB. Default: 256 MiB.
	MaxBodiesInFlight int64 `json:"max_bodies_in_flight,omitempty"`

	// How long a request may wait for what requests share (a processor for map matching, memory for its body, its turn at
	// a service behind `matcher` or `geocoder`) before it gets 503 with Retry-After. Default: 2 seconds.
	MaxWait caddy.Duration `json:"max_wait,omitempty"`

	// The region files of this server, by the name under which handlers refer to them. Default: none.
	Regions map[string]*RegionConfig `json:"regions,omitempty"`

	// Who may manage accounts, beside the holders of user tokens that this server minted itself: the users of an OpenID
	// Connect provider, or of anyone else who publishes a JWKS. Default: nobody.
	UserTokens *UserTokens `json:"user_tokens,omitempty"`

	// How usage statistics are written and how long they are kept. Default: written every 10 seconds; hours are kept for
	// 35 days, days for 400 days, months for ever.
	Usage *Usage `json:"usage,omitempty"`

	ctx     caddy.Context
	logger  *zap.Logger
	events  *caddyevents.App
	store   StoreModule
	settled settings
	config  credential.Config // settled.tokens, with the key encryption key

	shared *shared // held from Provision to Cleanup

	pool  sessionKey
	mu    sync.Mutex
	held  bool // whether this instance holds a reference on pool
	ended bool // Cleanup has run

	// current is the session of this configuration once open has published it.
	current atomic.Pointer[Session]
	opened  chan struct{} // closed by open
	stopped chan struct{} // closed by Cleanup

	regions regionSet

	logChecks []func() (open []string)
}

// Defaults of the configuration.
const (
	defaultIssuer          = "caddy-maps"
	defaultAccessTokenTTL  = 15 * time.Minute
	defaultRefreshTokenTTL = 30 * 24 * time.Hour
	defaultMaxStale        = time.Minute
	defaultMaxBodies       = 256 << 20
	defaultMaxWait         = 2 * time.Second

	defaultMaxAccounts = 1000

	minMaxBodies = 1 << 20
)

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps", New: func() caddy.Module { return new(App) }}
}

// Get returns the app of a configuration, provisioning it first where that has not happened yet. Modules call it in
// their own Provision.
func Get(ctx caddy.Context) (*App, error) {
	app, err := ctx.App("maps")
	if err != nil {
		return nil, err
	}
	return app.(*App), nil
}

// Provision reads the configuration. A configuration that is only checked opens no store, so that `caddy validate`
// works beside a running server.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx = ctx
	a.logger = ctx.Logger()
	a.opened = make(chan struct{})
	a.stopped = make(chan struct{})
	a.shared = acquireShared()
	provisioned.Add(1)

	if err := a.configure(); err != nil {
		return err
	}
	if err := a.loadStore(ctx); err != nil {
		return err
	}
	eventsApp, err := ctx.App("events")
	if err != nil {
		return fmt.Errorf("getting the events app: %w", err)
	}
	a.events = eventsApp.(*caddyevents.App)
	if registry := ctx.GetMetricsRegistry(); registry != nil {
		if err := a.shared.metrics.register(registry); err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	if err := a.provisionRegions(ctx); err != nil {
		return err
	}
	if caddy.ActiveContext().Context == nil {
		return nil
	}
	// A reload: a store that cannot be opened refuses it here already, before any server of the new configuration
	// listens and takes connections that it would never serve.
	return a.open()
}

// configure checks the configuration, with its placeholders replaced.
func (a *App) configure() (err error) {
	if err := a.resolve(); err != nil {
		return err
	}
	if a.settled, err = a.settings(); err != nil {
		return err
	}
	a.config = a.settled.tokens
	a.config.KeyEncryptionKey, err = readKeyEncryptionKey(a.KeyEncryptionKey)
	return options.Of("key_encryption_key", err)
}

func (a *App) loadStore(ctx caddy.Context) error {
	var mod any
	var err error
	if a.StoreRaw == nil {
		mod, err = ctx.LoadModuleByID("maps.stores.sqlite", nil)
	} else {
		mod, err = ctx.LoadModule(a, "StoreRaw")
	}
	if err != nil {
		return fmt.Errorf("loading the store: %w", err)
	}
	store, ok := mod.(StoreModule)
	if !ok {
		return fmt.Errorf("module %T is not a store", mod)
	}
	a.store = store
	id := mod.(caddy.Module).CaddyModule().ID
	a.pool = newSessionKey(string(id)+" "+store.Key(), a.config)
	return nil
}

// Start opens the store, or joins those that already have it open, and lets waiting requests go on.
func (a *App) Start() error {
	storeLog.follow(a.ctx)
	regionLog.follow(a.ctx)
	if err := a.open(); err != nil {
		return err
	}
	a.warnOfOpenLogs()
	if err := a.openRegions(false); err != nil {
		return err
	}
	a.warnOfMissingMaps()
	a.takeOver()
	return nil
}

// takeOver has what all configurations share go by this one.
func (a *App) takeOver() {
	storeLog.follow(a.ctx)
	regionLog.follow(a.ctx)
	a.shared.limit(a.settled.maxBodies, a.settled.maxWait)
	a.current.Load().Meter.Configure(a.settled.flush, a.settled.keep)
}

// open acquires the session of this configuration, if it has not yet, and publishes it. Cleanup gives it back.
func (a *App) open() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held {
		return nil
	}
	session, err := acquireSession(a.pool, a.store, a.config)
	if err != nil {
		return err
	}
	a.held = true
	a.current.Store(session)
	close(a.opened)
	return nil
}

// Stop hands over the events that are still queued. Everything else waits for Cleanup and for the last request.
func (a *App) Stop() error {
	a.shared.events.flush(2 * time.Second)
	return nil
}

// Cleanup gives back what this instance acquired. The store stays open for as long as another configuration or a
// request uses it.
func (a *App) Cleanup() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || a.shared == nil {
		return nil
	}
	a.ended = true
	close(a.stopped)
	a.cleanupRegions()
	var err error
	if a.held {
		a.held = false
		if caddy.Exiting() {
			a.current.Load().store.flushUsage() // requests that outlive the servers' timeouts may keep the store open
		}
		err = releaseSession(a.pool)
		if running := active(); running != nil && running != a {
			running.takeOver() // this one may have been started in vain, because another app could not be
		}
	}
	provisioned.Add(-1)
	releaseShared()
	return err
}

// Metrics returns the collectors of the service.
func (a *App) Metrics() *Metrics { return a.shared.metrics }

// Logger returns the app's logger.
func (a *App) Logger() *zap.Logger { return a.logger }

// TokenIssuer is the issuer of the tokens that this service signs.
func (a *App) TokenIssuer() string { return a.config.Issuer }

// AccountLimit is how many service accounts an organization can have.
func (a *App) AccountLimit() int { return a.settled.maxAccounts }

// LocalUsers reports whether this server mints user tokens itself.
func (a *App) LocalUsers() bool { return !a.config.NoLocalUsers }

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
