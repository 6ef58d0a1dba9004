package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const site = `
	handle /api/v1/external/* {
		maps_tokens
	}
	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
	handle @accounts {
		maps_accounts
	}
	handle /guarded {
		maps_auth TILE
		respond "passed"
	}
	handle /slow {
		test_gate
		maps_auth TILE
		respond "passed"
	}
	handle /healthz {
		maps_health
	}
`

func init() {
	caddy.RegisterModule(gate{})
	httpcaddyfile.RegisterHandlerDirective("test_gate", func(httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		return gate{}, nil
	})
	httpcaddyfile.RegisterDirectiveOrder("test_gate", httpcaddyfile.Before, "tracing")
}

// gate is a handler that holds requests up before they come to maps_auth.
type gate struct{}

var gateEntered, gateOpen = make(chan struct{}, 100), make(chan struct{})

func (gate) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_gate", New: func() caddy.Module { return new(gate) }}
}

func (gate) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	gateEntered <- struct{}{}
	<-gateOpen
	return next.ServeHTTP(w, r)
}

func currentApp(t *testing.T) *app.App {
	t.Helper()
	running, err := caddy.ActiveContext().AppIfConfigured("maps")
	if err != nil {
		t.Fatal(err)
	}
	return running.(*app.App)
}

// locked reports whether a server has a store's file open.
func locked(t *testing.T, path string) bool {
	t.Helper()
	opened, err := store.OpenSQLite(path, zap.NewNop())
	if err != nil {
		return true
	}
	if err := opened.Close(); err != nil {
		t.Error(err)
	}
	return false
}

func opened(s *modulestest.Server) int { return strings.Count(s.Log(), "opened accounts database") }

// TestReloadToAnotherStore changes the store while requests are on their way: they end on the old one, which closes
// behind the last of them.
func TestReloadToAnotherStore(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	acc, token := s.Token("acme", "TILE")
	_ = acc
	app := currentApp(t)
	session, err := app.Session(context.Background())
	if err != nil {
		t.Fatal(err)
	}

	const slow = 5
	answers := make(chan modulestest.Response, slow)
	for range slow {
		go func() { answers <- s.Do(http.MethodGet, "/slow", token, "") }()
	}
	for range slow {
		<-gateEntered
	}
	next := filepath.Join(s.Dir, "next", "accounts.db")
	if err := s.Load(modulestest.Config{Site: site, Maps: "store sqlite " + next}); err != nil {
		t.Fatal(err)
	}
	if a := s.Do(http.MethodGet, "/guarded", token, ""); a.Status != http.StatusUnauthorized {
		t.Errorf("a token of the old store on the new one: %d", a.Status)
	}
	if !locked(t, s.Store) {
		t.Error("the old store was closed while a request held it")
	}
	if got, err := session.Store.Account(context.Background(), acc.ID); err != nil || got.ID != acc.ID {
		t.Errorf("the session that was held: %v %v", got, err)
	}
	session.Release()
	if locked(t, s.Store) {
		t.Error("the old store is still open after its last user")
	}

	// those that were held up reach maps_auth only now, when their configuration and its store are gone
	for range slow {
		gateOpen <- struct{}{}
	}
	for range slow {
		if a := <-answers; a.Status != http.StatusOK || a.Body != "passed" {
			t.Errorf("a request that the reload overtook: %d %s", a.Status, a.Body)
		}
	}
	if locked(t, s.Store) {
		t.Error("the old store is still open after the last request")
	}
	if !locked(t, next) {
		t.Error("the new store is not open")
	}
	_, token = s.Token("acme", "TILE")
	if a := s.Do(http.MethodGet, "/guarded", token, ""); a.Status != http.StatusOK {
		t.Errorf("the new store: %d %s", a.Status, a.Body)
	}
}

// TestLogsOfTheStore: what outlives configurations logs as the one that runs says.
func TestLogsOfTheStore(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(s.Dir, name))
		return string(text)
	}
	for _, name := range []string{"first.log", "second.log"} {
		log := "log store {\noutput file " + filepath.Join(s.Dir, name) + "\ninclude maps.store\nlevel WARN\n}\n"
		if err := s.Load(modulestest.Config{Site: site, Global: log}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(s.Store); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); !strings.Contains(read("second.log"), "moved"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the log of the running configuration does not have it")
		}
	}
	if text := read("first.log"); text != "" {
		t.Errorf("the log of the first configuration has %s", text)
	}
	if a := s.Do(http.MethodGet, "/healthz", "", ""); !strings.Contains(a.Body, "was moved, deleted or replaced") {
		t.Errorf("health: %s", a.Body)
	}
	if a := s.Do(http.MethodPost, modulestest.AccountsPath, s.UserToken("acme"),
		`{"platform":"WEB","scopes":["TILE"]}`); a.Status != http.StatusServiceUnavailable {
		t.Errorf("a change of a file that is gone: %d %s", a.Status, a.Body)
	}
}

// TestRefusedReload keeps everything going after a configuration that could not be provisioned, and one that could
// not be started.
func TestRefusedReload(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	_, token := s.Token("acme", "TILE")
	blocked := filepath.Join(s.Dir, "file")
	if err := os.WriteFile(blocked, []byte("this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []modulestest.Config{
		{Site: site, Maps: "signing_algorithm RS256"},
		{Site: site + "\nhandle /x {\nreverse_proxy {\ntransport nonsense\n}\n}"},
		{Site: site, Maps: "key_encryption_key {file." + filepath.Join(s.Dir, "missing") + "}"},
		{Site: site, Maps: "store sqlite " + blocked},
		{Site: site, Global: "servers 127.0.0.1:1 {\nname a\n}\nservers 127.0.0.1:1 {\nname b\n}"},
	} {
		if err := s.Load(refused); err == nil {
			t.Errorf("%+v was taken", refused)
		}
		// the admin endpoint still works, with the app that runs
		user := s.UserToken("acme")
		s.CreateAccount(user, "TILE", "")
		if a := s.Do(http.MethodGet, "/guarded", token, ""); a.Status != http.StatusOK {
			t.Errorf("after a refused reload: %d %s", a.Status, a.Body)
		}
	}
	if n := opened(s); n != 1 {
		t.Errorf("the database was opened %d times", n)
	}
}

// TestSessionWaits holds a request until the app has started, and lets it go when its context ends or the app never
// starts.
func TestSessionWaits(t *testing.T) {
	provision := func(name string) *app.App { // as at the start of the process, when nothing runs yet
		t.Helper()
		ctx, err := caddy.ProvisionContext(&caddy.Config{
			Admin: &caddy.AdminConfig{Disabled: true},
			AppsRaw: caddy.ModuleMap{"maps": fmt.Appendf(nil, `{"store":{"module":"sqlite","path":%q}}`,
				filepath.Join(t.TempDir(), name))},
		})
		if err != nil {
			t.Fatal(err)
		}
		provisioned, err := app.Get(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return provisioned
	}
	for _, started := range []bool{true, false} {
		waiting := provision("a.db")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		if _, err := waiting.Session(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before Start: %v", err)
		}
		got := make(chan error, 1)
		go func() {
			session, err := waiting.Session(context.Background())
			if err == nil {
				session.Release()
			}
			got <- err
		}()
		if started {
			if err := waiting.Start(); err != nil {
				t.Fatal(err)
			}
			if err := <-got; err != nil {
				t.Errorf("after Start: %v", err)
			}
		}
		if err := waiting.Cleanup(); err != nil {
			t.Fatal(err)
		}
		if !started {
			if err := <-got; err == nil || !strings.Contains(err.Error(), "did not start") {
				t.Errorf("after Cleanup without Start: %v", err)
			}
		}
	}
}
