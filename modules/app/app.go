// Package app is the Caddy app `maps`, with its admin API and the handler `maps_health`. The app owns what the handlers
// share: the store of accounts, the signing keys, the cache of verified tokens, the regions, metrics and events. All of
// it stays open across configuration reloads.
//
// It serves no map and checks no token: the handlers do, in packages beside this one, and the work is done in packages
// under internal/. Start reading at App in app.go, then session.go and store.go; admin*.go are the admin API.
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

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(App)) }

// App holds what the maps handlers share: service accounts and their store, keys that sign tokens, and regions.
type App struct {
	// The issuer (`iss`) of this service's tokens. Default: `caddy-maps`.
	Issuer string `json:"issuer,omitempty"`

	// The audience (`aud`) of access tokens. The server's own user tokens have `:accounts` added. Default:
	// `caddy-maps`.
	Audience string `json:"audience,omitempty"`

	// The store of accounts, grants and signing keys. Default: `sqlite`, in Caddy's data directory.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=maps.stores inline_key=module"`

	// The algorithm of new access tokens: `EdDSA` (Ed25519), or `ES256` for upstreams without Ed25519. Default:
	// `EdDSA`.
	SigningAlgorithm string `json:"signing_algorithm,omitempty"`

	// Encrypts private signing keys in the store with AES-256-GCM. It must be one placeholder, such as
	// `{file./run/secrets/kek}` or `{env.MAPS_KEK}`, that yields 32 random bytes in base64 or hexadecimal. A literal key
	// is refused, because Caddy shows and saves its configuration. Default: private keys are not encrypted.
	KeyEncryptionKey string `json:"key_encryption_key,omitempty"`

	// The age at which signing keys are replaced, at least 1 hour. Tokens signed by an old key stay valid until they
	// expire; then the key is removed. Default: keys are rotated only by `caddy maps rotate-keys`.
	KeyRotation caddy.Duration `json:"key_rotation,omitempty"`

	// The lifetime of access tokens, 1 second to 24 hours. Default: 15 minutes.
	AccessTokenTTL caddy.Duration `json:"access_token_ttl,omitempty"`

	// The lifetime of refresh tokens, counted from the exchange and never extended; at least that of access tokens.
	// Default: 30 days.
	RefreshTokenTTL caddy.Duration `json:"refresh_token_ttl,omitempty"`

	// How many refresh tokens a pair of a client token and a server token can have at the same time. One more ends the
	// oldest, with its access tokens; the log and a metric show it. Default: 100,000.
	MaxGrants int `json:"max_grants,omitempty"`

	// The most service accounts of an organization, without deleted and revoked ones. Default: 1,000.
	MaxAccounts int `json:"max_accounts,omitempty"`

	// How long a cached token is accepted while the store does not answer. After that, requests get 503. Default: 1
	// minute.
	MaxStale caddy.Duration `json:"max_stale,omitempty"`

	// Memory, in bytes, for bodies of requests and of engines' responses. A body counts twice its size. At least 1 MiB.
	// How it is shared: docs/run/limits.md#what-requests-share. Default: 256 MiB.
	MaxBodiesInFlight int64 `json:"max_bodies_in_flight,omitempty"`

	// How long a request may wait for a shared resource (a processor for map matching, memory for its body, a free slot at
	// an upstream engine) before it gets 503 with Retry-After. Default: 2 seconds.
	MaxWait caddy.Duration `json:"max_wait,omitempty"`

	// The regions, by the names that handlers use. Default: none.
	Regions map[string]*RegionConfig `json:"regions,omitempty"`

	// The operator's own scopes, beside the service's seven: the purpose of each, by its name. They work like these:
	// `maps_auth` requires them, and accounts have them. A name has 2 to 32 capital letters, digits and underscores, and
	// begins with a letter; a purpose is a line of at most 200 characters, which the console shows. At most 50. Accounts
	// keep a scope that is no longer declared, but it gives no right. Default: none.
	Scopes map[string]string `json:"scopes,omitempty"`

	// Who may manage accounts in addition to holders of user tokens that this server minted: users of an OpenID Connect
	// provider, or of any other issuer that publishes a JWKS. Default: no one.
	UserTokens *UserTokens `json:"user_tokens,omitempty"`

	// How often usage statistics are written and how long they are kept. Default: written every 10 seconds; hours are kept
	// for 35 days, days for 400 days, months for ever.
	Usage *Usage `json:"usage,omitempty"`

	ctx       caddy.Context
	logger    *zap.Logger
	events    *caddyevents.App
	store     StoreModule
	effective settings
	config    credential.Config // effective.tokens, with the key encryption key

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
	places  places

	guarded, public account.ScopeSet // the scopes of handlers that require them, and of those that are public

	logChecks []func() (unredacted []string)
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

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (a *App) UnmarshalJSON(data []byte) error { return options.Decode(data, a) }

// Get returns the app of a configuration and provisions it first if necessary. Modules call it in their own Provision.
func Get(ctx caddy.Context) (*App, error) {
	app, err := ctx.App("maps")
	if err != nil {
		return nil, err
	}
	return app.(*App), nil
}

// Provision reads the configuration. It opens no store unless it replaces a running configuration, so that
// `caddy validate` works beside a running server.
func (a *App) Provision(ctx caddy.Context) error { return options.Located("maps", a.provision(ctx)) }

func (a *App) provision(ctx caddy.Context) error {
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
	// On a reload, a store that cannot be opened must fail it here, before a server of the new configuration listens and
	// accepts connections that it would never serve.
	return a.open()
}

// configure checks the configuration, with its placeholders replaced.
func (a *App) configure() (err error) {
	if err := a.resolve(); err != nil {
		return err
	}
	if a.effective, err = a.settings(); err != nil {
		return err
	}
	a.config = a.effective.tokens
	if err := a.declareScopes(); err != nil {
		return err
	}
	a.config.KeyEncryptionKey, err = readKeyEncryptionKey(a.KeyEncryptionKey)
	return options.Wrap("key_encryption_key", err)
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
		return options.Wrap("store", err)
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

// Start opens the store, or shares it if it is open already, and lets waiting requests continue.
func (a *App) Start() error {
	storeLog.follow(a.ctx)
	regionLog.follow(a.ctx)
	if err := a.open(); err != nil {
		return err
	}
	a.warnOfUnredactedLogs()
	err := openRegions(a.regions.list, func(r *configuredRegion) error { return r.start(a.logger, false) })
	if err != nil {
		return err
	}
	a.warnOfMissingMaps()
	a.warnOfMissingTiles()
	a.takeOver()
	options.Forget()
	return nil
}

// takeOver applies this configuration to what all configurations share.
func (a *App) takeOver() {
	storeLog.follow(a.ctx)
	regionLog.follow(a.ctx)
	a.shared.applyLimits(a.effective.maxBodies, a.effective.maxWait)
	a.current.Load().Meter.Configure(a.effective.flush, a.effective.keep)
}

// open acquires the session of this configuration, unless it has one, and publishes it. Cleanup releases it.
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

// Stop emits the events that are still queued. Everything else is released by Cleanup and by the last request.
func (a *App) Stop() error {
	a.shared.events.flush(2 * time.Second)
	return nil
}

// Cleanup releases what this instance acquired. The store stays open as long as another configuration or a request uses
// it.
func (a *App) Cleanup() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended || a.shared == nil {
		return nil
	}
	a.ended = true
	options.Forget()
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
			running.takeOver() // another app may have failed to start after this one had taken over
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
func (a *App) AccountLimit() int { return a.effective.maxAccounts }

// LocalUsers reports whether this server mints user tokens itself.
func (a *App) LocalUsers() bool { return !a.config.NoLocalUsers }

// Interface guards
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
