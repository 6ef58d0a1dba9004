package pages_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/pages"
)

const consoleSite = `
	handle /console/* {
		maps_console
	}
	handle /api/v1/external/* {
		maps_tokens
	}
	handle /api/v1/service-accounts* {
		maps_accounts
	}
	handle /tiles/* {
		maps_auth TILE
		respond "a tile"
	}`

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// row is the selector of an account's row.
func row(id string) string { return `tr[data-id="` + id + `"]` }

// press clicks an action of an account.
func press(tab *browsertest.Tab, id, action string) {
	tab.Click(row(id) + ` [data-action="` + action + `"]`)
}

func waitFor(tab *browsertest.Tab, selector, text string) {
	tab.Wait(selector+" with "+text, fmt.Sprintf("document.querySelector(%q)?.innerText.includes(%q)", selector, text))
}

// signIn opens the console by a link with a token, and agrees to it.
func signIn(tab *browsertest.Tab, s *modulestest.Server, token string) {
	tab.Go(s.URL + "/console/#token=" + token)
	tab.Click("dialog [type=submit]")
}

// selectOption chooses an option of a select as a user does.
func selectOption(selector, value string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`(() => {
		const select = document.querySelector(%q);
		select.value = %q;
		select.dispatchEvent(new Event("change"));
	})()`, selector, value), nil)
}

// The life of an account, by a user who signs in at a provider: what the console does takes effect with the next
// request. The browser watches the policy, requests and storage.
func TestConsole(t *testing.T) {
	p := startProvider(t)
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite, Maps: p.userTokens()})
	p.queue(nil)
	tab := browsertest.Open(t, 1280, 800)
	tab.Go(s.URL + "/console/")
	tab.Click("#sign-in")
	waitFor(tab, "#who", "ann@example.com · organization acme")
	waitFor(tab, "#who-expiry", "expires in 9 minutes")
	waitFor(tab, "#count", "No accounts.")
	if got := p.authorize.Get("redirect_uri"); got != s.URL+"/console/signed-in.html" || p.exchanged != 1 {
		t.Errorf("redirect to %s, %d exchanges", got, p.exchanged)
	}

	tab.Click("#create")
	tab.Type("dialog textarea", "shop backend")
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog [data-error=scopes]", "must not be empty")
	tab.Click(`dialog [value=TILE]`)
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog", "not shown again")
	inputs := `[...document.querySelectorAll("dialog input.token")].map((input) => input.value)`
	tokens := browsertest.Eval[[]string](tab, inputs)
	if len(tokens) != 2 || !strings.HasPrefix(tokens[0], "mpc_") || !strings.HasPrefix(tokens[1], "mps_") {
		t.Fatalf("tokens %q", tokens)
	}
	tab.Run(browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite}))
	browsertest.Eval[bool](tab, "(window.clipboard = navigator.clipboard, true)")
	for n, want := range append(tokens, "curl '"+s.URL+"/api/v1/external/auth") {
		if n > 0 { // as where there is no TLS
			browsertest.Eval[bool](tab, `(Object.defineProperty(navigator, "clipboard", {value: undefined}), true)`)
		}
		button := fmt.Sprintf(`document.querySelectorAll("dialog .copy")[%d]`, n)
		tab.Run(chromedp.Click(button, chromedp.ByJSPath))
		tab.Wait("a copy", button+`.innerText === "Copied"`)
		if got := browsertest.Eval[string](tab, "clipboard.readText()"); !strings.HasPrefix(got, want) {
			t.Errorf("copied %q, want %q", got, want)
		}
	}
	tab.Press(kb.Escape)
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog .result", "valid for 900 seconds and for TILE")
	tab.Click("dialog .buttons [type=button]")
	tab.Wait("the dialog to close", `!document.querySelector("dialog")`)

	access := s.Exchange(tokens[0], tokens[1]).AccessToken
	tile := func(token string, want int) {
		t.Helper()
		if a := s.Do(http.MethodGet, "/tiles/x", token, ""); a.Status != want {
			t.Errorf("a tile: %d, want %d", a.Status, want)
		}
	}
	id := browsertest.Eval[string](tab, `document.querySelector("tbody tr").dataset.id`)
	tile(access, 200)
	press(tab, id, "Suspend")
	waitFor(tab, "#message", "shop backend is suspended.")
	tile(access, 401)
	if focused := browsertest.Eval[string](tab, "document.activeElement.innerText"); focused != "Activate" {
		t.Errorf("the focus is on %q", focused)
	}
	press(tab, id, "Activate")
	waitFor(tab, "#message", "shop backend is active.")
	tile(s.Exchange(tokens[0], tokens[1]).AccessToken, 200)

	press(tab, id, "Edit")
	tab.Type("dialog textarea", strings.Repeat("ö", 501))
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog [data-error=description]", "must be at most 500 characters")
	tab.Type("dialog textarea", "the shop's backend")
	tab.Click("dialog [type=submit]")
	waitFor(tab, row(id), "the shop's backend")

	press(tab, id, "Revoke")
	tab.Type("dialog input", "else")
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog [data-error=confirmation]", "This is not "+id[len(id)-4:])
	tab.Type("dialog input", id[len(id)-4:])
	tab.Click("dialog [type=submit]")
	waitFor(tab, row(id), "revoked")
	if has := browsertest.Eval[bool](tab, `!!document.querySelector("[data-action=Edit]")`); has {
		t.Error("what is revoked can be edited")
	}
	press(tab, id, "Delete")
	tab.Type("dialog input", id)
	tab.Click("dialog [type=submit]")
	tab.Wait("the row to go", `!document.querySelector("tbody tr")`)

	tab.CheckOrigin(s.URL, p.origin())
	tab.CheckStorage()
	tab.Click("#sign-out")
	waitFor(tab, "#message", "You are signed out.")
	if text := tab.Text("main"); strings.Contains(text, "shop") || strings.Contains(text, "acme") {
		t.Errorf("after signing out: %s", text)
	}
}

// A failed sign-in shows an error, and no one is signed in.
func TestSignInRefused(t *testing.T) {
	p := startProvider(t)
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite, Maps: p.userTokens()})
	tab := browsertest.Open(t, 800, 600)
	tab.Go(s.URL + "/console/")
	for want, change := range map[string]func(jwt.MapClaims){
		"belongs to another sign-in":  func(c jwt.MapClaims) { c["nonce"] = "other" },
		"names no organization":       func(c jwt.MapClaims) { delete(c, "tenant") },
		"Your sign-in is not valid":   func(c jwt.MapClaims) { c["groups"] = "guests" },
		"This token has expired. Get": func(c jwt.MapClaims) { c["exp"] = 1 },
	} {
		p.queue(change)
		tab.Click("#sign-in")
		waitFor(tab, "#message", want)
		if browsertest.Eval[bool](tab, `!document.querySelector("#signed-in").hidden`) {
			t.Errorf("%s: signed in", want)
		}
	}
	browsertest.Eval[bool](tab, "(window.open = () => null, true)")
	tab.Click("#sign-in")
	waitFor(tab, "#message", "Allow pop-ups for this address")

	other := strings.Replace(p.userTokens(), "audience "+p.ClientID, "audience other", 1)
	if err := s.Load(modulestest.Config{Site: consoleSite, Maps: other}); err != nil {
		t.Fatal(err)
	}
	tab.Go(s.URL + "/console/")
	p.queue(nil)
	tab.Click("#sign-in")
	waitFor(tab, "#message", "no token of "+p.Issuer()+" for the audience other")
}

// A link signs in only after the user has agreed to its organization, and never replaces a session. Its token is
// removed from the address at once.
func TestSignInByLink(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	tab := browsertest.Open(t, 800, 600)
	link := func(organization string) {
		t.Helper()
		browsertest.Eval[bool](tab, fmt.Sprintf(`(location.hash = "#token=%s", true)`, s.UserToken(organization)))
		tab.Wait("the address to be clean", fmt.Sprintf("location.href === %q", s.URL+"/console/"))
	}
	tab.Go(s.URL + "/console/#token=" + s.UserToken("globex"))
	waitFor(tab, "dialog", "It signs you in as tester of the organization globex.")
	if at := browsertest.Eval[string](tab, "location.href"); at != s.URL+"/console/" {
		t.Errorf("the address is %s", at)
	}
	tab.Press(kb.Escape)
	tab.Wait("the dialog to close", `!document.querySelector("dialog")`)
	if browsertest.Eval[bool](tab, `!document.querySelector("#signed-in").hidden`) {
		t.Error("signed in by a link that was turned down")
	}
	for _, r := range tab.Requests() {
		if strings.Contains(r.URL, "service-accounts") {
			t.Errorf("the token of a link was used: %s", r.URL)
		}
	}
	link("acme")
	tab.Click("dialog [type=submit]")
	waitFor(tab, "#who", "organization acme")
	tab.Wait("the focus", `document.activeElement.id === "accounts-title"`)
	link("globex")
	waitFor(tab, "#message", "You are signed in already.")
	asked := browsertest.Eval[bool](tab, `!!document.querySelector("dialog")`)
	if who := tab.Text("#who"); asked || !strings.Contains(who, "acme") {
		t.Errorf("after another link: %s", who)
	}
}

// Everything works by keyboard, and a phone shows everything without scrolling sideways.
func TestKeyboardOnAPhone(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	user := s.UserToken("acme")
	tab := browsertest.Open(t, 360, 740)
	wide := func(what string) {
		t.Helper()
		if w := browsertest.Eval[int](tab, "document.documentElement.scrollWidth"); w > 360 {
			t.Errorf("%s is %d pixels wide", what, w)
		}
	}
	tab.Go(s.URL + "/console/#token=" + user)
	waitFor(tab, "dialog", "organization acme")
	wide("the question")
	tab.TabTo("dialog [type=submit]")
	tab.Press(kb.Enter)
	waitFor(tab, "#who", "organization acme")
	tab.TabTo("#create")
	tab.Press(kb.Enter)
	tab.Wait("the dialog", `document.activeElement.tagName === "TEXTAREA"`)
	tab.Press("by keyboard")
	tab.TabTo(`dialog [value=TILE]`)
	tab.Press(" ")
	wide("the form")
	tab.TabTo("dialog [type=submit]")
	tab.Press(kb.Enter)
	waitFor(tab, "dialog", "not shown again")
	wide("the tokens")
	tab.TabTo("dialog .buttons [type=button]")
	tab.Press(kb.Enter)
	waitFor(tab, "tbody tr", "by keyboard")
	wide("the list")

	tab.TabTo("[data-action=Suspend]")
	tab.Press(kb.Enter)
	waitFor(tab, "tbody .status", "suspended")
	tab.Press(kb.Enter) // the focus is where it was
	waitFor(tab, "tbody .status", "active")
	tab.TabTo("[data-action=Delete]")
	tab.Press(kb.Enter)
	id := browsertest.Eval[string](tab, `document.querySelector("tbody tr").dataset.id`)
	tab.Press(kb.Escape)
	tab.Wait("the dialog to close", `!document.querySelector("dialog")`)
	tab.Press(kb.Enter) // the focus is back
	tab.Wait("the dialog", `document.activeElement.name === "confirmation"`)
	tab.Press(id[len(id)-4:], kb.Enter)
	waitFor(tab, "#count", "No accounts.")
	tab.TabTo("#sign-out")
	tab.Press(kb.Enter)
	waitFor(tab, "#message", "You are signed out.")
	tab.TabTo("#pasted")
	tab.Press("nonsense", kb.Enter)
	waitFor(tab, "#pasted-error", "not a user token")
	tab.Press(kb.End, kb.Home)
	tab.Type("#pasted", user)
	tab.Press(kb.Enter)
	waitFor(tab, "#who", "organization acme")
	tab.CheckStorage()
}

// A key is made and deleted in a dialog, by keyboard too, and what the console offers for a page leads to it.
func TestConsoleKeys(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "DIRECTION MATRIX TILE", `"description":"shop"`)
	tab := browsertest.Open(t, 800, 600)
	signIn(tab, s, user)
	tab.Wait("the account", fmt.Sprintf("document.querySelector(%q)", row(acc.ID)))
	press(tab, acc.ID, "Keys")
	waitFor(tab, "dialog", "New key")
	tab.Type("dialog [name=origins]", "https://shop.example.com/map")
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog [data-error=origins]", "number 1: ")
	tab.Click("dialog [value=DIRECTION]")
	tab.Type("dialog [name=description]", "the map")
	tab.Type("dialog [name=origins]", "https://shop.example.com http://localhost:5173")
	tab.Click("dialog [type=submit]")
	waitFor(tab, "dialog li", "the map TILE")
	keys := modulestest.AccountsPath + "/" + acc.ID + "/keys"
	var made []account.PublishableKey
	s.Do(http.MethodGet, keys, user, "").Data(t, &made)
	if len(made) != 1 || len(made[0].Origins) != 2 || made[0].Description != "the map" {
		t.Fatalf("%+v", made)
	}
	tab.Run(browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite}))
	for n, want := range []string{made[0].Key, `style: "` + s.URL + `/tiles/REGION/style.json?apiKey=` + made[0].Key + `"`} {
		button := fmt.Sprintf(`document.querySelectorAll("dialog .copy")[%d]`, n)
		tab.Run(chromedp.Click(button, chromedp.ByJSPath))
		tab.Wait("a copy", button+`.innerText === "Copied"`)
		if got := browsertest.Eval[string](tab, "navigator.clipboard.readText()"); !strings.Contains(got, want) {
			t.Errorf("copied %q, want %q", got, want)
		}
	}
	browsertest.Eval[bool](tab, `(document.querySelector("dialog [aria-label='Delete the map']").focus(), true)`)
	tab.Press(kb.Enter)
	waitFor(tab, "dialog:last-of-type", "stop working at once")
	tab.Click("dialog:last-of-type [type=submit]")
	tab.Wait("the key to go", `!document.querySelector("dialog li") && document.activeElement.innerText === "Close"`)
	if a := s.Do(http.MethodGet, keys, user, ""); a.Body != `{"data":[]}` {
		t.Errorf("after its deletion: %s", a.Body)
	}
	tab.Press(kb.Escape)
	tab.Wait("the dialog to close", `!document.querySelector("dialog")`)
	tab.CheckOrigin(s.URL)
}
