package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const monthQuota = `"quotas":[{"scope":"TILE","unit":"requests","window":"month","limit":10}]`

func ask(t *testing.T, s *modulestest.Server, token string, times int) {
	t.Helper()
	for range times {
		if a := s.Do(http.MethodGet, "/guarded", token, ""); a.Status != 200 && a.Status != 429 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
}

// TestQuotaEvents hears once of each level of a quota.
func TestQuotaEvents(t *testing.T) {
	listen()()
	events := "events {\non maps.quota.warned test_listener\non maps.quota.reached test_listener\n}"
	s := modulestest.Start(t, modulestest.Config{Site: site, Global: events})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", monthQuota)
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	hears := func(want ...string) {
		t.Helper()
		for range 300 {
			if len(heardNames()) >= len(want) {
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if got := heardNames(); !slices.Equal(got, want) {
			t.Fatalf("heard %v, want %v", got, want)
		}
	}
	ask(t, s, token, 7)
	s.Usage(user, acc.ID) // the store has all of it
	hears()
	ask(t, s, token, 1)
	hears("maps.quota.warned")
	ask(t, s, token, 5)
	s.Usage(user, acc.ID)
	hears("maps.quota.warned", "maps.quota.reached")
	start, end := account.WindowMonth.Span(time.Now())
	want := map[string]any{
		"account_id": acc.ID, "organization": "acme", "scope": "TILE", "unit": "requests", "window": "month",
		"limit": int64(10), "used": int64(10), "window_start": start.Format(time.RFC3339),
		"resets_at": end.Format(time.RFC3339),
	}
	heard.Lock()
	defer heard.Unlock()
	if diff := cmp.Diff(want, heard.events[1].Data); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, line := range []string{`"msg":"quota warned"`, `"msg":"quota reached"`} {
		if strings.Count(s.Log(), line) != 1 {
			t.Errorf("the log does not have one %s", line)
		}
	}
}

// TestUsageStaysAcrossStores loses no count when a store is closed or the server stops right after a request.
func TestUsageStaysAcrossStores(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", monthQuota)
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	load := func(maps string) {
		t.Helper()
		if err := s.Load(modulestest.Config{Site: site, Maps: maps}); err != nil {
			t.Fatal(err)
		}
	}
	ask(t, s, token, 3)
	load("access_token_ttl 10m") // the same store
	ask(t, s, token, 3)
	load("store sqlite " + filepath.Join(s.Dir, "other.db"))
	load("")
	ask(t, s, token, 3)
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	load("")
	ask(t, s, token, 3)
	want := map[string]account.Usage{"TILE": {Requests: 10, Refused: 2, Units: 10}}
	if diff := cmp.Diff(want, s.Usage(user, acc.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLastFlush: the log says what is lost, if the store cannot take the usage when it is closed.
func TestLastFlush(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site, Maps: "usage {\nflush 1m\n}"})
	_, token := s.Token("acme", "TILE")
	ask(t, s, token, 3)
	if err := os.Remove(s.Store); err != nil {
		t.Fatal(err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(s.Log(), `"requests":3`); n != 1 {
		t.Errorf("%d lines of the usage that is lost", n)
	}
}
