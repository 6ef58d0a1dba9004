package credential

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// start is where the clock of every test begins: now, since the store has a clock of its own.
var start = time.Now().UTC().Truncate(time.Second)

const (
	tile, onm, tss, matrix = account.ScopeTile, account.ScopeONM, account.ScopeTSS, account.ScopeMatrix
	direction              = account.ScopeDirection
)

// world is an authority on a store that can be made to fail, and a clock that can be moved.
type world struct {
	*Authority
	ctx   context.Context
	store *fallible
	path  string       // of the store's file
	clock atomic.Int64 // Unix nanoseconds
}

func (w *world) advance(d time.Duration) { w.clock.Add(int64(d)) }
func (w *world) now() time.Time          { return time.Unix(0, w.clock.Load()).UTC() }

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	w := &world{path: filepath.Join(t.TempDir(), "accounts.db"), ctx: context.Background()}
	opened := must(store.OpenSQLite(w.path, zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel))))
	t.Cleanup(func() { _ = opened.Close() })
	w.store = &fallible{Store: opened}
	w.clock.Store(start.UnixNano())
	cfg := Config{Issuer: "https://maps.test", Audience: "maps.test", Algorithm: algEdDSA, AccessTTL: 15 * time.Minute,
		RefreshTTL: 30 * 24 * time.Hour, MaxGrants: DefaultMaxGrants, Now: w.now}
	for _, c := range change {
		c(&cfg)
	}
	w.Authority = newAuthority(t, cfg, w.store)
	return w
}

func newAuthority(t testing.TB, cfg Config, store account.Store) *Authority {
	t.Helper()
	a := must(New(context.Background(), cfg, store, nil))
	t.Cleanup(a.Close)
	return a
}

// beside is another authority on the same store, as of another configuration or on another server.
func (w *world) beside(t testing.TB, change func(*Config)) *world {
	t.Helper()
	cfg := w.cfg
	change(&cfg)
	return &world{Authority: newAuthority(t, cfg, w.store), ctx: w.ctx, store: w.store}
}

// sql changes the store behind its back.
func (w *world) sql(statement string) {
	db := must(sql.Open("sqlite3", "file:"+filepath.ToSlash(w.path)))
	defer db.Close()
	must(db.Exec(statement))
}

var errDown = errors.New("the disk is on fire")

// fallible is a store that can be down, and that counts what is read of it.
type fallible struct {
	account.Store
	down  atomic.Bool
	torn  atomic.Bool // UpdateAccount takes place, but its answer is lost
	reads atomic.Int64
	keys  atomic.Int64 // readings of the keys
}

func read[T any](f *fallible, counter *atomic.Int64, call func() (T, error)) (T, error) {
	counter.Add(1)
	if f.down.Load() {
		return *new(T), errDown
	}
	return call()
}

func (f *fallible) AccountByToken(ctx context.Context, kind account.TokenKind, h account.Hash) (account.Account, error) {
	return read(f, &f.reads, func() (account.Account, error) { return f.Store.AccountByToken(ctx, kind, h) })
}

func (f *fallible) Account(ctx context.Context, id string) (account.Account, error) {
	return read(f, &f.reads, func() (account.Account, error) { return f.Store.Account(ctx, id) })
}

func (f *fallible) PublishableKey(ctx context.Context, key string) (account.PublishableKey, error) {
	return read(f, &f.reads, func() (account.PublishableKey, error) { return f.Store.PublishableKey(ctx, key) })
}

func (f *fallible) Grant(ctx context.Context, id string) (account.Grant, error) {
	return read(f, &f.reads, func() (account.Grant, error) { return f.Store.Grant(ctx, id) })
}

func (f *fallible) GrantByRefresh(ctx context.Context, h account.Hash) (account.Grant, error) {
	return read(f, &f.reads, func() (account.Grant, error) { return f.Store.GrantByRefresh(ctx, h) })
}

func (f *fallible) Keys(ctx context.Context) ([]account.Key, error) {
	return read(f, &f.keys, func() ([]account.Key, error) { return f.Store.Keys(ctx) })
}

func (f *fallible) UpdateAccount(ctx context.Context, id string, change func(*account.Account) (bool, error)) (before,
	after account.Account, err error) {
	before, after, err = f.Store.UpdateAccount(ctx, id, change)
	if f.torn.Load() {
		err = errDown
	}
	return before, after, err
}

// holder is an account with its tokens.
type holder struct {
	account.Account
	client, server string
}

func (w *world) holder(organization string, scopes ...account.Scope) holder {
	h := holder{Account: account.Account{
		ID: NewAccountID(time.Now()), OrganizationID: organization, Platform: account.PlatformWeb, Scopes: scopes,
		Status: account.StatusActive, CreatedBy: "user:test", CreatedAt: start, UpdatedAt: start,
	}}
	var err error
	h.client, h.server, err = NewAccountTokens(&h.Account)
	succeeds(errors.Join(err, w.store.CreateAccount(w.ctx, h.Account, 1000)))
	return h
}

// publish adds a publishable key to an account.
func (w *world) publish(id string, scopes account.Scopes, origins ...string) (key account.PublishableKey) {
	key.Scopes, key.Origins = scopes, origins
	key.ID, key.Key = NewPublishableKey(time.Now())
	return must(w.store.CreatePublishableKey(w.ctx, id, 1000,
		func(account.Account) (account.PublishableKey, error) { return key, nil }))
}

func (w *world) update(id string, change func(*account.Account)) {
	_, _, err := w.store.UpdateAccount(w.ctx, id, func(a *account.Account) (bool, error) {
		change(a)
		return true, nil
	})
	succeeds(err)
}

func (w *world) become(id string, statuses ...account.Status) {
	for _, status := range statuses {
		w.update(id, func(a *account.Account) { a.Status = status })
	}
}

func (w *world) setScopes(id string, scopes ...account.Scope) {
	w.update(id, func(a *account.Account) { a.Scopes = scopes })
}

func (w *world) exchange(client, server holder) Tokens {
	return must(w.Exchange(w.ctx, client.client, server.server, 0))
}

func (w *world) refresh(token string, options RefreshOptions) (Tokens, error) {
	return w.Refresh(w.ctx, token, options)
}

func (w *world) mint(subject string, ttl time.Duration) string {
	token, _, _, err := w.MintUser(w.ctx, "org", subject, ttl)
	succeeds(err)
	return token
}

// signing is the key that signs tokens of a use now.
func (w *world) signing(use account.KeyUse) *signingKey { return must(w.signer(w.ctx, use)) }

// cached verifies access tokens and waits until the cache has them.
func (w *world) cached(t testing.TB, tokens ...string) {
	t.Helper()
	w.accepted(t, "VerifyAccess", tokens...)
	w.cache.tokens.Wait()
	for _, token := range tokens {
		if _, ok := w.cache.get(token); !ok {
			t.Fatal("the cache did not take the token")
		}
	}
}

// accepted checks that access tokens are good, and refusedAccess that none is.
func (w *world) accepted(t testing.TB, what string, tokens ...string) {
	t.Helper()
	for _, token := range tokens {
		if _, err := w.VerifyAccess(w.ctx, token); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func (w *world) refusedAccess(t testing.TB, what string, reason refusal, tokens ...string) {
	t.Helper()
	for _, token := range tokens {
		_, err := w.VerifyAccess(w.ctx, token)
		refused(t, what, err, reason)
	}
}

// refused checks that a token was refused for a reason.
func refused(t testing.TB, what string, err, reason error) {
	t.Helper()
	if !errors.Is(err, ErrInvalid) || err.Error() != reason.Error() {
		t.Errorf("%s: error %v, want an invalid token because %q", what, err, reason)
	}
}

// isUnavailable checks that an error says nothing about the token.
func isUnavailable(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil || errors.Is(err, ErrInvalid) || errors.Is(err, ErrNoScope) || errors.Is(err, ErrMint) {
		t.Errorf("%s: error %v, want one that says unavailable", what, err)
	}
}

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// object is a header or a set of claims to change.
type object map[string]any

// parsed returns the header and the claims of a token.
func parsed(token string) (header, claims object) {
	parts := strings.Split(token, ".")
	for i, part := range []*object{&header, &claims} {
		succeeds(json.Unmarshal(must(base64.RawURLEncoding.DecodeString(parts[i])), part))
	}
	return header, claims
}

// with returns a copy with some members changed, or left out where the value is nil.
func (o object) with(changes object) object {
	o = maps.Clone(o)
	for name, value := range changes {
		if o[name] = value; value == nil {
			delete(o, name)
		}
	}
	return o
}

func (o object) String() string { return string(must(json.Marshal(map[string]any(o)))) }

// signed makes a token of any header and claims with a key of this service.
func signed(key *signingKey, header, claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	return text + "." + encode(must(key.method.Sign(text, key.private)))
}

// forger changes a good token, and signs it again with the service's own key.
type forger struct {
	key            *signingKey
	header, claims object
}

func (f forger) head(changes object) string {
	return signed(f.key, f.header.with(changes).String(), f.claims.String())
}
func (f forger) body(changes object) string {
	return signed(f.key, f.header.String(), f.claims.with(changes).String())
}
func (f forger) raw(claims string) string { return signed(f.key, f.header.String(), claims) }

func (w *world) forger(use account.KeyUse, token string) forger {
	header, claims := parsed(token)
	return forger{w.signing(use), header, claims}
}

func succeeds(err error) {
	if err != nil {
		panic(err)
	}
}

// must returns a value that comes without an error.
func must[T any](value T, err error) T {
	succeeds(err)
	return value
}
