package app

import (
	"cmp"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

func showUsage(app *App, w http.ResponseWriter, r *http.Request) error {
	session, err := app.Session(r.Context())
	if err != nil {
		return err
	}
	defer session.Release()
	request, err := usageapi.ParseNamed(r.URL.RawQuery, session.Store.Now())
	if err == nil {
		err = credential.CheckOrganization(request.Organization)
	}
	if err != nil {
		return apierror.FailedValidation(err.Error())
	}
	return request.Serve(w, r, session.Meter, session.Store)
}

// Quotas are the quotas that all accounts of an organization share.
type Quotas struct {
	Organization string       `json:"organization"`
	Quotas       []QuotaUsage `json:"quotas"`
}

// QuotaUsage is a quota and how much of it is used.
type QuotaUsage struct {
	account.Quota
	Used     int64     `json:"used"`     // in the current window; above the limit if that was lowered
	ResetsAt time.Time `json:"resetsAt"` // UTC, the start of the next window
}

func showQuotas(app *App, w http.ResponseWriter, r *http.Request) error {
	return withQuotas(app, w, r, func(session *Session, organization string) (account.Quotas, error) {
		return session.Store.OrganizationQuotas(r.Context(), organization)
	})
}

func setQuotas(app *App, w http.ResponseWriter, r *http.Request) error {
	memory := app.Body(r)
	defer memory.Release()
	var body struct {
		Quotas *account.Quotas `json:"quotas"`
	}
	if err := request.ReadObject(r, request.SmallBody, &memory, &body); err != nil {
		return err
	}
	if body.Quotas == nil {
		return apierror.FailedValidation("quotas: missing")
	}
	quotas := *body.Quotas
	if err := cmp.Or(account.CheckQuotas(quotas), account.CheckQuotaScopes(quotas, app.AllowedScopes())); err != nil {
		return apierror.FailedValidation("quotas: " + err.Error())
	}
	return withQuotas(app, w, r, func(session *Session, organization string) (account.Quotas, error) {
		return quotas, replaceQuotas(app, r, session, organization, quotas)
	})
}

func removeQuotas(app *App, w http.ResponseWriter, r *http.Request) error {
	session, organization, err := quotasOf(app, r)
	if err != nil {
		return err
	}
	defer session.Release()
	if err := replaceQuotas(app, r, session, organization, nil); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// quotasOf returns a session, which the caller releases, and the organization in the path.
func quotasOf(app *App, r *http.Request) (*Session, string, error) {
	organization := r.PathValue("organization")
	if err := credential.CheckOrganization(organization); err != nil {
		return nil, "", apierror.FailedValidation(err.Error())
	}
	session, err := app.Session(r.Context())
	return session, organization, err
}

func replaceQuotas(app *App, r *http.Request, session *Session, organization string,
	quotas account.Quotas) error {
	err := session.Store.SetOrganizationQuotas(r.Context(), organization, quotas)
	if err == nil {
		app.Logger().Info("quotas of an organization set", zap.String("organization", organization),
			zap.Stringers("quotas", quotas), zap.String("remote_addr", r.RemoteAddr))
	}
	return err
}

// withQuotas answers with the quotas that find returns and how much of each is used.
func withQuotas(app *App, w http.ResponseWriter, r *http.Request,
	find func(*Session, string) (account.Quotas, error)) error {
	session, organization, err := quotasOf(app, r)
	if err != nil {
		return err
	}
	defer session.Release()
	found, err := find(session, organization)
	if err != nil {
		return err
	}
	usageapi.Flush(r.Context(), session.Meter)
	now := session.Store.Now()
	totals, err := session.Store.Totals(r.Context(), organization, []string{""}, now)
	if err != nil {
		return err
	}
	answer := Quotas{Organization: organization, Quotas: []QuotaUsage{}}
	for _, quota := range found {
		_, end := quota.Window.Span(now)
		answer.Quotas = append(answer.Quotas, QuotaUsage{quota, usageapi.Used(quota, totals), end})
	}
	request.WriteJSON(w, http.StatusOK, answer)
	return nil
}
