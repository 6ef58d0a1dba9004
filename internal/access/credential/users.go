package credential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// userAudienceSuffix distinguishes the audience of local user tokens from that of access tokens.
const userAudienceSuffix = ":accounts"

// maxNameLen is the maximum length of subjects and organizations, in bytes.
const maxNameLen = 255

// userClaims are the claims of a user token by name.
type userClaims = jwt.MapClaims

func claimText(c userClaims, name string) string {
	text, _ := c[name].(string)
	return text
}

// VerifyUser verifies a user token of this service or of one of the configured issuers.
func (a *Authority) VerifyUser(ctx context.Context, token string) (User, error) {
	claims := make(userClaims)
	var issuer *remoteIssuer // nil: this service
	err := parseSigned(token, claims, func(t *jwt.Token) (any, error) {
		typ, iss := headerText(t, "typ"), claimText(claims, "iss")
		if iss == a.cfg.Issuer {
			switch {
			case typ != userType:
				return nil, refusedType
			case a.cfg.NoLocalUsers:
				return nil, refusedLocalUsers
			}
			key, err := a.ownKey(ctx, account.KeyUser, t)
			if err != nil {
				return nil, err
			}
			return key.public, nil
		}
		known, ok := a.users[iss]
		switch {
		case iss == "" || !ok:
			return nil, refusedIssuer
		case !remoteType(t):
			return nil, refusedType
		}
		issuer = known
		return issuer.key(ctx, t)
	})
	if err != nil {
		return User{}, err
	}
	audience, orgClaim := a.cfg.Audience+userAudienceSuffix, "org"
	if issuer != nil {
		audience, orgClaim = issuer.cfg.Audience, issuer.cfg.OrganizationClaim
	}
	if err := a.checkUserClaims(claims, audience, issuer == nil); err != nil {
		return User{}, err
	}
	if issuer != nil {
		if err := issuer.checkRequired(claims); err != nil {
			return User{}, err
		}
	}
	u := User{
		Subject: claimText(claims, "sub"), Organization: claimText(claims, orgClaim),
		Issuer: claimText(claims, "iss"), ID: claimText(claims, "jti"),
	}
	switch {
	case u.Organization == "":
		return User{}, refusedNoOrg
	case checkName("subject", u.Subject) != nil || checkName("organization", u.Organization) != nil:
		return User{}, refusedClaims
	}
	return u, nil
}

// remoteType reports whether a token of another issuer has an accepted type: none, JWT, or that of access tokens (RFC
// 9068). Other types have other purposes, such as logout tokens.
func remoteType(t *jwt.Token) bool {
	typ, present := t.Header["typ"]
	if !present {
		return true
	}
	text, _ := typ.(string)
	text = strings.ToLower(text)
	return text == "jwt" || strings.TrimPrefix(text, "application/") == accessType
}

// checkUserClaims checks the times, without leeway, and the audience. Tokens of identity providers may have further
// audiences (RFC 7519, section 4.1.3), local ones may not. Local tokens live no longer than MaxUserTTL.
func (a *Authority) checkUserClaims(c userClaims, audience string, local bool) error {
	aud, err := c.GetAudience()
	if err != nil {
		return refusedClaims
	}
	if !slices.Contains(aud, audience) || local && len(aud) != 1 {
		return refusedAudience
	}
	err = jwt.NewValidator(jwt.WithTimeFunc(a.cfg.Now), jwt.WithExpirationRequired()).Validate(c)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return refusedExpired
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return refusedNotYet
	case err != nil:
		return refusedClaims
	case !local:
		return nil
	}
	issued, err := c.GetIssuedAt()
	expires, _ := c.GetExpirationTime() // checked above
	switch {
	case err != nil || issued == nil:
		return refusedClaims
	case issued.After(a.cfg.Now().Add(maxSkew)):
		return refusedNotYet
	case expires.Sub(issued.Time) > MaxUserTTL:
		return refusedLife
	}
	return nil
}

// ErrMint matches errors for user tokens that cannot be minted because of the arguments. Their texts say why.
var ErrMint = errors.New("the user token cannot be minted")

type mintError string

func (e mintError) Error() string        { return string(e) }
func (e mintError) Is(target error) bool { return target == ErrMint }

// MintUser makes a local user token. ttl is from 1 s to MaxUserTTL. organization and subject are 1 to 255 bytes of
// printable text without leading and trailing spaces. The error matches ErrMint, or means that the store is
// unavailable.
func (a *Authority) MintUser(ctx context.Context, organization, subject string, ttl time.Duration) (token string,
	u User, expires time.Time, err error) {
	switch err = cmp.Or(checkName("organization", organization), checkName("subject", subject)); {
	case a.cfg.NoLocalUsers:
		err = mintError("local user tokens are off in this configuration")
	case err == nil && (ttl < time.Second || ttl > MaxUserTTL):
		err = mintError(fmt.Sprintf("ttl must be 1s to %v", MaxUserTTL))
	}
	if err != nil {
		return "", User{}, time.Time{}, err
	}
	key, err := a.signer(ctx, account.KeyUser)
	if err != nil {
		return "", User{}, time.Time{}, err
	}
	now := a.cfg.Now()
	u = User{Subject: subject, Organization: organization, Issuer: a.cfg.Issuer, ID: newTokenID()}
	expires = now.Add(ttl).Truncate(time.Second).UTC()
	token, err = key.sign(userClaims{"iss": u.Issuer, "aud": a.cfg.Audience + userAudienceSuffix, "sub": subject,
		"org": organization, "jti": u.ID, "iat": now.Unix(), "exp": expires.Unix()})
	if err != nil {
		return "", User{}, time.Time{}, err
	}
	if len(token) > maxTokenLen {
		return "", User{}, time.Time{}, mintError("the token would be longer than 4 KiB: issuer, audience, " +
			"organization and subject are too long together")
	}
	return token, u, expires, nil
}

// CheckOrganization checks the name of an organization.
func CheckOrganization(name string) error { return checkName("organization", name) }

// checkName checks a subject or an organization.
func checkName(what, s string) error {
	if s == "" || len(s) > maxNameLen || !utf8.ValidString(s) || strings.TrimSpace(s) != s ||
		strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return mintError(fmt.Sprintf("%s must be 1 to %d bytes of printable text without spaces around it", what, maxNameLen))
	}
	return nil
}
