package credential

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// guestScopes are those that a page would allow its guests.
const guestScopes = "TILE DIRECTION"

func (w *world) guest(t *testing.T, id string) (Tokens, error) {
	t.Helper()
	allowed := must(account.ParseScopeSet(guestScopes))
	return w.Guest(t.Context(), id, allowed)
}

func TestGuest(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.AccessTTL = time.Hour })
	host := w.holder(t, "org", account.ScopeTile, account.ScopeMatrix)
	w.update(t, host.ID, func(a *account.Account) { a.IsAdmin = true })
	tokens := must(w.guest(t, host.ID))
	want := Tokens{Access: tokens.Access, ExpiresIn: GuestTTL, Client: host.ID, Server: host.ID,
		Organization: "org", Scopes: account.ScopeTile.Set()}
	if diff := cmp.Diff(want, tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	// The first check is of the token, the second of the cache's entry.
	for range 2 {
		got := must(w.VerifyAccess(t.Context(), tokens.Access))
		// An admin's guest is none.
		want := Identity{Client: host.ID, Server: host.ID, Organization: "org", Scopes: account.ScopeTile.Set(),
			Unix: start.Unix()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("identity (-want +got):\n%s", diff)
		}
		w.cache.tokens.Wait()
	}
	w.advance(GuestTTL)
	if _, err := w.VerifyAccess(t.Context(), tokens.Access); !errors.Is(err, refusedExpired) {
		t.Errorf("after its life: %v", err)
	}
}

// What ends the tokens of an account ends those of its guests.
func TestGuestEnded(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(t *testing.T, w *world, host holder)
		want error // of the token
		new  error // of the next one
	}{
		{"suspended", func(t *testing.T, w *world, host holder) {
			w.become(t, host.ID, account.StatusSuspended)
		}, refusedSuspended, refusedSuspended},
		{"suspended and active again", func(t *testing.T, w *world, host holder) {
			w.become(t, host.ID, account.StatusSuspended)
			w.become(t, host.ID, account.StatusActive)
		}, refusedGeneration, nil},
		{"revoked", func(t *testing.T, w *world, host holder) {
			w.become(t, host.ID, account.StatusRevoked)
		}, refusedRevoked, refusedRevoked},
		{"scopes taken", func(t *testing.T, w *world, host holder) {
			w.update(t, host.ID, func(a *account.Account) { a.Scopes = account.Scopes{account.ScopeMatrix} })
		}, nil, ErrNoScope},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			host := w.holder(t, "org", account.ScopeTile)
			first := must(w.guest(t, host.ID))
			w.cached(t, first.Access)
			test.end(t, w, host)
			id, err := w.VerifyAccess(t.Context(), first.Access)
			if !errors.Is(err, test.want) || err == nil && id.Scopes != 0 {
				t.Errorf("the token: %v %v, want %v", id.Scopes, err, test.want)
			}
			next, err := w.guest(t, host.ID)
			if !errors.Is(err, test.new) {
				t.Fatalf("the next one: error %v, want %v", err, test.new)
			}
			if err != nil {
				return
			}
			if _, err := w.VerifyAccess(t.Context(), next.Access); err != nil {
				t.Errorf("the next token is refused: %v", err)
			}
		})
	}
}

func TestGuestRefused(t *testing.T) {
	w := newWorld(t)
	host := w.holder(t, "org", account.ScopeTile)
	if _, err := w.guest(t, "sa_unknown"); !errors.Is(err, refusedRevoked) {
		t.Errorf("no such account: %v", err)
	}
	w.store.down.Store(true)
	if _, err := w.guest(t, host.ID); !errors.Is(err, errDown) || errors.Is(err, ErrInvalid) {
		t.Errorf("while the store is down: %v", err)
	}
}
