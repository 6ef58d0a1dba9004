package access

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Tokens)) }

// Tokens serves the endpoints of tokens below `/api/v1/external/`; other paths are 404:
//
// - `POST auth` takes `client_token` and `server_token`, and returns an access token and a refresh token.
// - `POST refresh`, or `POST auth/refresh`, takes `refresh_token` and returns a new access token.
// - `POST token` is for clients of OAuth 2 (RFC 6749). The grant type is `client_credentials`, with the client token as
// `client_id` and the server token as `client_secret`, or `refresh_token`.
// - `POST revoke` takes `refresh_token` and ends its grant, with all access tokens of the same exchange.
// - `GET jwks.json` serves the public keys of access tokens.
type Tokens struct {
	// The path above the endpoints, as this handler sees it: `/` behind a `handle_path` that strips all of it. Default:
	// `/api/v1/external`.
	Prefix string `json:"prefix,omitempty"`

	// Whether a refresh needs the `server_token` too. Default: false.
	RefreshRequiresServerToken bool `json:"refresh_requires_server_token,omitempty"`

	// Whether each refresh gives a new refresh token. For 10 seconds a used one gives another, for clients that lost
	// the response; later use ends the grant. Default: false.
	RefreshRotation bool `json:"refresh_rotation,omitempty"`

	// The origins of web pages that may refresh and revoke tokens, as in `maps_auth`. The exchange is only for
	// backends. Default: none.
	CORS []string `json:"cors,omitempty"`

	app    *app.App
	logger *zap.Logger
	prefix request.Prefix
	cors   *request.CORS
}

const defaultTokensPrefix = "/api/v1/external"

// jwksCacheControl bounds how late a verifier learns of a new key. A new key signs only after that time.
var jwksCacheControl = fmt.Sprintf("public, max-age=%d", int(credential.JWKSMaxAge/time.Second))

// CaddyModule returns the Caddy module information.
func (*Tokens) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.maps_tokens", New: func() caddy.Module { return new(Tokens) }}
}

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (t *Tokens) UnmarshalJSON(data []byte) error { return options.Decode(data, t) }

// Provision finds the app.
func (t *Tokens) Provision(ctx caddy.Context) (err error) {
	t.logger = ctx.Logger()
	if t.prefix, err = app.Prefix(ctx, "prefix", cmp.Or(t.Prefix, defaultTokensPrefix)); err != nil {
		return err
	}
	if t.cors, err = request.NewCORS(t.CORS, http.MethodPost); err != nil {
		return options.Wrap("cors", err)
	}
	t.app, err = app.Get(ctx)
	return err
}

// ServeHTTP implements caddyhttp.MiddlewareHandler. It never calls the next handler.
func (t *Tokens) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	w.Header().Set("Cache-Control", "no-store")
	name, _ := t.prefix.Below(r.URL)
	if name == "/auth/refresh" {
		name = "/refresh"
	}
	if name == "/refresh" || name == "/revoke" {
		if t.cors.Preflight(w, r) {
			return nil
		}
		t.cors.Allow(w.Header(), r)
	}
	style := apierror.Platform
	var err error
	switch name {
	case "/auth":
		err = t.post(w, r, t.exchangeJSON)
	case "/token":
		style, err = apierror.OAuth, t.token(w, r)
	case "/refresh":
		err = t.post(w, r, t.refreshJSON)
	case "/revoke":
		err = t.post(w, r, t.revoke)
	case "/jwks.json":
		err = t.jwks(w, r)
	default:
		err = apierror.NotFound("not found")
	}
	if err != nil {
		style.Write(w, t.answerFor(r, err))
	}
	return nil
}

// answerFor returns the client's response to an error. The true reason goes to the log.
func (t *Tokens) answerFor(r *http.Request, err error) apierror.Error {
	var answer apierror.Error
	var grant grantRefusal
	switch {
	case errors.As(err, &answer):
		return answer
	case errors.As(err, &grant):
		answer = grant.answer()
	case errors.Is(err, credential.ErrInvalid):
		answer = unauthorized(err)
	case errors.Is(err, credential.ErrNoScope):
		answer = apierror.InsufficientScope("")
	default:
		answer = apierror.Unavailable()
	}
	t.app.Metrics().Refused(app.TokensHandler, app.ReasonFor(err))
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.String("reason", err.Error()))
	}
	if c := t.logger.Check(zap.DebugLevel, "request refused"); c != nil {
		c.Write(
			zap.String("reason", err.Error()),
			zap.Int("status", answer.Status),
			zap.String("remote_ip", app.RemoteIP(r)))
	}
	return answer
}

// object is a body with unparsed fields, since fields that an endpoint does not know may have any value.
type object map[string]jsontext.Value

type action func(w http.ResponseWriter, r *http.Request, body object, session *app.Session) error

// post runs an endpoint that takes a JSON object.
func (t *Tokens) post(w http.ResponseWriter, r *http.Request, serve action) error {
	if r.Method != http.MethodPost {
		return apierror.MethodNotAllowed(http.MethodPost)
	}
	memory := t.app.Body(r)
	defer memory.Release()
	var body object
	if err := request.ReadObject(r, request.SmallBody, &memory, &body); err != nil {
		return err
	}
	session, err := t.app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	return serve(w, r, body, session)
}

// required returns string fields that a body must have.
func required(body object, names ...string) ([]string, error) {
	values := make([]string, len(names))
	for i, name := range names {
		raw, present := body[name]
		switch {
		case !present:
			return nil, apierror.FailedValidation(name + ": missing")
		case raw.Kind() != jsontext.KindString:
			return nil, apierror.FailedValidation(name + ": must be a string")
		}
		if err := json.Unmarshal(raw, &values[i]); err != nil {
			return nil, err // impossible: the whole body has been parsed before
		}
	}
	return values, nil
}

type tokensAnswer struct {
	Data tokenPair `json:"data"`
}

type tokenPair struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int64  `json:"expiresIn"`
}

func writeTokens(w http.ResponseWriter, tokens credential.Tokens) {
	expires := int64(tokens.ExpiresIn / time.Second)
	request.WriteJSON(w, http.StatusOK, tokensAnswer{tokenPair{tokens.Access, tokens.Refresh, expires}})
}

// credentials are the tokens that an exchange or a refresh takes. scopes are those wanted; the empty set is for all.
type credentials struct {
	client, server, refresh given
	scopes                  account.ScopeSet
}

func (t *Tokens) exchangeJSON(w http.ResponseWriter, r *http.Request, body object, session *app.Session) error {
	values, err := required(body, "client_token", "server_token")
	if err != nil {
		return err
	}
	tokens, err := t.exchange(r, session, credentials{
		client: given{"client_token", values[0], credential.KindClient},
		server: given{"server_token", values[1], credential.KindServer},
	})
	if err == nil {
		writeTokens(w, tokens)
	}
	return err
}

// exchange makes tokens of a client and a server token, and counts the attempt.
func (t *Tokens) exchange(r *http.Request, session *app.Session, c credentials) (credential.Tokens, error) {
	tokens, err := session.Authority.Exchange(r.Context(), c.client.token, c.server.token, c.scopes)
	count := t.app.Metrics().Exchanges
	switch {
	case errors.Is(err, credential.ErrInvalid):
		count.Invalid.Inc()
	case errors.Is(err, credential.ErrNoScope):
		count.NoScope.Inc()
	case err != nil:
		count.Unavailable.Inc()
	default:
		count.OK.Inc()
		t.app.RecordEnded(tokens)
	}
	return tokens, withHint(err, c.client, c.server)
}

func (t *Tokens) refreshJSON(w http.ResponseWriter, r *http.Request, body object, session *app.Session) error {
	names := []string{"refresh_token"}
	if t.RefreshRequiresServerToken {
		names = append(names, "server_token")
	}
	values, err := required(body, names...)
	if err != nil {
		return err
	}
	c := credentials{refresh: given{"refresh_token", values[0], credential.KindRefresh}}
	if t.RefreshRequiresServerToken {
		c.server = given{"server_token", values[1], credential.KindServer}
	}
	tokens, err := t.refresh(r, session, c)
	if err == nil {
		writeTokens(w, tokens)
	}
	return err
}

// refresh makes an access token of a refresh token. Client and server token are checked if they are given.
func (t *Tokens) refresh(r *http.Request, session *app.Session, c credentials) (credential.Tokens, error) {
	tokens, err := session.Authority.Refresh(r.Context(), c.refresh.token, credential.RefreshOptions{
		RequireServerToken: t.RefreshRequiresServerToken, Rotate: t.RefreshRotation,
		Client: c.client.token, Server: c.server.token, Scopes: c.scopes,
	})
	if errors.Is(err, credential.ErrReused) {
		t.app.RecordReuse(tokens, app.RemoteIP(r))
	}
	return tokens, withHint(err, c.refresh, c.server, c.client)
}

func (t *Tokens) revoke(w http.ResponseWriter, r *http.Request, body object, session *app.Session) error {
	values, err := required(body, "refresh_token")
	if err != nil {
		return err
	}
	if err := session.Authority.Revoke(r.Context(), values[0]); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (t *Tokens) jwks(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return apierror.MethodNotAllowed(http.MethodGet, http.MethodHead)
	}
	session, err := t.app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	keys, err := session.Authority.JWKS(r.Context())
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", jwksCacheControl)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(keys) // the client may have disconnected
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner           = (*Tokens)(nil)
	_ caddyhttp.MiddlewareHandler = (*Tokens)(nil)
)
