package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const ownScopes = "scope ORDERS \"orders <b>of</b> the shop\"\nscope INVOICES invoices"

// TestScopesOfPages: pages are told the scopes that handlers require, wherever these come in the configuration.
func TestScopesOfPages(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	const (
		pages  = "handle /console/* {\nmaps_console\n}\nhandle /docs/* {\nmaps_docs\n}\n"
		orders = `{"name":"ORDERS","purpose":"orders \u003cb\u003eof\u003c/b\u003e the shop"}`
		tile   = `{"name":"TILE","purpose":"the map: tiles and style"}`
		match  = "handle {\nmaps_match {\nmatcher local village\n%\n}\n}"
	)
	for site, want := range map[string]string{
		"handle /x {\nmaps_auth ORDERS TILE\n}": `{"offered":[` + tile + `,` + orders + `],"served":["TILE","ORDERS"]}`,
		"handle /x {\nmaps_auth *\n}": `{"offered":[{"name":"INVOICES","purpose":"invoices"},` + orders +
			`],"served":["INVOICES","ORDERS"]}`,
		strings.Replace(match, "%", "", 1): `{"offered":[{"name":"DIRECTION","purpose":"routes, and map matching of recorded ` +
			`drives"}],"served":["DIRECTION"]}`,
		strings.Replace(match, "%", "public", 1) + "\nhandle /x {\nmaps_auth ORDERS\n}": `{"offered":[` + orders +
			`],"served":["DIRECTION","ORDERS"]}`,
		"": `"served":["TILE","MATRIX","ONM","DIRECTION","TSS","GEOCODING","REVERSEGEOCODING","INVOICES","ORDERS"]}`,
	} {
		if err := s.Load(modulestest.Config{Maps: ownScopes + "\nregion village village.region {\nawaited\n}", Site: pages + site}); err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{"/console/", "/docs/"} {
			if a := s.Do(http.MethodGet, page+"scopes.json", "", ""); a.Status != 200 || !strings.HasSuffix(a.Body, want) {
				t.Errorf("%s with %q: %d %s, want %s", page, site, a.Status, a.Body, want)
			}
		}
	}
}

// TestScopesInConsole: the form offers the scopes of the server with their purposes, and keeps others that an account
// has. The table of usage tells requests for which any scope is enough from sums over all scopes.
func TestScopesInConsole(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: ownScopes, Site: consoleSite + `
	handle /orders {
		maps_auth ORDERS
		respond "orders"
	}
	handle /any {
		maps_auth *
		respond "any"
	}`})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "MATRIX ORDERS",
		`"quotas":[{"scope":"*","unit":"requests","window":"month","limit":10},`+
			`{"scope":"TSS","unit":"requests","window":"day","limit":10}]`)
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	for path, times := range map[string]int{"/orders": 1, "/any": 2} {
		for range times {
			if a := s.Do(http.MethodGet, path, token, ""); a.Status != 200 {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	}
	tab := browsertest.Open(t, 1280, 1200)
	signIn(tab, s, user)
	waitFor(tab, "#count", "1 shown")

	press(tab, acc.ID, "Edit")
	const offered = `[...document.querySelectorAll("dialog .check:has([name=scopes])")].map((label) =>
		(label.querySelector("input").checked ? "+" : "-") + label.innerText.trim())`
	want := []string{"-TILE the map: tiles and style", "-INVOICES invoices", "+ORDERS orders <b>of</b> the shop",
		"+MATRIX (not in use on this server)"}
	if got := browsertest.Eval[[]string](tab, offered); !slices.Equal(got, want) {
		t.Errorf("offered are %q, want %q", got, want)
	}
	const options = `[...document.querySelectorAll(".quota:nth-child(2) [name='quotas.scope'] option")].map((o) => o.value)`
	if got := browsertest.Eval[[]string](tab, options); strings.Join(got, " ") != "* TILE INVOICES ORDERS MATRIX TSS" {
		t.Errorf("scopes of a quota are %q", got)
	}
	tab.Run(selectOption("[name=platform]", ""))
	tab.Click("dialog [value=MATRIX]")
	tab.Click("dialog [value=INVOICES]")
	tab.Click("dialog [type=submit]")
	waitFor(tab, row(acc.ID), "–")
	body := s.Do(http.MethodGet, modulestest.AccountsPath+"/"+acc.ID, user, "").Body
	if !strings.Contains(body, `"platform":""`) || !strings.Contains(body, `"scopes":["INVOICES","ORDERS"]`) ||
		!strings.Contains(body, `{"scope":"TSS"`) {
		t.Errorf("the account is %s", body)
	}

	tab.Click("#show-usage")
	waitFor(tab, "#usage-body", "any scope")
	for scope, want := range map[string][]string{
		"ORDERS": {acc.ID, "ORDERS", "1"}, "any": {acc.ID, "any scope", "2"}, "*": {acc.ID, "all scopes", "3"},
	} {
		if got := shown(tab, acc.ID, scope); len(got) < 3 || !slices.Equal(got[:3], want) {
			t.Errorf("usage of %s is %q, want %q", scope, got, want)
		}
	}
}

// TestScopesInDocs: the reference leaves out what the server does not have.
func TestScopesInDocs(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: ownScopes,
		Site: "handle /docs/* {\nmaps_docs\n}\nhandle {\nmaps_auth TILE ORDERS\n}"})
	tab := browsertest.Open(t, 1280, 900)
	tab.Go(s.URL + "/docs/")
	tab.Wait("the operations", `document.querySelectorAll(".opblock").length > 10`)
	for id, want := range map[string]bool{"Maps-getTile": true, "Maps-matchPath": false, "Maps-getCoverage": false,
		"Tokens-exchangeTokens": true} {
		if got := browsertest.Eval[bool](tab, `!!document.getElementById("operations-`+id+`")`); got != want {
			t.Errorf("%s is shown: %v", id, got)
		}
	}
	tab.Click("#operations-Service_accounts-createAccount .opblock-summary-control")
	tab.Wait("the operation", `document.querySelector(".model-example .tablinks[data-name=model]")`)
	tab.Click(".model-example .tablinks[data-name=model]")
	const model = ".model-example .json-schema-2020-12"
	tab.Wait("the scopes", `(() => {
		for (const icon of document.querySelectorAll(".model-example .json-schema-2020-12-accordion__icon--collapsed")) {
			icon.closest("button").click();
		}
		return document.querySelector("`+model+`")?.innerText.includes("ORDERS: orders");
	})()`)
	if text := tab.Text(model); strings.Contains(text, "MATRIX") || strings.Contains(text, "INVOICES") {
		t.Errorf("the model is %s", text)
	}
}
