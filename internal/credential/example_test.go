package credential_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
	"github.com/mapsedge/caddy-maps/internal/credential"
)

// The two long-lived tokens of an account are exchanged for an access token, which is refused as soon as the account is
// suspended.
func Example() {
	ctx := context.Background()
	accounts := account.NewLive(accounttest.NewMemory())
	authority, err := credential.New(ctx, credential.Config{
		Issuer: "https://maps.example.com", Audience: "maps", Algorithm: "EdDSA",
		AccessTTL: 15 * time.Minute, RefreshTTL: 24 * time.Hour,
	}, accounts, nil)
	if err != nil {
		panic(err)
	}
	defer authority.Close()

	a := account.Account{
		ID: credential.NewAccountID(time.Now()), OrganizationID: "acme", Platform: "WEB", Status: account.StatusActive,
		Scopes: account.Scopes{account.ScopeTile}, Version: 1,
	}
	client, server, err := credential.NewAccountTokens(&a)
	if err != nil {
		panic(err)
	}
	if err := accounts.CreateAccount(ctx, a); err != nil {
		panic(err)
	}
	tokens, err := authority.Exchange(ctx, client, server)
	if err != nil {
		panic(err)
	}
	identity, err := authority.VerifyAccess(ctx, tokens.Access)
	fmt.Println(identity.Organization, identity.Scopes, tokens.ExpiresIn, err)

	_, _, err = accounts.UpdateAccount(ctx, a.ID, func(a *account.Account) (bool, error) {
		a.Status = account.StatusSuspended
		return true, nil
	})
	if err != nil {
		panic(err)
	}
	_, err = authority.VerifyAccess(ctx, tokens.Access)
	fmt.Println(err)
	// Output:
	// acme TILE 15m0s <nil>
	// account suspended
}
