package mapsapp_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
)

func init() { caddy.RegisterModule(listener{}) }

// listener is an event handler that keeps what it hears, and can be slow.
type listener struct{}

var heard struct {
	sync.Mutex
	events []caddy.Event
	delay  time.Duration
}

func (listener) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.test_listener", New: func() caddy.Module { return new(listener) }}
}

func (*listener) UnmarshalCaddyfile(d *caddyfile.Dispenser) error { return nil }

func (listener) Handle(_ context.Context, e caddy.Event) error {
	heard.Lock()
	delay := heard.delay
	heard.Unlock()
	time.Sleep(delay)
	heard.Lock()
	defer heard.Unlock()
	heard.events = append(heard.events, e)
	return nil
}

func listen(delay time.Duration) {
	heard.Lock()
	defer heard.Unlock()
	heard.events, heard.delay = nil, delay
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
	pace := testpace.Watch(t)
	const slow = 150 * time.Millisecond
	listen(slow)
	s := mapstest.Start(t, mapstest.Config{Site: site, Global: eventsOption})
	user := s.UserToken("acme")
	start := time.Now()
	acc := s.CreateAccount(user, "TILE", "")
	at := mapstest.AccountsPath + "/" + acc.ID
	for _, body := range []string{
		`{"description":"x"}`, `{"description":"x"}`, `{"status":"SUSPENDED","scopes":["ONM"]}`, `{"status":"ACTIVE"}`,
		`{"status":"REVOKED"}`,
	} {
		if a := s.Do(http.MethodPatch, at, user, body); a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	s.Do(http.MethodDelete, at, user, "")
	if took := time.Since(start); took > pace.Allow(6*slow) {
		t.Errorf("the requests took %v: they waited for the handlers of events", took)
	}
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
	listen(20 * time.Millisecond)
	s := mapstest.Start(t, mapstest.Config{Site: site, Global: eventsOption})
	user := s.UserToken("acme")
	const n = 20
	for i := range n {
		s.CreateAccount(user, "TILE", "")
		if i == n/2 {
			if err := s.Load(mapstest.Config{Site: site + "\nheader X y", Global: eventsOption}); err != nil {
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
