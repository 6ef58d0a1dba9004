package access

import (
	"errors"
	"net/http"
	"slices"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
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

// Why requests are refused here and nowhere else.
var (
	reasonAccessToken   = newReason("access tokens are not accepted here")
	reasonNoAdmin       = newReason("an account behind the access token is no administrator")
	reasonChangesAdmin  = newReason("an account may not change an administrator")
	reasonChangesItself = newReason("an account may not change itself")
	reasonGrants        = newReason("an account may not grant a scope that its token lacks")
	reasonUndoesStatus  = newReason("an account may not make ACTIVE what a user suspended")
	reasonUndoesScopes  = newReason("an account may not give back a scope that a user took away")
	reasonMakesAdmin    = newReason("an account may not make an administrator")
)

func newReason(text string) app.Reason { return app.NewReason(text, app.AccountsHandler) }

// authenticate finds out who makes a request. Tokens are taken from the Authorization header alone.
func (a *Accounts) authenticate(r *http.Request, session *app.Session) (caller, error) {
	token, err := request.HeaderToken(r.Header)
	switch {
	case err != nil:
		return caller{}, refused{apierror.Unauthorized(true), app.BearerReason(err)}
	case token == "":
		return caller{}, refused{apierror.Unauthorized(false), app.ReasonNoToken}
	case a.isAccessToken(token):
		return a.authenticateAccount(r, session, token)
	}
	if a.app.TooStale(session) {
		return caller{}, errStale
	}
	user, err := session.Authority.VerifyUser(r.Context(), token)
	if err != nil {
		return caller{}, err
	}
	return caller{organization: user.Organization, actor: "user:" + user.Subject, user: true}, nil
}

// isAccessToken chooses the verifier, by the issuer and type that a token claims to have. The verifier believes
// neither.
func (a *Accounts) isAccessToken(token string) bool {
	var claims jwt.RegisteredClaims
	parsed, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	return err == nil && parsed.Header["typ"] == "at+jwt" && claims.Issuer == a.app.TokenIssuer()
}

// errStale: what is known of accounts and keys is too old to be believed.
var errStale = errors.New("the store has not answered for longer than max_stale")

func (a *Accounts) authenticateAccount(r *http.Request, session *app.Session, token string) (caller, error) {
	if !a.acceptsAccessTokens() {
		return caller{}, refused{apierror.Unauthorized(true), reasonAccessToken}
	}
	if a.app.TooStale(session) {
		return caller{}, errStale
	}
	id, err := session.Authority.VerifyAccess(r.Context(), token)
	if err != nil {
		return caller{}, err
	}
	if !id.Admin {
		return caller{}, refused{apierror.InsufficientScope(""), reasonNoAdmin}
	}
	if reason, violated := app.CheckRestrictions(id.Bounds, r); violated {
		return caller{}, refused{apierror.Restricted(), reason}
	}
	return caller{
		organization: id.Organization, actor: id.Client, scopes: id.Scopes, behind: []string{id.Client, id.Server},
	}, nil
}

// mayChange refuses what an account may not do to another one. It takes a user to change administrators, so that
// automation that was taken over cannot lock people out or give itself more.
func (c *caller) mayChange(target *account.Account) error {
	switch {
	case c.user:
		return nil
	case target.IsAdmin:
		return refused{apierror.InsufficientScope(""), reasonChangesAdmin}
	case slices.Contains(c.behind, target.ID):
		return refused{apierror.InsufficientScope(""), reasonChangesItself}
	}
	return nil
}

// mayGrant refuses scopes that an account does not have itself. had are those that its target has already.
func (c *caller) mayGrant(scopes, had account.ScopeSet) error {
	if !c.user && !(c.scopes | had).Has(scopes) {
		return refused{apierror.InsufficientScope(""), reasonGrants}
	}
	return nil
}

// mayUndo refuses that an account undoes what a user did to another one, so that automation that was taken over
// cannot go on with what somebody has stopped.
func (c *caller) mayUndo(before, after *account.Account) error {
	if c.user {
		return nil
	}
	switch status, scopes := before.Holds.Allow(before, after); {
	case !status:
		return refused{apierror.InsufficientScope(""), reasonUndoesStatus}
	case !scopes:
		return refused{apierror.InsufficientScope(""), reasonUndoesScopes}
	}
	return nil
}

// hold writes down who narrowed an account. status and scopes are whether the caller named them: a user who suspends
// what is suspended already wants it suspended.
func (c *caller) hold(before, after *account.Account, status, scopes bool) {
	if c.user {
		after.Holds = before.Holds.ByPerson(before, after, status, scopes)
	} else {
		after.Holds = before.Holds.ByAutomation(before, after)
	}
}

// mayMakeAdmin refuses to let an account make administrators.
func (c *caller) mayMakeAdmin(admin bool) error {
	if !c.user && admin {
		return refused{apierror.InsufficientScope(""), reasonMakesAdmin}
	}
	return nil
}
