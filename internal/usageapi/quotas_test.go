package usageapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usageapi"
)

func TestQuotas(t *testing.T) {
	const good = `{"scope":"TILE","unit":"requests","window":"day","limit":5}`
	const noLimit = `{"scope":"*","unit":"units","window":"day"`
	const first, second = "quotas: element 0: ", "quotas: element 1: "
	const list, limit = "quotas: must be an array of objects", "limit: must be a whole number from 0 to 9007199254740991"
	for body, want := range map[string]string{
		``: "[]",
		good + `,{"limit":1e3,"window":"month","unit":"units","scope":"*"}`: "[5 requests of TILE a day 1000 units a month]",
		`null`:                                         list,
		`"TILE"`:                                       list,
		good + `,` + noLimit + `,"limit":"1"}`:         second + limit,
		noLimit + `,"limit":1.5}`:                      first + limit,
		noLimit + `,"limit":9007199254740992}`:         first + limit,
		noLimit + `}`:                                  first + "limit: missing",
		noLimit + `,"limit":5,"max":1}`:                first + "max: unknown field",
		noLimit + `,"limit":5,"unit":"units"}`:         first + "unit: appears more than once",
		`{"unit":"requests","window":"day","limit":1}`: first + "scope: missing",
		`{"scope":1,"unit":"requests","window":"day","limit":1}`:  first + "scope: must be a string",
		`{"scope":"all","unit":"units","window":"day","limit":1}`: first + `scope: must be "*" or one of ` + scopes,
		`{"scope":"*","unit":"bytes","window":"day","limit":1}`:   first + "unit: must be requests or units",
		`{"scope":"*","unit":"units","window":"week","limit":1}`:  first + "window: must be minute, day or month",
		good + `,` + good: second + "there is another one for requests of TILE in a day",
		good + strings.Repeat(`,`+good, account.MaxQuotas): fmt.Sprintf("quotas: must be at most %d", account.MaxQuotas),
	} {
		list := `[` + body + `]`
		body, err := httpjson.ParseObject([]byte(`{"quotas":` + list + `}`))
		if err != nil {
			t.Fatal(err)
		}
		quotas, present, err := usageapi.Quotas(body)
		got := fmt.Sprint([]account.Quota(quotas))
		if err != nil {
			got = err.Error()
		}
		if got != want || !present {
			t.Errorf("%s: got %s, want %s", list, got, want)
		}
	}
	if _, present, err := usageapi.Quotas(httpjson.Object{}); present || err != nil {
		t.Errorf("without the field: %v %v", present, err)
	}
}

func TestUsed(t *testing.T) {
	totals := []usage.Total{
		{Scope: account.ScopeTile, Window: account.WindowDay, Requests: 1, Units: 10},
		{Scope: account.ScopeONM, Window: account.WindowDay, Requests: 2, Units: 20},
		{Scope: account.ScopeTile, Window: account.WindowMonth, Requests: 4, Units: 40},
	}
	for quota, want := range map[account.Quota]int64{
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowDay}:    1,
		{Scope: "*", Unit: account.UnitRequests, Window: account.WindowDay}:       3,
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowDay}:          30,
		{Scope: "TILE", Unit: account.UnitUnits, Window: account.WindowMonth}:     40,
		{Scope: "ONM", Unit: account.UnitRequests, Window: account.WindowMonth}:   0,
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowMinute}: 0,
	} {
		if got := usageapi.Used(quota, totals); got != want {
			t.Errorf("%v: got %d, want %d", quota, got, want)
		}
	}
}
