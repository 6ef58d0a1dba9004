package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

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
	handle /healthz {
		maps_health
	}
`

func currentApp(t *testing.T) *app.App {
	t.Helper()
	running, err := caddy.ActiveContext().AppIfConfigured("maps")
	if err != nil {
		t.Fatal(err)
	}
	return running.(*app.App)
}

func opened(s *modulestest.Server) int { return strings.Count(s.Log(), "opened accounts database") }

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
