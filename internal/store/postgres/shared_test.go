package postgres

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// node is what a server makes of a store: states in memory, and tokens.
type node struct {
	*credential.Authority
	live  *account.Live
	store *Store
	heard *heard
}

// listener tells both, what is tested and what is watched.
type listener struct {
	*account.Live
	*heard
}

func (l listener) AccountChanged(a account.Account) {
	l.Live.AccountChanged(a)
	l.heard.AccountChanged(a)
}
func (l listener) AccountDeleted(id string, version uint64) {
	l.Live.AccountDeleted(id, version)
	l.heard.AccountDeleted(id, version)
}
func (l listener) OrganizationChanged(q account.OrganizationQuotas) {
	l.Live.OrganizationChanged(q)
	l.heard.OrganizationChanged(q)
}
func (l listener) GrantEnded(id string) { l.Live.GrantEnded(id); l.heard.GrantEnded(id) }
func (l listener) KeysChanged()         { l.Live.KeysChanged(); l.heard.KeysChanged() }
func (l listener) KeyRemoved(id string) {
	l.Live.KeyRemoved(id)
	l.heard.KeyRemoved(id)
}
func (l listener) ChangesMissed() { l.Live.ChangesMissed(); l.heard.ChangesMissed() }

var keyEncryptionKey = bytes.Repeat([]byte{7}, 32)

func newNode(t testing.TB, dsn string) *node {
	t.Helper()
	s := open(t, dsn)
	n := &node{live: account.NewLive(s), store: s, heard: newHeard()}
	var err error
	n.Authority, err = credential.New(t.Context(), credential.Config{
		Issuer: "https://maps.test", Audience: "maps.test", Algorithm: "EdDSA", AccessTTL: time.Minute, RefreshTTL: time.Hour,
		KeyEncryptionKey: keyEncryptionKey,
	}, n.live, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Authority.Close)
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { s.Watch(ctx, listener{n.live, n.heard}) })
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
	n.heard.until(t, "the first answer", 5*time.Second, func() bool { return !n.heard.synced.IsZero() })
	return n
}

// holder makes an account with tokens.
func (n *node) holder(t testing.TB) (a account.Account, client, server string) {
	t.Helper()
	a = account.Account{ID: credential.NewAccountID(time.Now()), OrganizationID: "org", Platform: account.PlatformWeb,
		Scopes: account.Scopes{account.ScopeTile}, Status: account.StatusActive, CreatedBy: "user:test", Version: 1}
	client, server, err := credential.NewAccountTokens(&a)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.live.CreateAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	return a, client, server
}

func (n *node) exchange(t testing.TB, client, server string) credential.Tokens {
	t.Helper()
	tokens, err := n.Exchange(t.Context(), client, server)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// TestTokensOfOtherServers: what one server gives all accept, and what one ends is over for all.
func TestTokensOfOtherServers(t *testing.T) {
	pace := testpace.Watch(t)
	dsn := pgtest.DSN(t)
	one, other := newNode(t, dsn), newNode(t, dsn)
	if !bytes.Equal(one.JWKS(), other.JWKS()) {
		t.Errorf("the servers publish different keys: %s and %s", one.JWKS(), other.JWKS())
	}
	keys, err := one.store.Keys(t.Context())
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d keys, error %v", len(keys), err)
	}
	for _, k := range keys {
		if !k.Sealed || bytes.Contains(k.Private, []byte{0x30, 0x2e, 0x02, 0x01, 0x00}) { // how PKCS #8 of Ed25519 begins
			t.Errorf("key %s lies in clear", k.ID)
		}
	}

	acc, client, server := one.holder(t)
	tokens := one.exchange(t, client, server)
	accepted := func(token string) bool {
		_, err := other.VerifyAccess(t.Context(), token)
		if err != nil && !errors.Is(err, credential.ErrInvalid) {
			t.Fatal(err)
		}
		return err == nil
	}
	until := func(what, token string) {
		t.Helper()
		began := time.Now()
		for accepted(token) {
			if time.Since(began) > pace.Allow(time.Second) {
				t.Fatalf("%s: the other server accepts the token after a second", what)
			}
			time.Sleep(time.Millisecond)
		}
		t.Logf("%s: over after %v", what, time.Since(began))
	}
	for range 3 {
		if !accepted(tokens.Access) {
			t.Fatal("the other server refuses the token")
		}
	}
	if err := one.Revoke(t.Context(), tokens.Refresh); err != nil {
		t.Fatal(err)
	}
	until("revoked", tokens.Access)

	tokens = other.exchange(t, client, server)
	if !accepted(tokens.Access) {
		t.Fatal("a new token is refused")
	}
	if _, _, err := one.live.UpdateAccount(t.Context(), acc.ID, toggle); err != nil {
		t.Fatal(err)
	}
	until("suspended", tokens.Access)
	if _, _, err := one.live.UpdateAccount(t.Context(), acc.ID, toggle); err != nil {
		t.Fatal(err)
	}
	fresh := one.exchange(t, client, server)
	began := time.Now()
	for !accepted(fresh.Access) {
		if time.Since(began) > pace.Allow(time.Second) {
			t.Fatal("active again, and refused after a second")
		}
		time.Sleep(time.Millisecond)
	}
	if accepted(tokens.Access) {
		t.Error("a token of before came to life again")
	}
	if _, err := one.live.DeleteAccount(t.Context(), acc.ID, nil); err != nil {
		t.Fatal(err)
	}
	until("deleted", fresh.Access)
}

// TestMissedChangesOfTokens: grants that were ended while nobody could tell are found out, although their tokens were
// known.
func TestMissedChangesOfTokens(t *testing.T) {
	dsn := pgtest.DSN(t)
	proxy := pgtest.NewProxy(t, dsn)
	one, other := newNode(t, dsn), newNode(t, proxy.DSN)
	_, client, server := one.holder(t)
	ended, kept := one.exchange(t, client, server), one.exchange(t, client, server)
	for _, token := range []string{ended.Access, kept.Access} {
		for range 3 { // it is in the cache
			if _, err := other.VerifyAccess(t.Context(), token); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	proxy.Refuse()
	other.heard.until(t, "the failure", 2*time.Second, func() bool { return len(other.heard.errs) > 0 })
	if err := one.Revoke(t.Context(), ended.Refresh); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, dsn, "UPDATE maps_changes SET made_at = made_at - interval '2 hours'")
	addGrant(t, one.store, "gr_x", 9)
	if err := one.store.EndGrant(t.Context(), "gr_x"); err != nil { // another change, so that the first can go
		t.Fatal(err)
	}
	one.store.prune(t.Context())
	for _, token := range []string{ended.Access, kept.Access} {
		if _, err := other.VerifyAccess(t.Context(), token); err != nil {
			t.Errorf("cut off, a known token: %v", err)
		}
	}
	proxy.Accept()
	other.heard.until(t, "having missed changes", 2*time.Second, func() bool { return other.heard.missed == 1 })
	// The store counts as away until the answer in which the changes were missing has been read to its end.
	verify := func(token string) (err error) {
		for range 200 {
			if _, err = other.VerifyAccess(t.Context(), token); err == nil || errors.Is(err, credential.ErrInvalid) {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return err
	}
	if err := verify(ended.Access); !errors.Is(err, credential.ErrInvalid) {
		t.Errorf("a token of a grant that was ended: %v", err)
	}
	if err := verify(kept.Access); err != nil {
		t.Errorf("a token of a grant that was not: %v", err)
	}
}

// TestRotationOnManyServers refreshes one token on two servers at once. One of them gets the next token; the other
// finds that the token was used, which ends the grant for both.
func TestRotationOnManyServers(t *testing.T) {
	dsn := pgtest.DSN(t)
	nodes := []*node{newNode(t, dsn), newNode(t, dsn)}
	_, client, server := nodes[0].holder(t)
	const rounds = 25
	var reused int
	for range rounds {
		tokens := nodes[0].exchange(t, client, server)
		results := make([]credential.Tokens, 6)
		errs := make([]error, len(results))
		var start, done sync.WaitGroup
		start.Add(len(results))
		for i := range results {
			done.Go(func() {
				start.Done()
				start.Wait()
				results[i], errs[i] = nodes[i%2].Refresh(context.Background(), tokens.Refresh, "",
					credential.RefreshOptions{Rotate: true})
			})
		}
		done.Wait()
		won := 0
		for i, err := range errs {
			switch {
			case err == nil:
				won++
				if results[i].Refresh == "" || results[i].Refresh == tokens.Refresh {
					t.Error("a refresh gave no new token")
				}
			case errors.Is(err, credential.ErrReused):
				reused++
			case !errors.Is(err, credential.ErrInvalid): // the grant was ended by then
				t.Fatal(err)
			}
		}
		if won != 1 {
			t.Fatalf("%d of %d refreshes with one token succeeded", won, len(errs))
		}
		for i := range results {
			if errs[i] != nil {
				continue
			}
			if _, err := nodes[0].Refresh(t.Context(), results[i].Refresh, "",
				credential.RefreshOptions{Rotate: true}); !errors.Is(err, credential.ErrInvalid) {
				t.Errorf("the winner's token after the reuse: %v", err)
			}
		}
		if _, err := nodes[0].live.Grant(t.Context(), tokens.Grant); !errors.Is(err, account.ErrNotFound) {
			t.Errorf("the grant after the reuse: %v", err)
		}
	}
	if reused < rounds {
		t.Errorf("reuse was noticed %d times in %d rounds", reused, rounds)
	}
}
