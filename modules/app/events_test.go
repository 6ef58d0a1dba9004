package app_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func init() { caddy.RegisterModule(listener{}) }

// listener is an event handler that keeps events once it may.
type listener struct{}

var heard struct {
	sync.Mutex
	events []caddy.Event
	may    <-chan struct{}
	tired  bool // of waiting until it may
}

func (listener) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.test_listener", New: func() caddy.Module { return new(listener) }}
}

func (*listener) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return nil }

func (listener) Handle(_ context.Context, e caddy.Event) error {
	heard.Lock()
	may := heard.may
	heard.Unlock()
	tired := false
	select {
	case <-may:
	case <-time.After(20 * time.Second):
		tired = true
	}
	heard.Lock()
	defer heard.Unlock()
	heard.events, heard.tired = append(heard.events, e), heard.tired || tired
	return nil
}

// listen has the handlers wait until the function that it returns is called.
func listen() (hear func()) {
	may := make(chan struct{})
	heard.Lock()
	defer heard.Unlock()
	heard.events, heard.may, heard.tired = nil, may, false
	return sync.OnceFunc(func() { close(may) })
}

func heardNames() (names []string) {
	heard.Lock()
	defer heard.Unlock()
	for _, e := range heard.events {
		names = append(names, e.Name())
	}
	return names
}

const eventsOption = `events {
	on maps.account.created test_listener
	on maps.account.updated test_listener
	on maps.account.suspended test_listener
	on maps.account.activated test_listener
	on maps.account.revoked test_listener
	on maps.account.deleted test_listener
}`

// TestEvents hears every change of an account, from the maps app, after the fact and off the request's path.
func TestEvents(t *testing.T) {
	hear := listen()
	s := modulestest.Start(t, modulestest.Config{Site: site, Global: eventsOption})
	user := s.UserToken("acme")
	t.Cleanup(hear) // before the server stops
	acc := s.CreateAccount(user, "TILE", "")
	at := modulestest.AccountsPath + "/" + acc.ID
	for _, body := range []string{
		`{"description":"x"}`, `{"description":"x"}`, `{"status":"SUSPENDED","scopes":["ONM"]}`, `{"status":"ACTIVE"}`,
		`{"status":"REVOKED"}`,
	} {
		if a := s.Do(http.MethodPatch, at, user, body); a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	s.Do(http.MethodDelete, at, user, "")
	hear()
	want := []string{
		"maps.account.created", "maps.account.updated", "maps.account.updated", "maps.account.suspended",
		"maps.account.activated",
		"maps.account.revoked", "maps.account.deleted",
	}
	for range 100 {
		if len(heardNames()) == len(want) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if got := heardNames(); !slices.Equal(got, want) {
		t.Fatalf("heard %v, want %v", got, want)
	}
	heard.Lock()
	defer heard.Unlock()
	if heard.tired {
		t.Error("the requests waited for the handlers of events")
	}
	for i, e := range heard.events {
		if e.Origin() == nil || e.Origin().CaddyModule().ID != "maps" {
			t.Errorf("origin of %s: %v", e.Name(), e.Origin())
		}
		if e.Data["account_id"] != acc.ID || e.Data["organization"] != "acme" || e.Data["actor"] != "user:tester" {
			t.Errorf("data of %s: %v", e.Name(), e.Data)
		}
		if i == 2 && !slices.Equal(e.Data["changed"].([]string), []string{"scopes"}) ||
			i == 3 && !slices.Equal(e.Data["changed"].([]string), []string{"status"}) {
			t.Errorf("changed in %s: %v", e.Name(), e.Data["changed"])
		}
	}
}

// TestEventsAcrossReload loses no event that waits while the configuration is replaced.
func TestEventsAcrossReload(t *testing.T) {
	hear := listen()
	s := modulestest.Start(t, modulestest.Config{Site: site, Global: eventsOption})
	t.Cleanup(hear) // before the server stops
	user := s.UserToken("acme")
	const n = 20
	for i := range n {
		s.CreateAccount(user, "TILE", "")
		if i == n/2 {
			time.AfterFunc(100*time.Millisecond, hear)
			if err := s.Load(modulestest.Config{Site: site + "\nheader X y", Global: eventsOption}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		if len(heardNames()) == n {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("heard %d of %d events", len(heardNames()), n)
}
