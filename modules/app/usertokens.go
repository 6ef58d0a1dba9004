package app

import (
	"cmp"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/modules/options"
)

// UserTokens configures whose user tokens may manage accounts.
type UserTokens struct {
	// The issuer (`iss`) of user tokens; not the service's own. Default: none; needed by all others but `local`.
	Issuer string `json:"issuer,omitempty"`

	// The audience (`aud`) of user tokens. Default: none; needed with `issuer`.
	Audience string `json:"audience,omitempty"`

	// The URL of the issuer's keys: https, or http on loopback. They are fetched when the first token arrives, so the
	// server starts even if the issuer is down. Default: none; required with `issuer`.
	JWKSURL string `json:"jwks_url,omitempty"`

	// The accepted signature algorithms. HMAC algorithms such as HS256 are refused. Default: `RS256`, `ES256` and `EdDSA`.
	Algorithms []string `json:"algorithms,omitempty"`

	// The claim with the organization whose accounts the user may manage. A token without it is refused. Default: `org`.
	OrganizationClaim string `json:"organization_claim,omitempty"`

	// A claim that user tokens must have. Default: none; needed with `issuer`, unless `any_user` is true.
	RequireClaim *Claim `json:"require_claim,omitempty"`

	// Whether every user may manage the accounts of their organization. Default: false.
	AnyUser bool `json:"any_user,omitempty"`

	// Whether user tokens that this server minted through its admin API are accepted too. Default: true.
	Local *bool `json:"local,omitempty"`

	// How users of the issuer sign in to the console (`maps_console`). Default: by pasting a token.
	Login *Login `json:"login,omitempty"`
}

// Claim is a claim with a required value. The claim is a string equal to it, or a list that contains it.
type Claim struct {
	// The name of the claim. Required.
	Name string `json:"name,omitempty"`

	// The value that the claim must equal or contain. Required.
	Value string `json:"value,omitempty"`
}

// apply validates the configuration and adds it to that of the Authority. Values with placeholders are not checked.
func (u *UserTokens) apply(cfg *credential.Config) error {
	cfg.NoLocalUsers = u.Local != nil && !*u.Local
	if !u.hasIssuer() {
		if u.Login != nil {
			return options.Errorf("login", "requires issuer, audience and jwks_url")
		}
		return nil
	}
	issuer := credential.UserIssuer{
		Issuer: u.Issuer, Audience: u.Audience, JWKSURL: u.JWKSURL,
		Algorithms: u.Algorithms, OrganizationClaim: cmp.Or(u.OrganizationClaim, "org"),
	}
	for _, option := range [][2]string{{"issuer", u.Issuer}, {"audience", u.Audience}, {"jwks_url", u.JWKSURL}} {
		if option[1] == "" {
			return options.Errorf(option[0], "missing")
		}
	}
	if issuer.Issuer == cfg.Issuer {
		return options.Errorf("issuer", "%q is the service's own issuer", issuer.Issuer)
	}
	if len(issuer.Algorithms) == 0 {
		issuer.Algorithms = []string{"RS256", "ES256", "EdDSA"}
	}
	for _, algorithm := range issuer.Algorithms {
		if strings.HasPrefix(strings.ToUpper(algorithm), "HS") {
			return options.Errorf("algorithms", "%s is refused, because its key would be shared with the issuer", algorithm)
		}
	}
	switch {
	case u.RequireClaim == nil && !u.AnyUser:
		return options.Errorf("require_claim", "missing; without it every user of the issuer could manage accounts (use "+
			"any_user to allow that)")
	case u.RequireClaim != nil && u.AnyUser:
		return options.Errorf("any_user", "require_claim and any_user exclude each other")
	case u.RequireClaim != nil:
		if u.RequireClaim.Name == "" || u.RequireClaim.Value == "" {
			return options.Errorf("require_claim", "needs the name of a claim and its value")
		}
		issuer.RequireClaim, issuer.RequireValue = u.RequireClaim.Name, u.RequireClaim.Value
	}
	if err := issuer.CheckAlgorithms(); err != nil {
		return options.Wrap("algorithms", err)
	}
	if !hasPlaceholder(issuer.JWKSURL) {
		if err := issuer.CheckJWKSURL(); err != nil {
			return options.Wrap("jwks_url", err)
		}
	}
	if u.Login != nil {
		if err := u.Login.check(); err != nil {
			return options.Wrap("login", err)
		}
	}
	cfg.Users = append(cfg.Users, issuer)
	return nil
}

// checkWritten is apply for a block of a Caddyfile.
func (u *UserTokens) checkWritten() error { return u.apply(new(credential.Config)) }

// resolve replaces placeholders.
func (u *UserTokens) resolve() error {
	for name, value := range map[string]*string{"issuer": &u.Issuer, "audience": &u.Audience, "jwks_url": &u.JWKSURL} {
		if err := replace(name, value); err != nil {
			return err
		}
	}
	if u.Login == nil {
		return nil
	}
	return options.Wrap("login", u.Login.resolve())
}

// hasIssuer reports whether anything except Local and Login is configured.
func (u *UserTokens) hasIssuer() bool {
	return u.Issuer != "" || u.Audience != "" || u.JWKSURL != "" || len(u.Algorithms) > 0 || u.OrganizationClaim != "" ||
		u.RequireClaim != nil || u.AnyUser
}
