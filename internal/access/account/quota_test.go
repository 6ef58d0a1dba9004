package account

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestSpan: windows are those of the calendar in UTC, whatever the zone of the moment.
func TestSpan(t *testing.T) {
	zone := time.FixedZone("", -5*3600)
	for _, tc := range []struct {
		window         Window
		at, start, end string
	}{
		{WindowMinute, "2026-03-01T10:20:30Z", "2026-03-01T10:20:00Z", "2026-03-01T10:21:00Z"},
		{WindowMinute, "2026-12-31T23:59:59.999999999Z", "2026-12-31T23:59:00Z", "2027-01-01T00:00:00Z"},
		{WindowMinute, "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2027-01-01T00:01:00Z"},
		{WindowDay, "2026-03-01T10:20:30Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"},
		{WindowDay, "2028-02-28T00:00:00Z", "2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z"},
		{WindowMonth, "2028-02-29T23:59:59Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"},
		{WindowMonth, "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339Nano, tc.at)
		if err != nil {
			t.Fatal(err)
		}
		start, end := tc.window.Span(at.In(zone))
		if got := start.Format(time.RFC3339); got != tc.start {
			t.Errorf("%s of %s begins at %s, want %s", tc.window, tc.at, got, tc.start)
		}
		if got := end.Format(time.RFC3339); got != tc.end {
			t.Errorf("%s of %s ends at %s, want %s", tc.window, tc.at, got, tc.end)
		}
	}
}

func TestCheckQuotas(t *testing.T) {
	day := Quota{EveryScope, UnitRequests, WindowDay, 1000}
	with := func(change func(*Quota)) Quota {
		q := day
		change(&q)
		return q
	}
	for _, tc := range []struct {
		name string
		list []Quota
		want string // a part of the error; empty for none
	}{
		{"none", nil, ""},
		{"all kinds", []Quota{day, with(func(q *Quota) { q.Scope = "TILE" }), with(func(q *Quota) { q.Unit = UnitUnits }),
			with(func(q *Quota) { q.Window = WindowMinute }), with(func(q *Quota) { q.Window = WindowMonth })}, ""},
		{"the bounds of limits", []Quota{with(func(q *Quota) { q.Limit = 0 }),
			with(func(q *Quota) { q.Limit, q.Window = MaxQuotaLimit, WindowMonth })}, ""},
		{"scope", []Quota{day, with(func(q *Quota) { q.Scope = "tile" })}, "element 1: scope: must be"},
		{"no scope", []Quota{with(func(q *Quota) { q.Scope = "" })}, "element 0: scope: must be"},
		{"unit", []Quota{with(func(q *Quota) { q.Unit = "bytes" })}, "element 0: unit: must be requests or units"},
		{"window", []Quota{with(func(q *Quota) { q.Window = "hour" })}, "window: must be minute, day or month"},
		{"limit below 0", []Quota{with(func(q *Quota) { q.Limit = -1 })}, "limit: must be a whole number"},
		{"limit too large", []Quota{with(func(q *Quota) { q.Limit = MaxQuotaLimit + 1 })}, "limit: must be a whole number"},
		{"twice", []Quota{day, with(func(q *Quota) { q.Limit = 1 })}, "element 1: there is another one"},
		{"too many", make([]Quota, MaxQuotas+1), "must be at most"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := CheckQuotas(tc.list)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("%v, want no error", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v, want an error with %q", err, tc.want)
			}
		})
	}
}

// TestLimits: which scopes a quota is for.
func TestLimits(t *testing.T) {
	if l := NewLimits(nil); l != nil {
		t.Errorf("%+v, want nil where there are no quotas", l)
	}
	l := NewLimits([]Quota{{EveryScope, UnitRequests, WindowDay, 1}, {"TILE", UnitUnits, WindowMonth, 2}})
	if l.Scopes[0] != allScopes || l.Scopes[1] != ScopeTile.Set() {
		t.Errorf("scopes %v, want all and TILE", l.Scopes)
	}
}

// TestEmptyLists: JSON shows what is not there as empty lists.
func TestEmptyLists(t *testing.T) {
	data, err := json.Marshal(Account{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"scopes":[]`, `"quotas":[]`, `"restrictions":{"origins":[],"networks":[]}`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s has no %s", data, want)
		}
	}
}
