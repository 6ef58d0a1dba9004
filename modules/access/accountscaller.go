package access

import (
	"errors"
	"net/http"
	"slices"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// caller is who makes a request.
type caller struct {
	organization string
	actor        string // "user:<sub>", or the id of an account
	// user is whether the caller is a person. Accounts may do less.
	user   bool
	scopes account.ScopeSet // of an account's token
	behind []string         // the accounts behind an account's token
}

// The reasons of this handler's own refusals.
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

// authenticate returns who makes a request. Only the Authorization header may carry a token.
func (a *Accounts) authenticate(r *http.Request, session *app.Session) (caller, error) {
	token, err := request.HeaderToken(r.Header)
	switch {
	case err != nil:
		return caller{}, refused{apierror.Unauthorized(true).WithDescription(err.Error()), app.BearerReason(err)}
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
		return caller{}, withHint(err, given{token: token, wanted: credential.KindUser})
	}
	return caller{organization: user.Organization, actor: "user:" + user.Subject, user: true}, nil
}

// isAccessToken chooses the verifier by the token's unverified issuer and type. The verifier checks both.
func (a *Accounts) isAccessToken(token string) bool {
	var claims jwt.RegisteredClaims
	parsed, _, err := jwt.NewParser().ParseUnverified(token, &claims)
	return err == nil && parsed.Header["typ"] == "at+jwt" && claims.Issuer == a.app.TokenIssuer()
}

// errStale: cached accounts and keys are too old to be trusted.
var errStale = errors.New("the store has not answered for longer than max_stale")

func (a *Accounts) authenticateAccount(r *http.Request, session *app.Session, token string) (caller, error) {
	if !a.acceptsAccessTokens() {
		const hint = "this is an access token; a user token belongs here"
		return caller{}, refused{apierror.Unauthorized(true).WithDescription(hint), reasonAccessToken}
	}
	if a.app.TooStale(session) {
		return caller{}, errStale
	}
	id, err := session.Authority.VerifyAccess(r.Context(), token)
	if err != nil {
		return caller{}, withHint(err, given{token: token, wanted: credential.KindAccess})
	}
	if !id.Admin {
		return caller{}, refused{apierror.InsufficientScope(""), reasonNoAdmin}
	}
	if reason, violated := app.CheckRestrictions(id.Restrictions, r); violated {
		return caller{}, refused{apierror.Restricted(), reason}
	}
	return caller{
		organization: id.Organization, actor: id.Client, scopes: id.Scopes, behind: []string{id.Client, id.Server},
	}, nil
}

// mayChange refuses changes that an account may not make. Only users may change administrators, so that a stolen token
// cannot lock people out or gain more rights.
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

// mayGrant refuses scopes that the calling account lacks. had are the scopes that the target has already.
func (c *caller) mayGrant(scopes, had account.ScopeSet) error {
	if !c.user && !(c.scopes | had).Has(scopes) {
		return refused{apierror.InsufficientScope(""), reasonGrants}
	}
	return nil
}

// mayUndo refuses that an account undoes what a user did to another account, so that a stolen token cannot reactivate
// what a user has stopped.
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

// hold records who restricted an account. status and scopes are whether the request has these fields: a user who
// suspends a suspended account locks it.
func (c *caller) hold(before, after *account.Account, status, scopes bool) {
	if c.user {
		after.Holds = before.Holds.ByUser(before, after, status, scopes)
	} else {
		after.Holds = before.Holds.ByAutomation(before, after)
	}
}

// mayMakeAdmin refuses that an account creates administrators.
func (c *caller) mayMakeAdmin(admin bool) error {
	if !c.user && admin {
		return refused{apierror.InsufficientScope(""), reasonMakesAdmin}
	}
	return nil
}
