package accounts

import (
	"errors"
	"net/http"
	"slices"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/bearer"
	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

// caller is who makes a request.
type caller struct {
	organization string
	actor        string // "user:<sub>", or the id of an account
	// user tells a person from an account, which may do less.
	user   bool
	scopes account.ScopeSet // of an account's token
	behind []string         // the accounts behind an account's token
}

// authenticate finds out who makes a request. Tokens are taken from the Authorization header alone.
func (a *Accounts) authenticate(r *http.Request, session *mapsapp.Session) (caller, error) {
	token, err := bearer.FromHeader(r.Header)
	switch {
	case err != nil:
		return caller{}, refused{apierror.Unauthorized(true), err.Error()}
	case token == "":
		return caller{}, refused{apierror.Unauthorized(false), "no token"}
	case a.isAccessToken(token):
		return a.authenticateAccount(r, session, token)
	}
	user, err := session.Authority.VerifyUser(r.Context(), token)
	if err != nil {
		return caller{}, err
	}
	return caller{organization: user.Organization, actor: "user:" + user.Subject, user: true}, nil
}

// isAccessToken chooses the verifier, by the issuer and type that a token claims to have. The verifier believes neither.
func (a *Accounts) isAccessToken(token string) bool {
	var claims jwt.RegisteredClaims
	parsed, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	return err == nil && parsed.Header["typ"] == "at+jwt" && claims.Issuer == a.app.Issuer
}

func (a *Accounts) authenticateAccount(r *http.Request, session *mapsapp.Session, token string) (caller, error) {
	if !a.acceptsAccessTokens() {
		return caller{}, refused{apierror.Unauthorized(true), "access tokens are not accepted here"}
	}
	if a.app.TooStale(session) {
		return caller{}, errors.New("the store has not answered for longer than max_stale")
	}
	id, err := session.Authority.VerifyAccess(r.Context(), token)
	if err != nil {
		return caller{}, err
	}
	if !id.Admin {
		return caller{}, refused{apierror.InsufficientScope(""), "an account behind the access token is no administrator"}
	}
	return caller{
		organization: id.Organization, actor: id.Client, scopes: id.Scopes, behind: []string{id.Client, id.Server},
	}, nil
}

// mayChange refuses what an account may not do to another one. It takes a user to change administrators, so that automation
// that was taken over cannot lock people out or give itself more.
func (c *caller) mayChange(target *account.Account) error {
	switch {
	case c.user:
		return nil
	case target.IsAdmin:
		return refused{apierror.InsufficientScope(""), "an account may not change an administrator"}
	case slices.Contains(c.behind, target.ID):
		return refused{apierror.InsufficientScope(""), "an account may not change itself"}
	}
	return nil
}

// mayGrant refuses scopes that an account does not have itself. had are those that its target has already.
func (c *caller) mayGrant(scopes, had account.ScopeSet) error {
	if !c.user && !(c.scopes | had).Has(scopes) {
		return refused{apierror.InsufficientScope(""), "an account may not grant a scope that its token lacks"}
	}
	return nil
}

// mayMakeAdmin refuses to let an account make administrators.
func (c *caller) mayMakeAdmin(admin bool) error {
	if !c.user && admin {
		return refused{apierror.InsufficientScope(""), "an account may not make an administrator"}
	}
	return nil
}
