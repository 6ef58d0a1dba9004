package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestOrganizationQuotas sets the quotas of an organization, uses them up, raises and removes them.
func TestOrganizationQuotas(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	const quotas = "/maps/quotas/acme%2F%C3%BC"
	const organization = "acme/ü"
	_, first := s.Token(organization, "TILE")
	_, second := s.Token(organization, "TILE")
	_, stranger := s.Token("globex", "TILE")
	tile := func(token string, want int) {
		t.Helper()
		if a := s.Do(http.MethodGet, "/guarded", token, ""); a.Status != want {
			t.Errorf("got %d %s, want %d", a.Status, a.Body, want)
		}
	}
	check := func(method, body string, used int64, want ...account.Quota) {
		t.Helper()
		a := s.AdminDo(method, quotas, body)
		var got app.Quotas
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s %s: %d %s: %v", method, body, a.Status, a.Body, err)
		}
		expected := app.Quotas{Organization: organization, Quotas: []app.QuotaUsage{}}
		for _, quota := range want {
			_, end := quota.Window.Span(time.Now())
			expected.Quotas = append(expected.Quotas, app.QuotaUsage{Quota: quota, Used: used, ResetsAt: end})
		}
		if diff := cmp.Diff(expected, got); diff != "" || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s (-want +got):\n%s", method, body, diff)
		}
	}
	month := func(limit int64) account.Quota {
		return account.Quota{Scope: "*", Unit: account.UnitRequests, Window: account.WindowMonth, Limit: limit}
	}
	body := func(limit int64) string {
		return fmt.Sprintf(`{"quotas":[{"scope":"*","unit":"requests","window":"month","limit":%d}]}`, limit)
	}
	check(http.MethodGet, "", 0)
	tile(first, 200)
	check(http.MethodPut, body(2), 1, month(2)) // what was used before counts
	tile(second, 200)
	tile(first, 429)
	tile(second, 429)
	tile(stranger, 200)
	check(http.MethodGet, "", 2, month(2))
	if a := s.AdminDo(http.MethodHead, quotas, ""); a.Status != http.StatusOK || a.Body != "" {
		t.Errorf("HEAD: %d %s", a.Status, a.Body)
	}
	check(http.MethodPut, body(3), 2, month(3))
	tile(first, 200)
	tile(first, 429)
	if a := s.AdminDo(http.MethodDelete, quotas, ""); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("DELETE: %d %s", a.Status, a.Body)
	}
	tile(first, 200)
	check(http.MethodGet, "", 0)
	for _, line := range []string{`"quotas":["2 requests a month"]`, `"quotas":["3 requests a month"]`, `"quotas":[]`} {
		if !strings.Contains(s.Log(), `"msg":"quotas of an organization set","organization":"acme/ü",`+line) {
			t.Errorf("the log lacks %s", line)
		}
	}
}

// TestUsage: the operator sees any organization, as JSON and as CSV.
func TestUsage(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	acc, token := s.Token("acme & co", "TILE")
	for range 3 {
		s.Do(http.MethodGet, "/guarded", token, "")
	}
	a := s.AdminDo(http.MethodGet, "/maps/usage?organization=acme+%26+co&step=month", "")
	var page usageapi.Page
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil || len(page.Data) != 1 ||
		page.Data[0].Account != acc.ID || page.Data[0].Usage != (account.Usage{Requests: 3, Units: 3}) {
		t.Errorf("%d %s: %v", a.Status, a.Body, err)
	}
	if a := s.AdminDo(http.MethodGet, "/maps/usage?organization=globex", ""); a.Body != `{"data":[],"nextCursor":null}` {
		t.Errorf("the usage of an unknown organization: %s", a.Body)
	}
}

func TestUsageRefusals(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	const name = "organization must be 1 to 255 bytes of printable text without spaces around it"
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/maps/usage", "", 400, "organization: missing"},
		{"GET", "/maps/usage?organization=a&organization=b", "", 400, "organization: appears more than once"},
		{"GET", "/maps/usage?organization=a&step=x", "", 400, "step: must be hour, day or month"},
		{"POST", "/maps/usage?organization=a", "", 405, "method not allowed"},
		{"GET", "/maps/quotas/%20a", "", 400, name},
		{"PUT", "/maps/quotas/a%00", `{"quotas":[]}`, 400, name},
		{"DELETE", "/maps/quotas/" + strings.Repeat("a", 256), "", 400, name},
		{"PUT", "/maps/quotas/a", `{}`, 400, "quotas: missing"},
		{"PUT", "/maps/quotas/a", `{"quotas":[],"restrictions":{}}`, 400, "restrictions: unknown field"},
		{"PUT", "/maps/quotas/a", `{"quotas":[{}]}`, 400, "quotas: element 0: scope: must be"},
		{"PUT", "/maps/quotas/a", `{"quotas":[` + strings.Repeat(" ", 16<<10) + `]}`, 413, "request body too large"},
		{"PUT", "/maps/quotas/a", `{"quotas":null}`, 400, "quotas: must be"},
		{"PUT", "/maps/quotas/a%E2%80%AEb", `{"quotas":[]}`, 400, name},
		{"GET", "/maps/usage?organization=a&from=2026-06-30T23:59:60Z", "", 400, "from: must be a date"},
		{"POST", "/maps/quotas/a", `{"quotas":[]}`, 405, "method not allowed"},
		{"GET", "/maps/quotas/", "", 404, "not found"},
		{"GET", "/maps/quotas/a/b", "", 404, "not found"},
	} {
		a := s.AdminDo(tc.method, tc.path, tc.body)
		if a.Status != tc.status || a.Status != 200 && !strings.HasPrefix(a.Body, `{"error":"`+tc.want) ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, a.Status, a.Body)
		}
	}
	if a := s.AdminDo(http.MethodPost, "/maps/quotas/a", ""); a.Header.Get("Allow") != "DELETE, GET, HEAD, PUT" {
		t.Errorf("Allow %q", a.Header.Get("Allow"))
	}
}

// TestOddOrganizations: a name that looks like a path is one name, and no other organization's.
func TestOddOrganizations(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	const nothing = `{"quotas":[{"scope":"*","unit":"requests","window":"month","limit":0}]}`
	for _, name := range []string{
		"..", "a/../acme", "%2F", "acme/", "?", "{organization}", "acme%00",
	} {
		path := "/maps/quotas/" + strings.ReplaceAll(url.PathEscape(name), ".", "%2E")
		var got app.Quotas
		a := s.AdminDo(http.MethodPut, path, nothing)
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != 200 || got.Organization != name ||
			len(got.Quotas) != 1 {
			t.Errorf("%q: %d %s: %v", name, a.Status, a.Body, err)
		}
		for organization, want := range map[string]int{name: 429, "acme": 200} {
			if _, token := s.Token(organization, "TILE"); s.Do(http.MethodGet, "/guarded", token, "").Status != want {
				t.Errorf("after quotas of %q: a request of %q is not %d", name, organization, want)
			}
		}
		a = s.AdminDo(http.MethodGet, "/maps/usage?step=month&organization="+url.QueryEscape(name), "")
		if a.Status != 200 || !strings.Contains(a.Body, `"requests":0,"refused":1`) {
			t.Errorf("usage of %q: %d %s", name, a.Status, a.Body)
		}
	}
}
