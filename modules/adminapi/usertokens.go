package adminapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/modules/mapsapp"
)

// What a request for a user token need not say.
const (
	defaultSubject = "operator"
	defaultTTL     = time.Hour
)

// UserToken is a user token that was just minted.
type UserToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt"` // UTC
}

func mintUserToken(app *mapsapp.App, w http.ResponseWriter, r *http.Request) error {
	memory := app.Body(r)
	defer memory.Release()
	body, err := httpjson.ReadObject(r, httpjson.SmallBody, &memory)
	if err != nil {
		return err
	}
	organization, subject, ttl, err := parseMint(body)
	if err != nil {
		return err
	}
	if !app.LocalUsers() {
		return apierror.Error{Status: http.StatusForbidden, Message: "the configuration turns locally minted user tokens off"}
	}
	session, err := app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	token, user, expires, err := session.Authority.MintUser(r.Context(), organization, subject, ttl)
	switch {
	case errors.Is(err, credential.ErrMint):
		return apierror.FailedValidation(err.Error())
	case err != nil:
		return err
	}
	app.Logger().Info("user token minted",
		zap.String("jti", user.ID),
		zap.String("organization", user.Organization),
		zap.String("subject", user.Subject),
		zap.Time("expires_at", expires),
		zap.String("remote_addr", r.RemoteAddr))
	httpjson.Write(w, http.StatusCreated, UserToken{token, expires.UTC()})
	return nil
}

func parseMint(body httpjson.Object) (organization, subject string, ttl time.Duration, err error) {
	fail := func(message string) (string, string, time.Duration, error) {
		return "", "", 0, apierror.FailedValidation(message)
	}
	if err := body.Only("organization", "subject", "ttl"); err != nil {
		return fail(err.Error())
	}
	organization, present, err := body.String("organization")
	switch {
	case err != nil:
		return fail(err.Error())
	case !present:
		return fail("organization: missing")
	}
	subject, present, err = body.String("subject")
	if err != nil {
		return fail(err.Error())
	}
	if !present {
		subject = defaultSubject
	}
	text, present, err := body.String("ttl")
	if err != nil {
		return fail(err.Error())
	}
	ttl = defaultTTL
	if present {
		if ttl, err = caddy.ParseDuration(text); err != nil {
			return fail("ttl: must be a duration like 1h or 30m")
		}
	}
	return organization, subject, ttl, nil
}
