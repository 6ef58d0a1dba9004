package account

import (
	"strings"
	"testing"
	"time"
)

// TestSpan: windows are those of the calendar in UTC, in whichever zone the moment is given.
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
		start, end := tc.window.Span(at.In(zone))
		if got := [2]string{start.Format(time.RFC3339), end.Format(time.RFC3339)}; err != nil || got != [2]string{tc.start, tc.end} {
			t.Errorf("%s of %s is %v, want %s to %s", tc.window, tc.at, got, tc.start, tc.end)
		}
	}
}

func TestCheckQuotas(t *testing.T) {
	day := Quota{EveryScope, UnitRequests, WindowDay, 1000}
	for want, lists := range map[string][][]Quota{
		"": {nil, {day, {"TILE", UnitRequests, WindowDay, 1}, {"GONE", UnitRequests, WindowDay, 1}, {"*", UnitUnits, WindowDay, 1}, {"*", UnitRequests, WindowMinute, 0},
			{"*", UnitRequests, WindowMonth, MaxQuotaLimit}}},
		"element 1: scope: must be":                       {{day, {"tile", UnitRequests, WindowDay, 1}}},
		"element 0: scope: must be":                       {{{"", UnitRequests, WindowDay, 1}}},
		"element 0: unit: must be requests or units":      {{{"*", "bytes", WindowDay, 1}}},
		"element 0: window: must be minute, day or month": {{{"*", UnitRequests, "hour", 1}}},
		"element 0: limit: must be a whole number":        {{{"*", UnitRequests, WindowDay, -1}}, {{"*", UnitUnits, WindowDay, MaxQuotaLimit + 1}}},
		"element 1: there is another one":                 {{day, {"*", UnitRequests, WindowDay, 1}}},
		"must be at most":                                 {make([]Quota, MaxQuotas+1)},
	} {
		for _, list := range lists {
			if err := CheckQuotas(list); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v: %v, want %q", list, err, want)
			}
		}
	}
	const want = `element 1: scope: must be "*" or one of [TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING]`
	if err := CheckQuotaScopes([]Quota{day, {Scope: "GONE"}}, ServiceScopes); err == nil || err.Error() != want {
		t.Errorf("a scope that is not allowed: %v", err)
	}
}
