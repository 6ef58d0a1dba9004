package pages_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// The start page leads everywhere, and every page leads to every other. The tokens of the tab are those of all pages,
// until the user signs out.
func TestBrowserSession(t *testing.T) {
	w := startWorld(t, village(t), "")
	tab := browsertest.Open(t, 1280, 800)
	for _, title := range []string{"Map", "Console", "API reference"} {
		tab.Go(w.URL + "/")
		commands := tab.Text(".steps")
		for _, address := range []string{"/api/v1/external/auth'", "/v2/search/reverse-geocoding?lat=39."} {
			if !strings.Contains(commands, "'"+w.URL+address) {
				t.Errorf("no %s in the steps: %s", address, commands)
			}
		}
		tab.Run(chromedp.Click(`//ul[@class="parts"]//a[.="`+title+`"]`, chromedp.BySearch))
		tab.Wait("the links of "+title, `document.querySelectorAll(".top a[href]").length === 4 && location.pathname !== "/"`)
		if current := tab.Text(".top nav [aria-current]"); current != title {
			t.Errorf("%s is marked on the page of %s", current, title)
		}
		tab.Click(".top .home")
		tab.Wait("the start page", `location.pathname === "/" && document.querySelector(".copy")`)
	}
	if browsertest.Eval[string](tab, `sessionStorage.getItem("maps.access")`) == "" {
		t.Error("the anonymous visitor's token is not kept")
	}

	token := w.Exchange(w.account.ClientToken, w.account.ServerToken).AccessToken
	const ready = "document.documentElement.dataset.ready"
	playground := func(fragment, says string) {
		t.Helper()
		tab.Go(w.URL + "/docs/") // only another fragment would not load the page again
		tab.Go(w.URL + "/playground/" + fragment)
		tab.Wait("the map", ready+` && document.querySelector(".leaflet-tile-loaded")`)
		waitFor(tab, "#access", says)
	}
	const guest, gone = "You are an anonymous visitor.", "The token is not valid, or not any more. You are an anonymous visitor now."
	playground("#token="+token, "Your token of the organization org is valid until")
	playground("", "Your token of the organization org is valid until")
	tab.Go(w.URL + "/docs/")
	tab.Wait("the reference to be authorized", `document.querySelector(".auth-wrapper .authorize.locked")`)
	waitFor(tab, "#who", "access token of org")
	tab.Click("#sign-out")
	tab.Wait("the reference to be open", `document.querySelector(".auth-wrapper .authorize.unlocked")`)
	playground("", guest)
	playground("#token=abc", gone)

	signIn(tab, w.Server, w.UserToken("org"))
	waitFor(tab, "#who", "tester · organization org")
	for range 2 {
		press(tab, w.account.ID, "Open the map")
		tab.Wait("the map", ready+` && document.querySelector(".leaflet-tile-loaded")`)
		waitFor(tab, "#access", "Your publishable key is valid.")
		waitFor(tab, "#who", "tester · organization org")
		tab.Go(w.URL + "/console/#token=" + w.UserToken("other"))
		waitFor(tab, "#message", "You are signed in already.")
		waitFor(tab, "#who", "organization org")
	}
	var keys []struct{ Origins, Scopes []string }
	w.Do(http.MethodGet, modulestest.AccountsPath+"/"+w.account.ID+"/keys", w.UserToken("org"), "").Data(t, &keys)
	if len(keys) != 1 || fmt.Sprint(keys[0].Origins) != "["+w.URL+"]" || len(keys[0].Scopes) != 4 {
		t.Errorf("keys %+v", keys)
	}
	tab.Click("#sign-out")
	waitFor(tab, "#message", "You are signed out.")
	if kept := browsertest.Eval[int](tab, "sessionStorage.length"); kept != 0 {
		t.Errorf("%d tokens are kept", kept)
	}
	w.finish(tab)
}

// A visitor without a token reads where to get one, and a site without tiles says so.
func TestBrowserNoToken(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + region,
		Site: startSite + "\nhandle /console/* {\nmaps_console\n}\nhandle /playground/* {\nmaps_playground village\n}"})
	tab := browsertest.Open(t, 1000, 700)
	tab.Go(s.URL + "/playground/")
	tab.Wait("the ways to a token", `[...document.querySelectorAll("#no-token p")].filter((p) => p.checkVisibility()).length === 3`)
	if text := tab.Text("#no-token"); !strings.Contains(text, "start page") || !strings.Contains(text, "console") ||
		strings.Contains(text, "API reference") {
		t.Errorf("without a token: %s", text)
	}
	tab.Type("#token", "mpk_any")
	tab.Click("#token-form button")
	waitFor(tab, "#trouble", "There is no map here: The server does not offer this.")
	tab.Drop("#map", "ride.fit", "\x0e\x10\x00.FIT")
	waitFor(tab, "#trace-message", "GPX, GeoJSON, CSV, coordinates")
}
