package app

import (
	"net"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
)

// Change is a committed change of an account.
type Change struct {
	// Kind is the last part of the event's name: created, updated, suspended, activated, revoked or deleted.
	Kind string
	// Account is the account after the change, or before its deletion.
	Account account.Account
	// Actor is who made the change: "user:<sub>", or the id of an account.
	Actor string
	// Changed lists the fields whose values changed.
	Changed []string
	// RemoteIP is where the request came from.
	RemoteIP string
}

// Record writes a change to the log and emits it as an event, without making the caller wait.
func (a *App) Record(c Change) {
	if c.Changed == nil {
		c.Changed = []string{}
	}
	a.logger.Info("account "+c.Kind,
		zap.String("account_id", c.Account.ID),
		zap.String("organization", c.Account.OrganizationID),
		zap.String("actor", c.Actor),
		zap.Strings("changed", c.Changed),
		zap.String("status", string(c.Account.Status)),
		zap.Bool("is_admin", c.Account.IsAdmin),
		zap.Stringer("scopes", c.Account.Scopes),
		zap.String("remote_ip", c.RemoteIP))
	a.shared.events.put(event{app: a, logger: a.logger, name: "maps.account." + c.Kind, data: map[string]any{
		"account_id":   c.Account.ID,
		"organization": c.Account.OrganizationID,
		"actor":        c.Actor,
		"changed":      c.Changed,
	}})
}

// RecordEnded counts the grants that an exchange ended because there were too many, and logs them at most once a
// minute.
func (a *App) RecordEnded(t credential.Tokens) {
	if t.Ended == 0 {
		return
	}
	a.shared.metrics.endedGrants.Add(float64(t.Ended))
	now, logged := time.Now().UnixNano(), &a.shared.endedLogged
	if last := logged.Load(); now-last >= int64(time.Minute) && logged.CompareAndSwap(last, now) {
		a.logger.Warn("an exchange ended the oldest refresh token of its accounts, because they had more than max_grants; "+
			"refresh tokens instead of exchanging again, or raise the limit",
			zap.String("account_id", t.Client),
			zap.String("organization", t.Organization),
			zap.Int("max_grants", a.config.MaxGrants))
	}
}

// RecordReuse records that a refresh token was used again after its rotation, which ended its grant.
func (a *App) RecordReuse(t credential.Tokens, remoteIP string) {
	a.logger.Warn("refresh token used again after rotation; its grant has been ended",
		zap.String("grant", t.Grant),
		zap.String("account_id", t.Client),
		zap.String("organization", t.Organization),
		zap.String("remote_ip", remoteIP))
	a.shared.events.put(event{app: a, logger: a.logger, name: "maps.token.reused", data: map[string]any{
		"grant":        t.Grant,
		"account_id":   t.Client,
		"organization": t.Organization,
	}})
}

// RemoteIP returns the IP address of the client that a request came from, as Caddy sees it behind trusted proxies.
func RemoteIP(r *http.Request) string {
	if ip, ok := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string); ok {
		return ip
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
