package pages_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/chromedp/chromedp/kb"
	_ "github.com/mholt/caddy-ratelimit"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// used is the usage of an account in the hour that begins at a time.
func used(organization, id string, scope account.Scope, at time.Time, u account.Usage) usage.Count {
	return usage.Count{
		Subject: usage.Subject{Organization: organization, Account: id}, Scope: scope, Start: at.Unix(), Usage: u,
	}
}

// keep adds past usage to the store of the running server, as another server does.
func keep(t *testing.T, counts []usage.Count) {
	t.Helper()
	app, err := app.Get(caddy.ActiveContext())
	if err != nil {
		t.Fatal(err)
	}
	session, err := app.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Release()
	flush := usage.Flush{Node: "another", Number: 1, Counts: counts}
	if err := session.Store.AddUsage(t.Context(), flush); err != nil {
		t.Fatal(err)
	}
}

// shown returns the cells of a row of the table of usage.
func shown(tab *browsertest.Tab, id, scope string) []string {
	selector := fmt.Sprintf("#usage-body tr[data-account=%q][data-scope=%q] td", id, scope)
	return browsertest.Eval[[]string](tab, fmt.Sprintf(
		"[...document.querySelectorAll(%q)].map((cell) => cell.innerText.trim().replace(/\\n+/g, ', '))", selector))
}

const savedText = "window.saved.text()"

// save presses the button for CSV and returns the lines of the file, without the names of the columns.
func save(tab *browsertest.Tab) []string {
	browsertest.Eval[bool](tab, `(() => {
		window.saved = null;
		URL.createObjectURL = (blob) => { window.saved = blob; return "#"; };
		return true;
	})()`)
	tab.Click("#csv")
	tab.Wait("the CSV", "window.saved")
	lines := strings.Split(strings.TrimSpace(browsertest.Eval[string](tab, savedText)), "\r\n")
	if lines[0] != "start,account,scope,requests,refused,errors,units" {
		return nil
	}
	return lines[1:]
}

// The table shows the usage that the API has for the period chosen, also of a deleted account.
func TestUsage(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite + `
	handle /broken/* {
		maps_auth DIRECTION
		respond 503
	}`})
	user := s.UserToken("acme")
	tab := browsertest.Open(t, 1280, 1160)
	signIn(tab, s, user)
	waitFor(tab, "#count", "No accounts.")
	tab.Click("#show-usage")
	waitFor(tab, "#usage-note", "Nothing was used yet.")

	shop := s.CreateAccount(user, "TILE DIRECTION", `"description":"shop backend","quotas":[`+
		`{"scope":"TILE","unit":"requests","window":"day","limit":5},`+
		`{"scope":"*","unit":"units","window":"month","limit":1000},`+
		`{"scope":"TILE","unit":"requests","window":"minute","limit":100}]`)
	drivers := s.CreateAccount(user, "TILE DIRECTION", `"description":"night shift drivers"`)
	gone := s.CreateAccount(user, "TILE", "")
	ask := func(a modulestest.Account, path string, statuses ...int) {
		t.Helper()
		token := s.Exchange(a.ClientToken, a.ServerToken).AccessToken
		for _, status := range statuses {
			if got := s.Do(http.MethodGet, path, token, "").Status; got != status {
				t.Errorf("%s is answered with %d, want %d", path, got, status)
			}
		}
	}
	ask(shop, "/tiles/x", 200, 200, 200, 200, 200, 429, 429)
	ask(drivers, "/broken/x", 503, 503, 503)
	ask(gone, "/tiles/x", 200)
	if a := s.Do(http.MethodDelete, modulestest.AccountsPath+"/"+gone.ID, user, ""); a.Status != http.StatusNoContent {
		t.Fatalf("deleting: %d %s", a.Status, a.Body)
	}
	today := time.Now().UTC().Truncate(24 * time.Hour)
	var past []usage.Count
	for at := today.AddDate(0, 0, -29); at.Before(today); at = at.Add(time.Hour) {
		n := int64(20 + at.Hour()*7%23 + 9*(at.YearDay()%7))
		u := account.Usage{Requests: n, Errors: n % 6, Refused: n % 9, Units: n}
		past = append(past, used("acme", drivers.ID, "TILE", at, u))
	}
	var sum account.Usage
	for _, c := range past {
		sum.Requests += c.Requests
		sum.Errors += c.Errors
		sum.Refused += c.Refused
	}
	keep(t, past)

	tab.Click("#refresh")
	waitFor(tab, "#usage-body", "night shift drivers")
	number := func(n int64) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) } // each sum is beyond 1,000
	for _, want := range [][]string{
		{shop.ID, "TILE", "shop backend", "TILE", "5", "0", "2", "5",
			"100%: 5 of 5 requests a day, up to 100 requests a minute"},
		{shop.ID, "*", "shop backend", "all scopes", "5", "0", "2", "5", "0%: 5 of 1,000 units a month"},
		{drivers.ID, "DIRECTION", "night shift drivers", "DIRECTION", "3", "3", "0", "3", ""},
		{drivers.ID, "TILE", "night shift drivers", "TILE", number(sum.Requests), number(sum.Errors),
			number(sum.Refused), number(sum.Requests), ""},
		{gone.ID, "TILE", gone.ID, "TILE", "1", "0", "0", "1", ""},
	} {
		if got := shown(tab, want[0], want[1]); !slices.Equal(got, want[2:]) {
			t.Errorf("shown is %q, want %q", got, want[2:])
		}
	}
	label := fmt.Sprintf("By day, the last 30 days: %s passed, %s answered 5xx, %s refused by a quota",
		number(sum.Requests-sum.Errors+5+1), number(sum.Errors+3), number(sum.Refused+2))
	if got := browsertest.Eval[string](tab, `document.querySelector(".bars").getAttribute("aria-label")`); got != label {
		t.Errorf("the bars say %q, want %q", got, label)
	}
	tab.Picture("../../docs/images/console-usage.png")
	behind := `document.querySelector("figure:first-of-type tbody tr:last-child").textContent`
	if got := browsertest.Eval[string](tab, behind); got != today.Format("Jan 2")+"6329" {
		t.Errorf("the table behind the bars ends with %q", got)
	}

	first := func(want, because string) {
		t.Helper()
		if got := tab.Text("#usage-body tr"); !strings.Contains(got, want) {
			t.Errorf("%s: first comes %q, not %s", because, got, want)
		}
	}
	first("night shift drivers", "by requests")
	tab.TabTo(`[data-sort="refused"]`)
	tab.Press(kb.Enter)
	first("night shift drivers", "by what was refused")
	tab.Press(kb.Enter) // the focus is where it was
	first("0", "the other way round")
	tab.Click(`[data-sort="share"]`)
	first("100%: 5 of 5 requests a day", "by the share of the quota")
	tab.Run(selectOption("#range", "day 1"))
	if got := shown(tab, drivers.ID, "TILE"); len(got) > 0 {
		t.Errorf("today has %q of yesterday", got)
	}
	lines := save(tab)
	want := today.Format(time.RFC3339) + "," + gone.ID + ",TILE,1,0,0,1"
	if !slices.Contains(lines, want) || len(lines) != 3 {
		t.Errorf("the CSV has %q, not %s", lines, want)
	}

	tab.Click("#show-accounts")
	tab.Run(selectOption("#status", "ACTIVE")) // reads the list anew
	press(tab, shop.ID, "Usage")
	waitFor(tab, "#usage-title", "Usage of shop backend")
	waitFor(tab, "#usage-body", "TILE")
	if got := tab.Text("#usage-body"); strings.Contains(got, "DIRECTION") || len(shown(tab, shop.ID, "TILE")) != 6 {
		t.Errorf("the usage of one account is %q", got)
	}
	tab.CheckStorage()
	tab.Click("#sign-out")
	waitFor(tab, "#message", "You are signed out.")
	if text := tab.Text("main"); strings.Contains(text, "Usage") || tab.Text("#usage-body") != "" {
		t.Errorf("after signing out: %s", text)
	}
}

// An organization with more accounts than one page of the API has, and than the table shows. A rate limit delays the
// CSV.
func TestUsageOfManyAccounts(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Global: "order rate_limit first", Site: consoleSite + `
	rate_limit {
		zone csv {
			match {
				header Accept text/csv
			}
			key all
			events 1
			window 2s
		}
	}`})
	counts := make([]usage.Count, 1100)
	now := time.Now().UTC().Truncate(time.Hour)
	for i := range counts {
		counts[i] = used("large", fmt.Sprintf("sa_%04d", i), "TILE", now, account.Usage{Requests: 1, Units: 1})
	}
	keep(t, counts)
	tab := browsertest.Open(t, 360, 740)
	signIn(tab, s, s.UserToken("large"))
	tab.Click("#show-usage")
	waitFor(tab, "#usage-rows", "The first 200 of 1,100 rows.")
	if w := browsertest.Eval[int](tab, "document.documentElement.scrollWidth"); w > 360 {
		t.Errorf("usage is %d pixels wide", w)
	}
	if got := len(save(tab)); got != 1100 {
		t.Errorf("the CSV has %d rows", got)
	}
	local := modulestest.Config{Site: consoleSite, Maps: loginConfig} // which takes no tokens of the server's own
	if err := s.Load(local); err != nil {
		t.Fatal(err)
	}
	tab.Click("#refresh")
	waitFor(tab, "#message", "Your sign-in is not valid any more.")
}

// The form sets, shows and removes quotas and restrictions; a mistake is shown at its field.
func TestQuotasAndRestrictions(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: consoleSite})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", "")
	tab := browsertest.Open(t, 1280, 1200)
	signIn(tab, s, user)
	waitFor(tab, "#count", "1 shown")
	kept := func(want string) {
		t.Helper()
		tab.Click("dialog [type=submit]")
		tab.Wait("the dialog to close", `!document.querySelector("dialog")`)
		if body := s.Do(http.MethodGet, modulestest.AccountsPath+"/"+acc.ID, user, "").Body; !strings.Contains(body, want) {
			t.Errorf("the account is %s, without %s", body, want)
		}
	}
	refused := func(field, want, input string) {
		t.Helper()
		tab.Click("dialog [type=submit]")
		waitFor(tab, "dialog [data-error="+field+"]", want)
		if !browsertest.Eval[bool](tab, fmt.Sprintf(`document.activeElement === document.querySelectorAll(%q)[0] &&
			document.activeElement.getAttribute("aria-invalid") === "true"`, input)) {
			t.Errorf("%s: the focus is not on %s", want, input)
		}
	}
	press(tab, acc.ID, "Edit")
	tab.Click(".add-quota")
	tab.Press("1000")
	tab.Click(".add-quota")
	second := ".quota:nth-child(2) "
	tab.Run(selectOption(second+`[name="quotas.scope"]`, "TILE"), selectOption(second+`[name="quotas.unit"]`, "units"),
		selectOption(second+`[name="quotas.window"]`, "month"))
	refused("quotas", "number 2: limit: must be", second+"input")
	tab.Type(second+"input", "0")
	tab.Type("[name=networks]", "203.0.113.0/24\n203.0.113.9/24")
	refused("networks", "number 2: ", "[name=networks]")
	tab.Type("[name=networks]", "203.0.113.0/24")
	tab.Type("[name=origins]", "https://app.example.com/path")
	refused("origins", "number 1: ", "[name=origins]")
	tab.Type("[name=origins]", "https://app.example.com\nhttps://*.example.com")
	kept(`"quotas":[{"scope":"*","unit":"requests","window":"day","limit":1000},` +
		`{"scope":"TILE","unit":"units","window":"month","limit":0}],"restrictions":{"origins":[` +
		`"https://app.example.com","https://*.example.com"],"networks":["203.0.113.0/24"]}`)

	press(tab, acc.ID, "Edit")
	tab.Click(".quota button")
	tab.Type("[name=origins]", " ")
	kept(`"quotas":[{"scope":"TILE","unit":"units","window":"month","limit":0}],` +
		`"restrictions":{"origins":[],"networks":["203.0.113.0/24"]}`)
}
