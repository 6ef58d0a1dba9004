package usageapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

var now = time.Date(2026, 3, 31, 10, 30, 0, 0, time.UTC)

const scopes = "[TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING]"

func TestTimes(t *testing.T) {
	for query, want := range map[string]string{ // step, from and to
		"":                                   "day 2026-03-02T00 2026-04-01T00",
		"step=hour":                          "hour 2026-03-30T11 2026-03-31T11",
		"step=month":                         "month 2025-04-01T00 2026-04-01T00",
		"to=2026-03-31":                      "day 2026-03-01T00 2026-03-31T00",
		"to=2026-03-31T00:00:01Z":            "day 2026-03-02T00 2026-04-01T00",
		"from=2026-01-31T23:59:59Z":          "day 2026-01-31T00 2026-04-01T00",
		"from=2026-01-31T23:59:59-01:00":     "day 2026-02-01T00 2026-04-01T00",
		"from=2026-02-03&step=month":         "month 2026-02-01T00 2026-04-01T00",
		"from=2026-02-03&to=2026-02-04":      "day 2026-02-03T00 2026-02-04T00",
		"from=0001-01-01&to=2026-02-04":      "day 1970-01-01T00 2026-02-04T00",
		"to=9999-12-31T23:59:59.5Z&step=day": "day 9999-12-02T00 10000-01-01T00",
		"cursor=&limit=1000":                 "day 2026-03-02T00 2026-04-01T00",
	} {
		r := must(usageapi.Parse(query, "acme", now))
		const layout = "2006-01-02T15"
		if got := fmt.Sprint(r.Step, " ", r.From.Format(layout), " ", r.To.Format(layout)); got != want ||
			r.From.Location() != time.UTC || r.Organization != "acme" || r.After != nil {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}

func TestWrongParameters(t *testing.T) {
	const (
		times = ": must be a date such as 2026-05-01, or a time such as 2026-05-01T10:00:00Z"
		limit = "limit: must be a whole number from 1 to 1000"
		id    = "account: must be the id of a service account"
		known = " parameter; there are from, to, step, account, scope, limit, cursor"
	)
	for want, queries := range map[string][]string{
		"step: must be hour, day or month":                               {"step=week", "step=minute", "step="},
		`scope: must be "*", one of ` + scopes + ", or a declared scope": {"scope=tile", "scope="},
		id:                                    {"account=", "account=sa_1%00", "account=" + strings.Repeat("a", 65)},
		limit:                                 {"limit=0", "limit=1001", "limit=1.5", "limit=99999999999999999999"},
		"from" + times:                        {"from=yesterday", "from="},
		"to" + times:                          {"to=2026-02-30"},
		"from: must be before to":             {"from=2026-05-01", "from=2026-03-02&to=2026-03-02"},
		"query: is not well-formed":           {"from=%zz"},
		"from: is too long":                   {"from=" + strings.Repeat("2", 513)},
		"from: appears more than once":        {"from=1&%66rom=1"},
		`"Account": unknown` + known:          {"Account=x"},
		`"organization": unknown` + known:     {"organization=globex"},
		"cursor: is not one that a page gave": {"cursor=x", "cursor=" + encode("1:a:b")},
		"cursor: is too long":                 {"cursor=" + strings.Repeat("M", 600)},
	} {
		for _, query := range queries {
			if _, err := usageapi.Parse(query, "acme", now); err == nil || err.Error() != want {
				t.Errorf("%q: got %v, want %s", query, err, want)
			}
		}
	}
	if _, err := usageapi.ParseNamed("step=day", now); err == nil || err.Error() != "organization: missing" {
		t.Errorf("no organization: %v", err)
	}
}

func encode(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// filled returns a store in which 3 accounts used 2 scopes on 5 days, and on the next one, which comes while a list is read.
func filled(t *testing.T) *store.Store {
	t.Helper()
	s := must(store.OpenSQLite(filepath.Join(t.TempDir(), "accounts.db"), zap.NewNop()))
	t.Cleanup(func() { _ = s.Close() })
	flush := usage.Flush{Node: "a", Number: 1}
	for n := range 36 {
		day, i := n/6-1, n%2
		flush.Counts = append(flush.Counts, usage.Count{
			Subject: usage.Subject{Organization: "acme", Account: fmt.Sprint("sa_", 1+n%6/2)},
			Scope:   []account.Scope{account.ScopeDirection, account.ScopeTile}[i],
			Start:   now.Truncate(time.Hour).AddDate(0, 0, -day).Unix(),
			Usage:   account.Usage{Requests: int64(day*10 + i + 11), Refused: 2, Errors: 1, Units: 7},
		})
	}
	if err := s.AddUsage(t.Context(), flush); err != nil {
		t.Fatal(err)
	}
	return s
}

// must returns a value that comes without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// meter is one whose store is down.
type meter struct{}

func (meter) Flush(context.Context) error { return errors.New("the store is down") }

// get serves a page at a time.
func get(t *testing.T, s usage.Store, query string, at time.Time, accept string) *httptest.ResponseRecorder {
	t.Helper()
	r := must(usageapi.Parse(query, "acme", at))
	req := httptest.NewRequest(http.MethodGet, "/usage?"+query, nil)
	req.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	if err := r.Serve(w, req, meter{}, s); err != nil {
		t.Fatal(err)
	}
	return w
}

func pageOf(t *testing.T, w *httptest.ResponseRecorder) (page usageapi.Page) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || !strings.Contains(w.Body.String(), `"nextCursor":`) {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return page
}

// TestPages: pages of any size are the same list, in JSON and in CSV, also where the next day begins meanwhile.
func TestPages(t *testing.T) {
	s := filled(t)
	for _, tc := range []struct {
		query string
		rows  int
	}{
		{"", 30}, {"account=sa_2", 10}, {"scope=TILE", 15}, {"account=sa_2&scope=TILE&step=hour&from=2026-03-01", 5},
		{"from=2026-03-28&to=2026-03-30", 12}, {"account=sa_9", 0}, {"step=month&from=2026-03-31", 6},
	} {
		whole := get(t, s, tc.query, now, "")
		want := pageOf(t, whole)
		if len(want.Data) != tc.rows || want.NextCursor != nil || whole.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%q: %d rows, want %d; next %v", tc.query, len(want.Data), tc.rows, want.NextCursor)
		}
		wantCSV := get(t, s, tc.query, now, "text/csv").Body.String()
		for _, limit := range []int{1, 4, 6, 30} {
			at, query := now, fmt.Sprintf("%s&limit=%d", tc.query, limit)
			var got []usage.Row
			for cursor := ""; ; {
				page := pageOf(t, get(t, s, query+"&cursor="+cursor, at, ""))
				if got = append(got, page.Data...); page.NextCursor == nil {
					break
				}
				cursor, at = *page.NextCursor, at.AddDate(0, 0, 1)
			}
			if lines := readLinks(t, s, query); fmt.Sprint(got) != fmt.Sprint(want.Data) || lines != wantCSV {
				t.Errorf("%q by %d: %v, and as CSV %s, want %v", tc.query, limit, got, lines, want.Data)
			}
		}
	}
}

// readLinks follows the links of CSV pages and returns all of their lines, that of the names once.
func readLinks(t *testing.T, s usage.Store, query string) string {
	t.Helper()
	at, all := now, ""
	for {
		w := get(t, s, query, at, "text/csv")
		names, lines, _ := strings.Cut(w.Body.String(), "\r\n")
		if all == "" {
			all = names + "\r\n"
		}
		all += lines
		link := w.Header().Get("Link")
		if link == "" {
			return all
		}
		target, _, ok := strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		next, err := url.Parse(target)
		if err != nil || !ok {
			t.Fatalf("Link %q", link)
		}
		query, at = next.RawQuery, at.AddDate(0, 0, 1)
	}
}

func TestCSV(t *testing.T) {
	w := get(t, filled(t), "account=sa_1&scope=TILE&limit=2", now, "text/csv")
	const want = "start,account,scope,requests,refused,errors,units\r\n" +
		"2026-03-27T00:00:00Z,sa_1,TILE,52,2,1,7\r\n2026-03-28T00:00:00Z,sa_1,TILE,42,2,1,7\r\n"
	if h := w.Header(); w.Body.String() != want || h.Get("Content-Type") != "text/csv; charset=utf-8; header=present" ||
		h.Get("Vary") != "Accept" {
		t.Errorf("%v %s", h, w.Body)
	}
}

// TestCursor: a cursor goes on only with its own list.
func TestCursor(t *testing.T) {
	s := filled(t)
	const first = "account=sa_1&from=2026-03-28&to=2026-03-31&limit=1"
	cursor := *pageOf(t, get(t, s, first, now, "")).NextCursor
	parts := strings.Split(string(must(base64.RawURLEncoding.DecodeString(cursor))), ":")
	with := func(i int, part string) string {
		forged := slices.Clone(parts)
		forged[i] = part
		return encode(strings.Join(forged, ":"))
	}
	const other, wrong = "cursor: is that of another list; repeat the parameters of its first page",
		"cursor: is not one that a page gave"
	for _, tc := range []struct{ query, organization, cursor, want string }{
		{first, "acme", cursor, ""},
		{"account=sa_1", "acme", cursor, ""}, // its times are those of the first page
		{"account=sa_1&limit=7", "acme", cursor, ""},
		{first, "globex", cursor, other},
		{"account=sa_2", "acme", cursor, other},
		{"", "acme", cursor, other},
		{"account=sa_1&scope=TILE", "acme", cursor, other},
		{"account=sa_1&step=hour", "acme", cursor, other},
		{"account=sa_1&from=2026-03-29", "acme", cursor, other},
		{"account=sa_1&to=2026-03-30", "acme", cursor, other},
		{first, "acme", with(0, "2"), wrong},
		{first, "acme", with(1, "x"), other},
		{first, "acme", with(2, parts[2]+"1"), wrong},
		{first, "acme", with(2, "-86400"), wrong},
		{first, "acme", with(3, "x"), wrong},
		{first, "acme", with(3, "999999999999999"), wrong},
		{first, "acme", with(4, "0"), wrong},
		{first, "acme", with(4, parts[3]), wrong},
		{first, "acme", with(5, "sa_\x00"), wrong},
		{first, "acme", with(6, "none"), wrong},
		{first, "acme", with(6, "GONE"), ""}, // a scope that is no longer declared
		{"scope=*", "acme", with(6, "*"), other},
		{first, "acme", cursor + "=", wrong},
	} {
		_, err := usageapi.Parse(tc.query+"&cursor="+tc.cursor, tc.organization, now)
		if got := fmt.Sprint(err); err != nil && got != tc.want || err == nil && tc.want != "" {
			t.Errorf("%s for %s: got %v, want %q", tc.query, tc.organization, err, tc.want)
		}
	}
}
