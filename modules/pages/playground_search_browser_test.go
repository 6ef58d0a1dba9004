package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp/kb"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	options = `document.querySelectorAll("#found-part:not([hidden]) [role=option]")`
	numbers = `document.querySelectorAll(".leaflet-marker-pane .found")`
	chosen  = `document.getElementById(document.querySelector("#ask-at").getAttribute("aria-activedescendant"))`
)

// lists waits until the list of the search box has a result with a text.
func lists(tab *browsertest.Tab, text string) {
	tab.Wait(text+" in the list", fmt.Sprintf(`[...%s].some((o) => o.textContent.includes(%q))`, options, text))
}

// searches returns the searches that the page has sent.
func searches(tab *browsertest.Tab) (queries []url.Values) {
	for _, r := range tab.Requests() {
		if u, err := url.Parse(r.URL); err == nil && u.Path == "/v2/search/geocode" {
			queries = append(queries, u.Query())
		}
	}
	return queries
}

// A place is found as one types, by keyboard; chosen, shown as after a click, and left with directions.
func TestBrowserSearch(t *testing.T) {
	w := startWorld(t, village(t), "")
	t.Run("keyboard", func(t *testing.T) {
		tab := w.page(t, 1280, 800, villageView)
		tab.Run(input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithText("/")) // Press would send its character even so
		tab.Press("c", "r", "o", "s", "s")
		lists(tab, "Crossing Café")
		query := searches(tab)
		if last := query[len(query)-1]; last.Get("query") != "cross" || last.Get("autocomplete") != "true" ||
			last.Get("proximity") != "39.16000,-75.52000" || last.Get("zoom") != "15" || len(query) == len("cross") {
			t.Errorf("the searches are %v", query)
		}
		if shown := browsertest.Eval[bool](tab, numbers+".length === "+options+".length"); !shown {
			t.Error("the results are not on the map")
		}
		tab.Press(kb.ArrowDown)
		if text := browsertest.Eval[string](tab, chosen+"?.textContent"); !strings.Contains(text, "Crossing Café") ||
			!strings.Contains(text, "amenity: cafe") || !strings.Contains(text, " m") {
			t.Errorf("the first result is %q", text)
		}
		tab.Press(kb.Escape)
		tab.Wait("no list", options+".length === 0 && "+numbers+".length === 0")
		if text := browsertest.Eval[string](tab, `document.querySelector("#ask-at").value`); text != "cross" {
			t.Errorf("the box has %q after Escape", text)
		}
		tab.Press(kb.ArrowDown)
		lists(tab, "Crossing Café")
		tab.Press(kb.ArrowUp, kb.ArrowDown, kb.Enter) // from the last around to the first
		waitFor(tab, "#places .place", "Crossing Café")
		tab.Wait("the view", `location.hash.startsWith("#map=17/39.1601")`)
		if n := browsertest.Eval[int](tab, options+".length + "+numbers+".length"); n != 0 {
			t.Error("the list stays open")
		}
		// Directions to there, from a click.
		tab.Click("#places .row button")
		waitFor(tab, "#route-message", "Where from?")
		browsertest.Eval[bool](tab, `(() => {
			const map = document.getElementById("map"), box = map.getBoundingClientRect();
			const at = { bubbles: true, clientX: box.left + 100, clientY: box.top + box.height / 2 + 12 };
			for (const type of ["mousedown", "mouseup", "click"]) map.dispatchEvent(new MouseEvent(type, at));
			return true;
		})()`)
		waitFor(tab, "#route-message", "The route takes")
		if hash := browsertest.Eval[string](tab, "location.hash"); !strings.Contains(hash, ";39.1601,-75.5201&") ||
			strings.Contains(hash, "ross") {
			t.Errorf("the address of the page ends with %s", hash)
		}
		clearRecent(tab)
		w.finish(tab)
	})
	t.Run("enter", func(t *testing.T) {
		tab := w.page(t, 1280, 800, "#map=15/39.3/-75.3")
		tab.Type("#ask-at", "village school")
		tab.Press(kb.Enter)
		tab.Wait("a chosen result", chosen+`?.textContent.includes("Village School")`)
		query := searches(tab)
		if last := query[len(query)-1]; last.Get("autocomplete") != "false" {
			t.Errorf("the last search is %v", last)
		}
		tab.Wait("the results in view", `location.hash.includes("/39.16")`)
		browsertest.Eval[bool](tab, `(document.querySelector(".leaflet-marker-pane .found").click(), true)`)
		waitFor(tab, "#places .place", "Village School")
		tab.Type("#ask-at", "qqqqqqqq")
		waitFor(tab, "#found-message", "Nothing is found.")
		tab.Press(kb.Escape, kb.Escape, kb.ArrowDown) // closes the list, empties the box, shows recent ones
		lists(tab, "Village School")
		clearRecent(tab)
		w.finish(tab)
	})
	t.Run("slow", func(t *testing.T) {
		tab := w.page(t, 1280, 800, villageView)
		tab.Run(network.EmulateNetworkConditions(false, 1000, -1, -1))
		tab.Type("#ask-at", "village sch")
		for len(searches(tab)) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		tab.Type("#ask-at", "crossing")
		lists(tab, "Crossing Café")
		for _, r := range tab.Requests() {
			if strings.Contains(r.URL, "query=village+sch&") && r.Status != 0 {
				t.Errorf("an older search is answered: %d", r.Status)
			}
		}
		w.finish(tab)
	})
	t.Run("recent", func(t *testing.T) {
		tab := w.page(t, 360, 740, villageView)
		tab.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}))
		for i := range 10 {
			tab.Type("#ask-at", fmt.Sprintf("39.160%d, -75.52", i%9))
			lists(tab, fmt.Sprintf("39.160%d0, -75.52000", i%9))
			tab.Click("#found [role=option]")
			tab.Wait("an answer", `document.querySelector("#places .place")`)
		}
		browsertest.Eval[bool](tab, `(document.activeElement.blur(), document.querySelector("#ask-at").value = "", true)`)
		tab.Click("#ask-at")
		tab.Wait("eight recent ones", options+".length === 8 && "+numbers+".length === 0")
		if text := browsertest.Eval[string](tab, options+"[0].textContent + "+options+"[7].textContent"); !strings.Contains(text, "39.16000, ") ||
			!strings.Contains(text, "39.16020, ") {
			t.Errorf("the first and last recent ones are %q", text)
		}
		if kept := browsertest.Eval[string](tab, `JSON.stringify(localStorage)`); strings.Contains(kept, "eyJ") || !strings.Contains(kept, "maps.recent.map") {
			t.Errorf("the page keeps %s", kept)
		}
		if wide := browsertest.Eval[int](tab, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("the page is %d pixels wide", wide)
		}
		clearRecent(tab)
		w.finish(tab)
	})
	t.Run("order", func(t *testing.T) {
		tab := w.page(t, 1280, 800, villageView)
		tab.Type("#ask-at", "-75.5201 39.1601")
		lists(tab, "Did you mean 39.16010, -75.52010?")
		tab.Press(kb.Enter)
		waitFor(tab, "#places", "Crossing Café")
		tab.Type("#ask-at", "10, 20")
		lists(tab, "Did you mean 20.00000, 10.00000?")
		if queries := searches(tab); len(queries) != 0 {
			t.Errorf("searches for positions: %v", queries)
		}
		w.finish(tab)
	})
	t.Run("trouble", func(t *testing.T) {
		for name, test := range map[string]struct{ scopes, more, want string }{
			"scope": {"TILE", "", "GEOCODING"},
			"quota": {"TILE GEOCODING", `"quotas":[{"scope":"GEOCODING","unit":"requests","window":"day","limit":1}]`, "Too many requests."},
		} {
			t.Run(name, func(t *testing.T) {
				acc := w.CreateAccount(w.UserToken("org"), test.scopes, test.more)
				token := w.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
				tab := w.page(t, 1000, 700, "#token="+token+"&map=15/39.16/-75.52")
				tab.Type("#ask-at", "crossing")
				if name == "quota" {
					lists(tab, "Crossing Café")
					tab.Press("x")
				}
				waitFor(tab, "#found-message.error", test.want)
				w.finish(tab)
			})
		}
		tab := w.page(t, 1000, 700, villageView)
		tab.Run(network.EmulateNetworkConditions(true, 0, -1, -1))
		tab.Type("#ask-at", "crossing")
		waitFor(tab, "#found-message.error", "The server cannot be reached.")
		w.finish(tab)
	})
	// The last: the account stays so.
	t.Run("suspended", func(t *testing.T) {
		tab := w.page(t, 1000, 700, villageView)
		a := w.Do(http.MethodPatch, modulestest.AccountsPath+"/"+w.account.ID, w.UserToken("org"), `{"status":"SUSPENDED"}`)
		if a.Status != http.StatusOK {
			t.Fatalf("suspending: %d %s", a.Status, a.Body)
		}
		tab.Type("#ask-at", "crossing")
		waitFor(tab, "#found-message.error", "Paste a new one.")
		w.finish(tab)
	})
}

// clearRecent forgets the recent searches, as a user does.
func clearRecent(tab *browsertest.Tab) {
	browsertest.Eval[bool](tab, `(document.activeElement.blur(), document.querySelector("#ask-at").value = "", true)`)
	tab.Click("#ask-at")
	tab.Click("#recent-clear")
	tab.Wait("no list", options+".length === 0")
}

// Names from the map are shown as text in the list, and after a reload.
func TestBrowserSearchNames(t *testing.T) {
	escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(hostile)
	w := startWorld(t, village(t, "Crossing Café", "Crossing "+escaped), "")
	tab := w.page(t, 1000, 700, villageView)
	tab.Type("#ask-at", "crossing")
	lists(tab, hostile)
	tab.Press(kb.ArrowDown, kb.Enter)
	waitFor(tab, "#places .place", hostile)
	tab.Go(w.URL + "/playground/?again" + villageView)
	tab.Wait("the page", "document.documentElement.dataset.ready")
	tab.Click("#ask-at")
	lists(tab, hostile)
	if browsertest.Eval[bool](tab, `window.owned === true || !!document.querySelector("#ask-form img, #panel img, #ask-form script")`) {
		t.Error("a name became markup")
	}
	clearRecent(tab)
	w.finish(tab)
}

// Without search on the site the box takes positions, and says so.
func TestBrowserNoSearch(t *testing.T) {
	s, _, _ := startPlayground(t, "TILE", "search off")
	tab := browsertest.Open(t, 1000, 700)
	tab.Go(s.URL + "/playground/")
	tab.Wait("the page", "document.documentElement.dataset.ready")
	tab.Type("#ask-at", "crossing")
	waitFor(tab, "#found-message", "There is no search here: type a latitude and a longitude")
	tab.Press(kb.Enter)
	waitFor(tab, "#found-message.error", "There is no search here")
	tab.Type("#ask-at", "N 39 9.6 W 75 31.2")
	lists(tab, "39.16000, -75.52000")
	if queries := searches(tab); len(queries) != 0 {
		t.Errorf("searches: %v", queries)
	}
	tab.CheckStorage()
}
