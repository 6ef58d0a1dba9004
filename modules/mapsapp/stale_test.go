package mapsapp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
)

func init() { caddy.RegisterModule(new(cutStore)) }

// cutStore is a bolt store behind a connection that a test can cut.
type cutStore struct {
	Path string `json:"path,omitempty"`
}

var cut atomic.Bool

func (*cutStore) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.stores.test_cut", New: func() caddy.Module { return new(cutStore) }}
}

func (c *cutStore) Key() string { return c.Path }

func (c *cutStore) Open(context.Context, *zap.Logger) (store.Store, error) {
	file, err := bolt.Open(c.Path, nil)
	return cutConnection{file}, err
}

type cutConnection struct{ store.Store }

var errCut = errors.New("connection refused: /var/run/secret.sock")

func (c cutConnection) Account(ctx context.Context, id string) (account.Account, error) {
	if cut.Load() {
		return account.Account{}, errCut
	}
	return c.Store.Account(ctx, id)
}

func (c cutConnection) AccountByToken(ctx context.Context, kind account.TokenKind,
	token account.Hash) (account.Account, error) {
	if cut.Load() {
		return account.Account{}, errCut
	}
	return c.Store.AccountByToken(ctx, kind, token)
}

func (c cutConnection) CreateAccount(ctx context.Context, a account.Account) error {
	if cut.Load() {
		return errCut
	}
	return c.Store.CreateAccount(ctx, a)
}

func (c cutConnection) Grant(ctx context.Context, id string) (account.Grant, error) {
	if cut.Load() {
		return account.Grant{}, errCut
	}
	return c.Store.Grant(ctx, id)
}

// TestStoreAway cuts the store off: known tokens live on for max_stale and no longer, everything that needs the store
// fails at once, and all of it comes back by itself.
func TestStoreAway(t *testing.T) {
	cut.Store(false)
	dir := t.TempDir()
	config := func(path string) []byte {
		text, _ := json.Marshal(map[string]string{"module": "test_cut", "path": path})
		return text
	}
	s := mapstest.Start(t, mapstest.Config{Site: site})
	// the Caddyfile cannot name a store without arguments of its own, so it is put into the JSON
	adapted, err := mapstest.Adapt(s.Caddyfile(mapstest.Config{Site: site, Maps: "max_stale 2s"}))
	if err != nil {
		t.Fatal(err)
	}
	var full map[string]any
	if err := json.Unmarshal(adapted, &full); err != nil {
		t.Fatal(err)
	}
	full["apps"].(map[string]any)["maps"].(map[string]any)["store"] = json.RawMessage(config(dir + "/accounts.db"))
	if adapted, err = json.Marshal(full); err != nil {
		t.Fatal(err)
	}
	if err := caddy.Load(adapted, true); err != nil {
		t.Fatal(err)
	}
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", "")
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	ask := func(path, token string) mapstest.Response { return s.Do(http.MethodGet, path, token, "") }
	for range 3 {
		if a := ask("/guarded", token); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	type health struct {
		Status, Store string
		Staleness     float64
		Regions       []any
	}
	var h health
	a := ask("/healthz", "")
	if err := json.Unmarshal([]byte(a.Body), &h); err != nil || a.Status != 200 || h.Status != "ok" || h.Store != "ok" ||
		h.Staleness != 0 || h.Regions == nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}

	cut.Store(true)
	defer cut.Store(false)
	began := time.Now()
	if a := ask("/guarded", token); a.Status != http.StatusOK {
		t.Errorf("a known token right after: %d %s", a.Status, a.Body)
	}
	for _, a := range []mapstest.Response{
		ask(mapstest.AccountsPath+"/"+acc.ID, user),
		s.Do(http.MethodPost, mapstest.AccountsPath, user, `{"platform":"WEB","scopes":["TILE"]}`),
		s.Do(http.MethodPost, "/api/v1/external/auth", "",
			mapstest.JSON("client_token", acc.ClientToken, "server_token", acc.ServerToken)),
	} {
		if a.Status != http.StatusServiceUnavailable || a.Body != `{"error":"service unavailable"}` ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("management: %d %s", a.Status, a.Body)
		}
	}
	waitFor := func(what string, limit time.Duration, happened func() bool) time.Duration {
		t.Helper()
		for !happened() {
			if time.Since(began) > limit {
				t.Fatalf("%s did not happen within %v", what, limit)
			}
			time.Sleep(20 * time.Millisecond)
		}
		return time.Since(began)
	}
	waitFor("degraded health", 4*time.Second, func() bool {
		a := ask("/healthz", "")
		return a.Status == 200 && strings.Contains(a.Body, `"status":"degraded","store":"unavailable"`)
	})
	at := waitFor("503 for a known token", 6*time.Second, func() bool {
		a := ask("/guarded", token)
		return a.Status == http.StatusServiceUnavailable && a.Body == `{"error":"service unavailable"}`
	})
	if at < 1500*time.Millisecond {
		t.Errorf("a known token was refused after %v", at)
	}
	if a := ask("/healthz", ""); a.Status != http.StatusServiceUnavailable ||
		!strings.Contains(a.Body, `"status":"unavailable"`) || a.Header.Get("Content-Type") != "application/json" {
		t.Errorf("health: %d %s", a.Status, a.Body)
	}
	metrics := s.AdminDo(http.MethodGet, "/metrics", "").Body
	if !strings.Contains(metrics, "caddy_maps_store_staleness_seconds ") ||
		strings.Contains(metrics, "caddy_maps_store_staleness_seconds 0\n") {
		t.Error("the metrics do not show the staleness")
	}

	cut.Store(false)
	began = time.Now()
	waitFor("recovery", 4*time.Second, func() bool { return ask("/guarded", token).Status == http.StatusOK })
	if a := ask(mapstest.AccountsPath+"/"+acc.ID, user); a.Status != http.StatusOK {
		t.Errorf("management after recovery: %d", a.Status)
	}
}

func TestHealthMethods(t *testing.T) {
	s := mapstest.Start(t, mapstest.Config{Site: site})
	if a := s.Do(http.MethodHead, "/healthz", "", ""); a.Status != http.StatusOK || a.Body != "" ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("HEAD: %d %v", a.Status, a.Header)
	}
	if a := s.Do(http.MethodPost, "/healthz", "", "{}"); a.Status != http.StatusMethodNotAllowed ||
		a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", a.Status, a.Header)
	}
	for directive, want := range map[string]string{
		"maps_health x":             "unexpected argument",
		"maps_health {\nnothing\n}": "unknown option of maps_health: nothing",
	} {
		_, err := mapstest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: got %v, want %q", directive, err, want)
		}
	}
}
