package pages

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// Why a visitor gets no token, besides reasons of the account.
var (
	reasonNotLocal = app.NewReason("guest from another machine", app.PlaygroundHandler)
	reasonOrigin   = app.NewReason("guest of another page", app.PlaygroundHandler)
	reasonTooMany  = app.NewReason("too many guests of one address", app.PlaygroundHandler)
)

// guestTokens is how many tokens a client network gets in a minute. A page needs one in eleven minutes.
const guestTokens = 30

// guestScopes returns the scopes that the page uses.
func guestScopes() account.ScopeSet {
	return account.ScopeTile.Set() | account.ScopeDirection.Set() | account.ScopeReverseGeocoding.Set() |
		account.ScopeGeocoding.Set()
}

type guestAnswer struct {
	Data guestToken `json:"data"`
}

type guestToken struct {
	AccessToken string `json:"accessToken"`
	ExpiresIn   int64  `json:"expiresIn"` // seconds
}

// serveGuest gives an access token to the page of an anonymous visitor.
func (p *Playground) serveGuest(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodPost {
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodPost))
		return
	}
	if p.Guest == "" {
		apierror.Platform.Write(w, apierror.NotFound("there are no guests here: a token is needed"))
		return
	}
	switch {
	case !p.Public && !fromHere(r):
		p.refuse(w, r, reasonNotLocal, apierror.Forbidden(
			"guests must be on the server's own machine, unless its configuration says public: paste a token"))
		return
	case !ofOwnPage(r):
		p.refuse(w, r, reasonOrigin, apierror.Forbidden("tokens for guests are for the page of this server alone"))
		return
	}
	if rate := p.guests.Take(app.ClientNetwork(r.Context()), 1); !rate.Allowed {
		p.refuse(w, r, reasonTooMany, apierror.TooManyRequests("too many tokens for this address", rate.Retry))
		return
	}
	tokens, err := p.mint(r.Context())
	if err != nil {
		reason := app.ReasonFor(err)
		answer := apierror.Unavailable()
		if reason != app.ReasonUnavailable {
			// Only the operator can repair this.
			p.logger.Warn("the account gives no tokens to guests: make it active, with the scopes TILE, DIRECTION or "+
				"REVERSEGEOCODING, or name another one", zap.String("account", p.Guest), zap.String("reason", reason.String()))
			answer = apierror.Forbidden("there are no guests at the moment: paste a token")
		}
		p.refuse(w, r, reason, answer)
		return
	}
	request.WriteJSON(w, http.StatusOK, guestAnswer{guestToken{tokens.Access, int64(tokens.ExpiresIn / time.Second)}})
}

func (p *Playground) mint(ctx context.Context) (credential.Tokens, error) {
	session, err := p.app.Session(ctx)
	if err != nil {
		return credential.Tokens{}, err
	}
	defer session.Release()
	return session.Authority.Guest(ctx, p.Guest, guestScopes())
}

func (p *Playground) refuse(w http.ResponseWriter, r *http.Request, reason app.Reason, answer apierror.Error) {
	p.app.Metrics().Refused(app.PlaygroundHandler, reason)
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Add(zap.String("reason", reason.String()))
	}
	apierror.Platform.Write(w, answer)
}

// passedOn reports whether a request has the headers of a proxy.
func passedOn(h http.Header) bool {
	for name := range h {
		switch {
		case strings.HasPrefix(name, "X-Forwarded-"):
			return true
		case slices.Contains(forwarding, name):
			return true
		}
	}
	return false
}

// forwarding are headers of proxies besides X-Forwarded-*.
var forwarding = []string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip"}

// fromHere reports whether a request certainly comes from this machine: both ends of its connection are loopback
// addresses, its host is a loopback host (with DNS rebinding it would be another name), and no proxy has forwarded it.
func fromHere(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !isLoopbackAddress(local.String()) || !isLoopbackAddress(r.RemoteAddr) || passedOn(r.Header) {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

func isLoopbackAddress(address string) bool {
	addr, err := netip.ParseAddrPort(address)
	return err == nil && addr.Addr().Unmap().IsLoopback()
}

// ofOwnPage reports whether the browser says that a page of this site sends the request. Browsers do so for every
// fetch, and pages cannot forge it.
func ofOwnPage(r *http.Request) bool {
	origins := r.Header["Origin"]
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" || len(origins) != 1 {
		return false
	}
	_, host, _ := app.ExternalOrigin(r)
	origin, err := url.Parse(origins[0])
	return err == nil && origin.Host != "" && strings.EqualFold(origin.Host, host)
}
