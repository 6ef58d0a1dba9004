package access

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

const (
	formType = "application/x-www-form-urlencoded"

	// error codes of OAuth 2 (RFC 6749, section 5.2)
	invalidRequest     = "invalid_request"
	invalidClient      = "invalid_client"
	invalidGrant       = "invalid_grant"
	invalidScope       = "invalid_scope"
	unauthorizedClient = "unauthorized_client"
	unsupportedGrant   = "unsupported_grant_type"
)

// grantDescriptions describe refusals by their code, without telling the reason.
var grantDescriptions = map[string]string{
	invalidClient:      "the client token or the server token is not valid",
	invalidGrant:       "the refresh token is not valid",
	invalidScope:       "scope: the service accounts do not have all of these scopes",
	unauthorizedClient: "the two service accounts have no scope in common",
}

// grantRefusal is a refusal with its code of OAuth 2.
type grantRefusal struct {
	error
	code string
}

func (g grantRefusal) Unwrap() error { return g.error }

func (g grantRefusal) answer() apierror.Error {
	if hint := hintOf(g); hint != "" {
		return apierror.OAuthError(g.code, hint)
	}
	return apierror.OAuthError(g.code, grantDescriptions[g.code])
}

type grantAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// token is the token endpoint of OAuth 2 (RFC 6749, sections 4.4 and 6). The client token is the client's id, and the
// server token its secret.
func (t *Tokens) token(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Pragma", "no-cache")
	if r.Method != http.MethodPost {
		return apierror.MethodNotAllowed(http.MethodPost)
	}
	form, err := t.readForm(r)
	if err != nil {
		return err
	}
	client, secret, err := clientOf(r, form)
	if err != nil {
		return err
	}
	var scopes account.ScopeSet
	for word := range strings.FieldsSeq(form.Get("scope")) {
		scope := account.Scope(word).Set() & t.app.AllowedScopes()
		if scope == 0 {
			return apierror.OAuthError(invalidScope, "scope: unknown scope")
		}
		scopes |= scope
	}
	refresh := form.Get("refresh_token")
	serve, refusal, needsSecret := t.exchange, invalidClient, true
	switch form.Get("grant_type") {
	case "client_credentials":
		if client == "" {
			return apierror.OAuthError(invalidClient, "client_id: missing")
		}
	case "refresh_token":
		if refresh == "" {
			return apierror.OAuthError(invalidRequest, "refresh_token: missing")
		}
		serve, refusal, needsSecret = t.refresh, invalidGrant, t.RefreshRequiresServerToken
	case "":
		return apierror.OAuthError(invalidRequest, "grant_type: missing")
	default:
		return apierror.OAuthError(unsupportedGrant, "grant_type: must be client_credentials or refresh_token")
	}
	if needsSecret && secret == "" {
		return apierror.OAuthError(invalidClient, "client_secret: missing")
	}
	session, err := t.app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	tokens, err := serve(r, session, credentials{
		client:  given{"client_id", client, credential.KindClient},
		server:  given{"client_secret", secret, credential.KindServer},
		refresh: given{"refresh_token", refresh, credential.KindRefresh},
		scopes:  scopes,
	})
	switch {
	case errors.Is(err, credential.ErrHolder):
		return grantRefusal{err, invalidClient}
	case errors.Is(err, credential.ErrInvalid):
		return grantRefusal{err, refusal}
	case errors.Is(err, credential.ErrNoScope) && scopes != 0:
		return grantRefusal{err, invalidScope}
	case errors.Is(err, credential.ErrNoScope):
		return grantRefusal{err, unauthorizedClient}
	case err != nil:
		return err
	}
	request.WriteJSON(w, http.StatusOK, grantAnswer{tokens.Access, "Bearer", int64(tokens.ExpiresIn / time.Second),
		tokens.Refresh, tokens.Scopes.String()})
	return nil
}

// readForm reads a form without repeated parameters of OAuth. Others are ignored, as is the query.
func (t *Tokens) readForm(r *http.Request) (url.Values, error) {
	if _, _, err := request.ContentType(r, formType); err != nil {
		return nil, apierror.OAuthError(invalidRequest, "Content-Type: must be "+formType)
	}
	memory := t.app.Body(r)
	defer memory.Release()
	body, err := request.ReadBody(r, request.SmallBody, &memory)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, apierror.OAuthError(invalidRequest, "body: must be "+formType)
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "refresh_token", "scope"} {
		if len(form[name]) > 1 {
			return nil, apierror.OAuthError(invalidRequest, name+": appears more than once")
		}
	}
	return form, nil
}

// clientOf returns the id and the secret of the client, which it sends in the form or by HTTP Basic authentication
// (RFC 6749, section 2.3.1). They are empty if they are missing.
func clientOf(r *http.Request, form url.Values) (id, secret string, err error) {
	id, secret = form.Get("client_id"), form.Get("client_secret")
	switch headers := r.Header["Authorization"]; {
	case len(headers) == 0:
		return id, secret, nil
	case len(headers) > 1:
		return "", "", apierror.OAuthError(invalidRequest, "Authorization: appears more than once")
	case secret != "":
		return "", "", apierror.OAuthError(invalidRequest, "client_secret: sent together with an Authorization header")
	}
	user, password, ok := r.BasicAuth()
	user, err = url.QueryUnescape(user)
	password, err2 := url.QueryUnescape(password)
	switch {
	case !ok || err != nil || err2 != nil:
		return "", "", apierror.OAuthError(invalidClient, "Authorization: must be Basic, of client token and server token")
	case id != "" && id != user:
		return "", "", apierror.OAuthError(invalidRequest, "client_id: not the one of the Authorization header")
	}
	return user, password, nil
}
