package usage_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usage/usagetest"
)

// Two requests a day are allowed: the third is refused, and the store hears of all of them.
func Example() {
	ctx := context.Background()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	store := usagetest.NewMemory()
	meter := usage.NewMeter(store, func() time.Time { return now }, nil)
	counter := meter.Counter("acme", "sa_1")
	limits := usage.Limits{Account: account.NewLimits([]account.Quota{
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowDay, Limit: 2},
	})}
	for range 3 {
		_, err := counter.Admit(ctx, account.ScopeTile.Set(), limits, now.Unix())
		fmt.Println(err)
	}
	if err := meter.Flush(ctx); err != nil {
		panic(err)
	}
	rows, err := store.Usage(ctx, usage.Query{
		Organization: "acme", Step: account.StepDay, From: now.Truncate(24 * time.Hour), To: now, Limit: 10,
	})
	for _, row := range rows {
		fmt.Println(row.Account, row.Scope, row.Requests, "answered,", row.Refused, "refused", err)
	}
	// Output:
	// <nil>
	// <nil>
	// the account's quota of 2 requests of TILE a day is used up
	// sa_1 TILE 2 answered, 1 refused <nil>
}
