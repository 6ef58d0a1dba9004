package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Descriptions are text, even if they look like markup.
func TestDescriptions(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	user := s.UserToken("acme")
	describe := func(text, scopes, more string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		s.CreateAccount(user, scopes, `"description":`+string(quoted)+more)
	}
	hostile := []string{
		`<script>document.title = "gone"</script>`, `<img src=x onerror='document.title = "gone"'>`, "تطبيق الخرائط 🗺️",
	}
	describe("night shift drivers", "DIRECTION REVERSEGEOCODING", `,"status":"SUSPENDED"`)
	describe("deployment", "TILE DIRECTION", `,"isAdmin":true`)
	describe("shop backend", "TILE GEOCODING REVERSEGEOCODING", "")
	tab := browsertest.Open(t, 1280, 640)
	signIn(tab, s, user)
	waitFor(tab, "#count", "3 shown")
	tab.Picture("../../docs/images/console.png")

	for _, text := range hostile {
		describe(text, "TILE", "")
	}
	tab.Run(selectOption("#status", "ACTIVE"))
	waitFor(tab, "#count", "5 shown")
	for n, want := range hostile {
		script := fmt.Sprintf(`[...document.querySelectorAll("tbody bdi")][%d].textContent`, len(hostile)-1-n)
		if got := browsertest.Eval[string](tab, script); got != want {
			t.Errorf("%q is shown as %q", want, got)
		}
	}
	if title := browsertest.Eval[string](tab, "document.title"); title == "gone" {
		t.Error("a description has run")
	}
}

// A list of several pages: what is not there yet is loaded by a button, and a search reads all of it.
func TestListAndSearch(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	user := s.UserToken("acme")
	first := s.CreateAccount(user, "TILE", `"description":"The Very First"`)
	for range 60 {
		s.CreateAccount(user, "TILE", "")
	}
	s.CreateAccount(user, "TILE", `"status":"SUSPENDED"`)
	tab := browsertest.Open(t, 1280, 800)
	signIn(tab, s, user)
	waitFor(tab, "#count", "50 shown, the first 50 loaded.")
	browsertest.Eval[bool](tab, `(document.querySelector("#more").click(), document.querySelector("#more").click(), true)`)
	waitFor(tab, "#count", "62 shown, all 62 loaded.")
	tab.Run(selectOption("#status", "SUSPENDED"))
	waitFor(tab, "#count", "1 shown, all 1 loaded.")
	tab.Run(selectOption("#status", "ACTIVE"))
	waitFor(tab, "#count", "50 shown, the first 50 loaded.")
	tab.Type("#search", "very first")
	waitFor(tab, "#count", "1 found, all 61 loaded.")
	tab.Type("#search", first.ID)
	waitFor(tab, "#count", "1 found, all 61 loaded.")
	tab.Type("#search", "nothing of the kind")
	waitFor(tab, "#count", "0 found, all 61 loaded.")
}

// A token that is about to expire is warned of, and one that has expired shows nothing any more.
func TestExpiry(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	s.CreateAccount(s.UserToken("acme"), "TILE", `"description":"shop"`)
	tab := browsertest.Open(t, 800, 600)
	// A busy machine needs some seconds to show the page.
	a := s.AdminDo(http.MethodPost, "/maps/user-tokens", modulestest.JSON("organization", "acme", "ttl", "15s"))
	var minted struct{ Token string }
	if err := json.Unmarshal([]byte(a.Body), &minted); err != nil {
		t.Fatal(err)
	}
	signIn(tab, s, minted.Token)
	waitFor(tab, "#expiry-warning", "Your sign-in ends in less than a minute.")
	waitFor(tab, "tbody", "shop")
	tab.Click("#create")
	waitFor(tab, "#message", "Your sign-in has expired.")
	tab.Wait("nothing to be left",
		`document.querySelector("#signed-in").hidden && !document.querySelector("dialog, tbody tr")`)
}
