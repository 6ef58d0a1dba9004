package credential

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
)

// start is where the clock of every test begins: now, since the store has a clock of its own.
var start = time.Now().UTC().Truncate(time.Second)

// world is an authority on a store that can be made to fail, and a clock that can be moved.
type world struct {
	*Authority
	store *fallible
	path  string       // of the store's file
	clock atomic.Int64 // Unix nanoseconds
}

func (w *world) advance(d time.Duration) { w.clock.Add(int64(d)) }
func (w *world) now() time.Time          { return time.Unix(0, w.clock.Load()).UTC() }

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	w := &world{path: filepath.Join(t.TempDir(), "accounts.db")}
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
	a := must(New(t.Context(), cfg, store, nil))
	t.Cleanup(a.Close)
	return a
}

// beside is another authority on the same store, as of another configuration.
func (w *world) beside(t testing.TB, change func(*Config)) *world {
	t.Helper()
	cfg := w.cfg
	change(&cfg)
	return &world{Authority: newAuthority(t, cfg, w.store), store: w.store}
}

// sql changes the store behind its back.
func (w *world) sql(t testing.TB, statement string) {
	t.Helper()
	db := must(sql.Open("sqlite3", "file:"+filepath.ToSlash(w.path)))
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
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

func (w *world) holder(t testing.TB, organization string, scopes ...account.Scope) holder {
	t.Helper()
	h := holder{Account: account.Account{
		ID: NewAccountID(time.Now()), OrganizationID: organization, Platform: account.PlatformWeb, Scopes: scopes,
		Status: account.StatusActive, CreatedBy: "user:test", CreatedAt: start, UpdatedAt: start,
	}}
	var err error
	if h.client, h.server, err = NewAccountTokens(&h.Account); err != nil {
		t.Fatal(err)
	}
	succeeds(t, w.store.CreateAccount(t.Context(), h.Account, 1000))
	return h
}

func (w *world) update(t testing.TB, id string, change func(*account.Account)) {
	t.Helper()
	if _, _, err := w.store.UpdateAccount(t.Context(), id, func(a *account.Account) (bool, error) {
		change(a)
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) become(t testing.TB, id string, status account.Status) {
	t.Helper()
	w.update(t, id, func(a *account.Account) { a.Status = status })
}

func (w *world) exchange(t testing.TB, client, server holder) Tokens {
	t.Helper()
	tokens, err := w.Exchange(t.Context(), client.client, server.server)
	if err != nil {
		t.Fatalf("Exchange: %v", err)
	}
	return tokens
}

func (w *world) mint(t testing.TB) string {
	t.Helper()
	token, _, _, err := w.MintUser(t.Context(), "org", "alice", MaxUserTTL)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// signing is the key that signs tokens of a use now.
func (w *world) signing(t testing.TB, use account.KeyUse) *signingKey {
	t.Helper()
	key := must(w.signer(t.Context(), use))
	return key
}

// cached verifies a token and waits until the cache has it.
func (w *world) cached(t testing.TB, token string) {
	t.Helper()
	w.accepted(t, "VerifyAccess", token)
	w.cache.tokens.Wait()
	if _, ok := w.cache.get(token); !ok {
		t.Fatal("the cache did not take the token")
	}
}

// accepted checks that access tokens are good, and refusedAccess that one is not.
func (w *world) accepted(t testing.TB, what string, tokens ...string) {
	t.Helper()
	for _, token := range tokens {
		if _, err := w.VerifyAccess(t.Context(), token); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func (w *world) refusedAccess(t testing.TB, what string, reason refusal, tokens ...string) {
	t.Helper()
	for _, token := range tokens {
		_, err := w.VerifyAccess(t.Context(), token)
		refused(t, what, err, reason)
	}
}

// refused checks that a token was refused for a reason.
func refused(t testing.TB, what string, err error, reason refusal) {
	t.Helper()
	if !errors.Is(err, ErrInvalid) || err.Error() != reason.text {
		t.Errorf("%s: error %v, want an invalid token because %q", what, err, reason)
	}
}

// isUnavailable checks that nothing was said about the token.
func isUnavailable(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil || errors.Is(err, ErrInvalid) || errors.Is(err, ErrNoScope) {
		t.Errorf("%s: error %v, want one that says unavailable", what, err)
	}
}

// object is a header or a set of claims to change.
type object map[string]any

func decoded(t testing.TB, token string, part int) object {
	t.Helper()
	raw := must(base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[part]))
	var o object
	succeeds(t, json.Unmarshal(raw, &o))
	return o
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

func (o object) text(t testing.TB) string {
	t.Helper()
	raw := must(json.Marshal(o))
	return string(raw)
}

// signed makes a token of any header and claims with a key of this service.
func signed(t testing.TB, key *signingKey, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature := must(key.method.Sign(text, key.private))
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func succeeds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must returns a value that comes with no error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
