package app

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// Login configures how the console signs in users of the issuer: by OpenID Connect's authorization code flow with PKCE,
// as a public client, in a window of its own. The provider must know `<address of the console>/signed-in.html` as a
// redirect URI, and must allow the console's origin to read responses of its token endpoint (CORS).
type Login struct {
	// The console's client id at the provider, a client without a secret. Required.
	ClientID string `json:"client_id,omitempty"`

	// The authorization endpoint: https, or http on loopback. It may have a query. Required.
	AuthorizeURL string `json:"authorize_url,omitempty"`

	// The token endpoint: https, or http on loopback. Required.
	TokenURL string `json:"token_url,omitempty"`

	// The scopes to request, separated by spaces. With `openid` among them, the provider must return an ID token, and its
	// nonce is checked. Default: `openid`.
	Scope string `json:"scope,omitempty"`
}

// fields lists the required options.
func (l *Login) fields() []loginField {
	return []loginField{{"client_id", &l.ClientID, false}, {"authorize_url", &l.AuthorizeURL, true},
		{"token_url", &l.TokenURL, true}}
}

type loginField struct {
	name  string
	value *string
	isURL bool
}

// check validates the fields. Values with placeholders are not checked.
func (l *Login) check() error {
	for _, field := range l.fields() {
		if *field.value == "" {
			return options.Errorf(field.name, "missing")
		}
		if !field.isURL || hasPlaceholder(*field.value) {
			continue
		}
		if err := checkEndpoint(*field.value); err != nil {
			return options.Wrap(field.name, err)
		}
	}
	return nil
}

// resolve replaces placeholders and sets the default.
func (l *Login) resolve() error {
	for _, field := range append(l.fields(), loginField{"scope", &l.Scope, false}) {
		if err := replace(field.name, field.value); err != nil {
			return err
		}
	}
	l.Scope = cmp.Or(l.Scope, "openid")
	return nil
}

// checkEndpoint refuses URLs to which a code or a verifier would be sent unencrypted, and those that cannot be written
// into a Content-Security-Policy.
func checkEndpoint(text string) error {
	where, err := url.Parse(text)
	switch {
	case err != nil || where.Host == "" || where.Scheme != "https" && where.Scheme != "http":
		return errors.New("is not an http or https URL")
	case !credential.SafeURL(where):
		return errors.New("must be https, except on loopback: anyone who intercepts the traffic could sign in")
	case where.User != nil || where.Fragment != "":
		return errors.New("must have neither a user nor a fragment")
	case strings.ContainsAny(where.Host, ";, \t'\""):
		return errors.New("has an invalid host")
	}
	return nil
}

func (l *Login) unmarshal(d *caddyfile.Dispenser) error {
	return options.Block(d, "login", l.check,
		options.Option{Name: "client_id", Args: "<id>", Read: options.Text(&l.ClientID)},
		options.Option{Name: "authorize_url", Args: "<url>", Read: options.Text(&l.AuthorizeURL)},
		options.Option{Name: "token_url", Args: "<url>", Read: options.Text(&l.TokenURL)},
		options.Option{Name: "scope", Args: "<name>...", Read: func(d *caddyfile.Dispenser) error {
			if l.Scope = strings.Join(d.RemainingArgs(), " "); l.Scope == "" {
				return options.ErrCount
			}
			return nil
		}},
	)
}

// SignIn is what the console needs to know about signing in. None of it is secret.
type SignIn struct {
	// Local is whether tokens minted by this server are accepted.
	Local bool `json:"local"`
	// Issuer, Audience and OrganizationClaim are those of the provider's tokens; empty without a provider.
	Issuer            string `json:"issuer,omitempty"`
	Audience          string `json:"audience,omitempty"`
	OrganizationClaim string `json:"organizationClaim,omitempty"`

	Login *Login `json:"login,omitempty"`
}

// SignIn returns how users sign in.
func (a *App) SignIn() SignIn {
	s := SignIn{Local: a.LocalUsers()}
	if len(a.config.Users) == 0 {
		return s
	}
	u := a.config.Users[0]
	s.Issuer, s.Audience, s.OrganizationClaim = u.Issuer, u.Audience, u.OrganizationClaim
	s.Login = a.UserTokens.Login
	return s
}

// TokenOrigin is the origin of the token endpoint, to which the console sends the authorization code.
func (l *Login) TokenOrigin() string {
	where, err := url.Parse(l.TokenURL)
	if err != nil {
		return "" // checked when the configuration was read
	}
	return where.Scheme + "://" + where.Host
}
