package account_test

import (
	"fmt"
	"net/netip"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Bounds say from which pages and networks an account's tokens may be used.
func ExampleBounds() {
	bounds, err := account.NewBounds(account.Restrictions{
		Origins: []string{"https://*.example.com"}, Networks: []string{"192.0.2.0/24"},
	})
	if err != nil {
		panic(err)
	}
	client := netip.MustParseAddr("192.0.2.7")
	fmt.Printf("%q\n", bounds.Allow("https://shop.example.com", "", client))
	fmt.Printf("%q\n", bounds.Allow("https://example.org", "", client))
	fmt.Printf("%q\n", bounds.Allow("https://shop.example.com", "", netip.MustParseAddr("198.51.100.7")))
	// Output:
	// ""
	// "origin not allowed"
	// "network not allowed"
}

func ExampleParseScopeSet() {
	scopes, err := account.ParseScopeSet("TILE DIRECTION")
	if err != nil {
		panic(err)
	}
	fmt.Println(scopes.Has(account.ScopeTile.Set()), scopes.Has(account.ScopeMatrix.Set()))
	// Output:
	// true false
}
