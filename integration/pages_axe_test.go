package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp/kb"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
)

// axe-core finds nothing on any page, in each state that it can be in, in a wide window, in the dark, and on a phone.
func TestPagesAxe(t *testing.T) {
	modules := npmModules(t)
	t.Parallel()
	axe, err := os.ReadFile(filepath.Join(modules, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	drive, err := os.ReadFile(filepath.Join(root, "modules", "pages", "web", "playground", "samples", "dover.gpx"))
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t)
	user := s.userToken(t, "acme")
	account := s.create(t, user, map[string]any{"platform": "WEB", "isAdmin": true,
		"scopes": []string{"TILE", "DIRECTION", "REVERSEGEOCODING", "GEOCODING"}, "description": "shop <script> شبكة 🚗",
		"quotas": []map[string]any{{"scope": "*", "unit": "units", "window": "month", "limit": 1_000_000}}})
	s.create(t, user, map[string]any{"platform": "IOS", "scopes": []string{"TILE"}, "status": "SUSPENDED"})
	token, _ := s.exchange(t, account.ClientToken, account.ServerToken)

	for _, look := range []struct {
		name          string
		width, height int
		scheme        string
	}{
		{"wide", 1280, 800, "light"}, {"dark", 1280, 800, "dark"}, {"phone", 360, 740, "light"},
	} {
		t.Run(look.name, func(t *testing.T) {
			c := &axeCheck{t, browsertest.Open(t, look.width, look.height), string(axe), look.width}
			c.tab.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: look.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
			}))
			c.tab.Go(s.url("/"))
			c.tab.Wait("the buttons", `document.querySelector(".copy")`)
			c.finds("the start page")
			c.playground(s.url("/playground/"), token, string(drive))
			c.tab.Go(s.url("/docs/"))
			c.tab.Wait("the operations", `document.querySelector(".authorize.locked")`)
			c.finds("the reference with a token")
			c.console(s.url("/console/"), user)
			c.tab.Go(s.url("/docs/"))
			c.tab.Wait("the operations", `document.querySelectorAll(".opblock").length > 10`)
			c.finds("the reference")
			c.tab.CheckOrigin(s.url(""))
			c.tab.CheckStorage()
		})
	}
}

type axeCheck struct {
	t     *testing.T
	tab   *browsertest.Tab
	axe   string // the script
	width int
}

// finds fails the test for what axe finds in the page as it is now.
func (c *axeCheck) finds(state string) {
	c.t.Helper()
	if !browsertest.Eval[bool](c.tab, `"axe" in window`) {
		browsertest.Eval[any](c.tab, c.axe+"; null")
	}
	found := browsertest.Eval[[]string](c.tab, `axe.run({resultTypes: ["violations"], rules: {"target-size": {enabled: true}}}).then(
		(result) => result.violations.flatMap(({id, help, nodes}) => nodes.map((node) =>
			[id, help, node.target.flat().join(" "), node.any[0]?.message ?? ""].join(" | "))))`)
	for _, violation := range found {
		c.t.Errorf("%s: %s", state, violation)
	}
	if wide := browsertest.Eval[int](c.tab, "document.documentElement.scrollWidth"); wide > c.width {
		c.t.Errorf("%s is %d pixels wide", state, wide)
	}
}

func (c *axeCheck) playground(address, token, drive string) {
	tab := c.tab
	tab.Go(address)
	tab.Wait("the ways to a token", `document.querySelectorAll("#no-token p:not([hidden])").length === 4`)
	c.finds("the playground without a token")
	tab.Go(address + "#token=" + token + "&map=15/39.1573/-75.5197")
	tab.Wait("the map", `document.querySelector(".leaflet-tile-loaded")`)
	c.finds("the map")
	tab.TabTo("#map")
	tab.Press(kb.Enter)
	tab.Wait("places", `document.querySelector("#places .place")`)
	c.finds("places")
	tab.Type("#ask-at", "-75.5197 39.1573")
	tab.Wait("positions", `document.querySelector("#found [role=option]")`)
	c.finds("positions in the search box")
	tab.Type("#ask-at", "main street dover")
	tab.Wait("results", `document.querySelector("#found")?.textContent.includes("Main Street")`)
	tab.Press(kb.ArrowDown)
	c.finds("results of a search")
	tab.Press(kb.Enter)
	tab.Press(kb.Escape, kb.ArrowDown)
	tab.Wait("recent searches", `document.querySelector("#found-part:not([hidden]) #recent-clear")`)
	c.finds("recent searches")
	tab.Click("#recent-clear")
	tab.Drop("#map", "drive.gpx", drive)
	tab.Wait("the match", `!document.querySelector("#result").hidden`)
	browsertest.Eval[bool](tab, `(document.querySelectorAll("details").forEach((part) => part.open = true), true)`)
	c.finds("a matched trace")
	tab.Click("#network")
	tab.Wait("the network", `document.querySelector(".leaflet-network-pane .leaflet-tile-loaded")`)
	c.finds("the network")
	tab.Drop("#map", "drive.gpx", "<gpx/>")
	tab.Wait("an error", `document.querySelector("#trace-message.error")`)
	c.finds("an error")
}

func (c *axeCheck) console(address, user string) {
	tab := c.tab
	tab.Go(address)
	tab.Wait("the sign-in", `!document.querySelector("#signed-out").hidden`)
	c.finds("signed out")
	tab.Go(address + "#token=" + user)
	tab.Wait("the question", `document.querySelector("dialog[open]")`)
	c.finds("the question of a link")
	tab.Click("dialog [type=submit]")
	tab.Wait("the list", `document.querySelectorAll("tbody tr").length > 1`)
	c.finds("the list")
	tab.Click("#show-usage")
	tab.Wait("the bars", `document.querySelectorAll(".bars").length === 2 && document.querySelector("#usage-body tr")`)
	browsertest.Eval[bool](tab, `(document.querySelectorAll("details").forEach((part) => part.open = true), true)`)
	c.finds("usage")
	tab.Click("#show-accounts")
	dialog := func(button string) {
		tab.Click(button)
		tab.Wait("the dialog", `document.querySelector("dialog[open]")`)
		c.finds("the dialog of " + button)
		tab.Click("dialog [type=submit]")
		tab.Wait("an error", `[...document.querySelectorAll("dialog .field-error, dialog .error")].some((e) => e.innerText)`)
		c.finds("an error of " + button)
	}
	closed := func(button string) {
		tab.Click(button)
		tab.Wait("the dialog to close", `!document.querySelector("dialog")`)
	}
	dialog("#create")
	tab.Click("dialog [value=TILE]")
	tab.Click("dialog [type=submit]")
	tab.Wait("the tokens", `document.querySelector("dialog .once")`)
	c.finds("the tokens")
	tab.Click("dialog [type=submit]")
	tab.Wait("the exchange", `document.querySelector("dialog .result .copy")`)
	c.finds("the exchange")
	closed("dialog .buttons [type=button]")
	for _, button := range []string{"[data-action=Keys]", "#try", "[data-action=Revoke]", "[data-action=Delete]"} {
		dialog(button)
		closed("dialog .buttons [type=button]")
	}
	tab.Click("[data-action=Edit]")
	tab.Click(".add-quota")
	c.finds("the form of an account")
	closed("dialog .buttons [type=button]")
	tab.Click("#sign-out")
	if text := tab.Text("#message"); !strings.Contains(text, "signed out") {
		c.t.Errorf("after signing out: %q", text)
	}
}
