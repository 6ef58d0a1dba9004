package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// Defaults of a request for a user token.
const (
	defaultSubject = "operator"
	defaultTTL     = time.Hour
)

// UserToken is a minted user token.
type UserToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt"` // UTC
}

// mint is the body of a request for a user token.
type mint struct {
	Organization string  `json:"organization"`
	Subject      string  `json:"subject"`
	TTL          *string `json:"ttl"`
	New          bool    `json:"new"` // the organization may have no account
}

func mintUserToken(app *App, w http.ResponseWriter, r *http.Request) error {
	memory := app.Body(r)
	defer memory.Release()
	body := mint{Subject: defaultSubject}
	if err := request.ReadObject(r, request.SmallBody, &memory, &body); err != nil {
		return err
	}
	ttl := defaultTTL
	if body.TTL != nil {
		var err error
		if ttl, err = caddy.ParseDuration(*body.TTL); err != nil {
			return apierror.FailedValidation("ttl: must be a duration like 1h or 30m")
		}
	}
	if body.Organization == "" {
		return apierror.FailedValidation("organization: missing")
	}
	if err := credential.CheckOrganization(body.Organization); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	if !app.LocalUsers() {
		return apierror.Error{Status: http.StatusForbidden, Message: "the configuration turns locally minted user tokens off"}
	}
	session, err := app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	if !body.New {
		if err := checkHasAccounts(r.Context(), session.Store, body.Organization); err != nil {
			return err
		}
	}
	token, user, expires, err := session.Authority.MintUser(r.Context(), body.Organization, body.Subject, ttl)
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
	request.WriteJSON(w, http.StatusCreated, UserToken{token, expires.UTC()})
	return nil
}

// checkHasAccounts refuses an organization without accounts, which is mostly a mistyped one.
func checkHasAccounts(ctx context.Context, accounts account.Store, organization string) error {
	const compared = 10_000 // organizations
	found, err := accounts.Accounts(ctx, organization, account.Page{Limit: 1})
	if err != nil || len(found) > 0 {
		return err
	}
	all, err := accounts.Organizations(ctx, "", compared)
	if err != nil {
		return err
	}
	names := make([]string, len(all))
	for i, o := range all {
		names[i] = o.Name
	}
	message := fmt.Sprintf("there is no organization %q; ", organization)
	if meant, ok := text.Closest(organization, names); ok {
		message += "did you mean " + meant + "? If it is new, set new (--new)"
	} else {
		message += "if it is new, set new (--new)"
	}
	return apierror.NotFound(message)
}
