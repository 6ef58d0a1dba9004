package credential

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
)

// start is where the clock of every test begins.
var start = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is an authority on a store in memory that can be made to fail, and a clock that can be moved.
type world struct {
	*Authority
	store *fallible
	clock atomic.Int64 // Unix nanoseconds
}

func (w *world) advance(d time.Duration) { w.clock.Add(int64(d)) }
func (w *world) now() time.Time          { return time.Unix(0, w.clock.Load()).UTC() }

func newWorld(t testing.TB, change ...func(*Config)) *world {
	t.Helper()
	w := &world{store: &fallible{Store: accounttest.NewMemory()}}
	w.clock.Store(start.UnixNano())
	cfg := Config{Issuer: "https://maps.test", Audience: "maps.test", Algorithm: algEdDSA, AccessTTL: 15 * time.Minute, RefreshTTL: 30 * 24 * time.Hour, Now: w.now}
	for _, c := range change {
		c(&cfg)
	}
	w.Authority = newAuthority(t, cfg, account.NewLive(w.store))
	return w
}

func newAuthority(t testing.TB, cfg Config, live *account.Live) *Authority {
	t.Helper()
	a, err := New(t.Context(), cfg, live, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

var errDown = errors.New("the disk is on fire")

// fallible is a store that can be down, and that counts what it is asked.
type fallible struct {
	account.Store
	down    atomic.Bool
	byToken atomic.Int64
	reads   atomic.Int64

	keysDown atomic.Bool
}

func (f *fallible) ask(counter *atomic.Int64) error {
	counter.Add(1)
	if f.down.Load() {
		return errDown
	}
	return nil
}

func (f *fallible) AccountByToken(ctx context.Context, kind account.TokenKind, h account.Hash) (account.Account, error) {
	if err := f.ask(&f.byToken); err != nil {
		return account.Account{}, err
	}
	return f.Store.AccountByToken(ctx, kind, h)
}

func (f *fallible) Account(ctx context.Context, id string) (account.Account, error) {
	if err := f.ask(&f.reads); err != nil {
		return account.Account{}, err
	}
	return f.Store.Account(ctx, id)
}

func (f *fallible) Grant(ctx context.Context, id string) (account.Grant, error) {
	if err := f.ask(&f.reads); err != nil {
		return account.Grant{}, err
	}
	return f.Store.Grant(ctx, id)
}

func (f *fallible) GrantByRefresh(ctx context.Context, h account.Hash) (account.Grant, error) {
	if err := f.ask(&f.reads); err != nil {
		return account.Grant{}, err
	}
	return f.Store.GrantByRefresh(ctx, h)
}

func (f *fallible) Keys(ctx context.Context) ([]account.Key, error) {
	if f.keysDown.Load() {
		return nil, errDown
	}
	return f.Store.Keys(ctx)
}

func (f *fallible) AddGrant(ctx context.Context, g account.Grant, limit int) ([]string, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.Store.AddGrant(ctx, g, limit)
}

// holder is an account with its tokens.
type holder struct {
	account.Account
	client, server string
}

func (w *world) holder(t testing.TB, organization string, scopes ...account.Scope) holder {
	t.Helper()
	h := holder{Account: account.Account{
		ID: NewAccountID(w.now()), OrganizationID: organization, Platform: account.PlatformWeb, Scopes: scopes,
		Status: account.StatusActive, CreatedBy: "user:test", CreatedAt: w.now(), UpdatedAt: w.now(), Version: 1,
	}}
	var err error
	if h.client, h.server, err = NewAccountTokens(&h.Account); err != nil {
		t.Fatal(err)
	}
	if err := w.live.CreateAccount(t.Context(), h.Account); err != nil {
		t.Fatal(err)
	}
	return h
}

func (w *world) update(t testing.TB, id string, change func(*account.Account)) {
	t.Helper()
	if _, _, err := w.live.UpdateAccount(t.Context(), id, func(a *account.Account) (bool, error) {
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

// cached verifies a token and waits until the cache has it.
func (w *world) cached(t testing.TB, token string) {
	t.Helper()
	if _, err := w.VerifyAccess(t.Context(), token); err != nil {
		t.Fatalf("VerifyAccess: %v", err)
	}
	w.cache.tokens.Wait()
	if _, ok := w.cache.get(token); !ok {
		t.Fatal("the cache did not take the token")
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
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[part])
	if err != nil {
		t.Fatal(err)
	}
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
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
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// signed makes a token of any header and claims with a key of this service.
func signed(t testing.TB, key *signingKey, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	signature, err := key.method.Sign(text, key.private)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}
