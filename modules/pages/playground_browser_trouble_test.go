package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const villageView = "#map=15/39.16/-75.52"

// says waits until an element has a text.
func says(tab *browsertest.Tab, selector, text string) {
	tab.Wait(selector+" with "+text, fmt.Sprintf("document.querySelector(%q)?.textContent.includes(%q)", selector, text))
}

// Errors are shown in words, with what can be done about them.
func TestBrowserTrouble(t *testing.T) {
	w := startWorld(t, village(t), "")
	t.Run("outside", func(t *testing.T) {
		tab := w.page(t, 1000, 700, villageView)
		tab.Drop("#map", "far.csv", "lat,lng\n10,20\n10.001,20\n")
		says(tab, "#trace-message.error", "The trace lies outside this map.")
		tab.Type("#ask-at", "10, 20")
		tab.Click("#ask-form button")
		says(tab, "#places", "This place lies outside this map.")
		w.finish(tab)
	})
	t.Run("server down", func(t *testing.T) {
		tab := w.page(t, 1000, 700, villageView)
		tab.Run(network.EmulateNetworkConditions(true, 0, -1, -1))
		tab.Type("#ask-at", "39.16, -75.52")
		tab.Click("#ask-form button")
		says(tab, "#places.error", "The server cannot be reached.")
		tab.Click(".leaflet-control-zoom-out")
		says(tab, "#trouble", "The server cannot be reached.")
		w.finish(tab)
	})
	t.Run("guest refused", func(t *testing.T) {
		tab := browsertest.Open(t, 1000, 700)
		tab.Run(network.SetExtraHTTPHeaders(network.Headers{"X-Forwarded-For": "203.0.113.1"}))
		tab.Go(w.URL + "/playground/" + villageView)
		says(tab, "#trouble", "guests must be on the server's own machine")
		tab.Type("#token", w.Exchange(w.account.ClientToken, w.account.ServerToken).AccessToken)
		tab.Click("#token-form button")
		tab.Wait("tiles", `document.querySelector(".leaflet-tile-loaded")`)
		const good = "Your token of the organization org is valid until"
		if text := tab.Text("#access") + tab.Text("#trouble"); !strings.HasPrefix(text, good) {
			t.Errorf("the page says %q", text)
		}
		w.finish(tab)
	})
	// The last: the account stays so.
	t.Run("suspended", func(t *testing.T) {
		tab := w.page(t, 1000, 700, villageView)
		a := w.Do(http.MethodPatch, modulestest.AccountsPath+"/"+w.account.ID, w.UserToken("org"), `{"status":"SUSPENDED"}`)
		if a.Status != http.StatusOK {
			t.Fatalf("suspending: %d %s", a.Status, a.Body)
		}
		tab.Click(".leaflet-control-zoom-out")
		says(tab, "#trouble", "Paste a new one.")
		tab.Wait("the form for a token", `document.querySelector("#token-part").open`)
		tiles := 0
		for _, r := range tab.Requests() {
			if strings.HasSuffix(r.URL, ".mvt") && r.Status == http.StatusUnauthorized {
				tiles++
			}
		}
		if tiles == 0 {
			t.Error("no tile was refused")
		}
		w.finish(tab)
	})
}

// For a region without a map there is a message, and everything else works.
func TestBrowserNoMap(t *testing.T) {
	w := startWorld(t, village(t), "", func(o *compiler.Options) { o.NoMap = true })
	tab := w.page(t, 1000, 700, villageView)
	says(tab, "#trouble", "no map")
	tab.Type("#ask-at", "39.1601, -75.5201")
	tab.Click("#ask-form button")
	says(tab, "#places", "Crossing Café")
	w.finish(tab)
}

// Names on the map are shown as text everywhere.
func TestBrowserNames(t *testing.T) {
	escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(hostile)
	w := startWorld(t, village(t, "Crossing Café", escaped, "Main Street", escaped, "Testville", escaped), "")
	tab := w.page(t, 1000, 700, "#map=17/39.1601/-75.5201")
	tab.Click("#map")
	says(tab, "#places .place", hostile)
	tab.Drop("#map", "main.csv", "lat,lng\n39.16,-75.528\n39.16,-75.524\n39.16,-75.521\n")
	says(tab, "#ways", hostile)
	says(tab, "#points", hostile)
	if browsertest.Eval[bool](tab, `window.owned === true || !!document.querySelector("#panel img, #panel script")`) {
		t.Error("a name became markup")
	}
	w.finish(tab)
}
