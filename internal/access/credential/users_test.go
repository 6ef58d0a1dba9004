package credential

import (
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func TestUserToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token, minted, expires, err := w.MintUser(w.ctx, "org ö", "ann@example.com", 90*time.Minute)
	succeeds(err)
	same(t, "expiry", start.Add(90*time.Minute), expires)
	same(t, "user", User{Subject: "ann@example.com", Organization: "org ö", Issuer: "https://maps.test", ID: minted.ID}, minted)
	same(t, "verified user", minted, must(w.VerifyUser(w.ctx, token)))
	header, claims := parsed(token)
	same(t, "header", object{"alg": "EdDSA", "typ": "maps-user+jwt", "kid": w.signing(account.KeyUser).id}, header)
	same(t, "claims", object{"iss": "https://maps.test", "aud": "maps.test:accounts", "sub": "ann@example.com", "org": "org ö",
		"jti": minted.ID, "iat": float64(start.Unix()), "exp": float64(start.Unix() + 5400)}, claims)
	w.advance(90*time.Minute - 1)
	must(w.VerifyUser(w.ctx, token))
	w.advance(1)
	_, err = w.VerifyUser(w.ctx, token)
	refused(t, "when it expires", err, refusedExpired)
}

func TestMintUserRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("x", 256)
	for _, test := range []struct {
		organization, subject string
		ttl                   time.Duration
		want                  string
	}{
		{"", "s", time.Hour, "organization"}, {" org", "s", time.Hour, "organization"}, {"o\x00rg", "s", time.Hour, "organization"},
		{"o\nrg", "s", time.Hour, "organization"}, {long, "s", time.Hour, "organization"}, {"\xff", "s", time.Hour, "organization"},
		{"org", "", time.Hour, "subject"}, {"org", "s\t", time.Hour, "subject"}, {"org", long, time.Hour, "subject"},
		{"org", "a\u202eb", time.Hour, "subject"}, {"org", "s", 0, "ttl"}, {"org", "s", -time.Hour, "ttl"},
		{"org", "s", MaxUserTTL + 1, "ttl"}, {"org", "s", time.Millisecond, "ttl"}, {"org", "s", MaxUserTTL, "off"},
	} {
		if test.want == "off" {
			w.mint(test.subject, test.ttl)
			w = w.beside(t, func(c *Config) { c.NoLocalUsers = true })
		}
		if token, _, _, err := w.MintUser(w.ctx, test.organization, test.subject, test.ttl); err == nil ||
			token != "" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %q, %v: error %v, want one about %s", test.organization, test.subject, test.ttl, err, test.want)
		}
	}
}

// TestForgedUserTokens is TestForgedAccessTokens for what is checked in another way.
func TestForgedUserTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good, app := w.mint("ann", time.Hour), w.holder("org", tile)
	f, accessKey, now := w.forger(account.KeyUser, good), w.signing(account.KeyAccess), start.Unix()
	for _, test := range []struct {
		name, token string
		want        refusal
	}{
		{"empty", "", refusedMalformed},
		{"too long", f.body(object{"more": strings.Repeat("x", maxTokenLen)}), refusedTooLong},
		{"an access token", w.exchange(app, app).Access, refusedType},
		{"signed by the access key", signed(accessKey, f.header.with(object{"kid": accessKey.id}).String(), f.claims.String()),
			refusedKey},
		{"access key under the user key's id", signed(accessKey, f.header.String(), f.claims.String()), refusedSignature},
		{"typ JWT", f.head(object{"typ": "JWT"}), refusedType},
		{"typ of access tokens", f.head(object{"typ": accessType}), refusedType},
		{"kid missing", f.head(object{"kid": nil}), refusedKey},
		{"issuer missing", f.body(object{"iss": nil}), refusedIssuer},
		{"audience missing", f.body(object{"aud": nil}), refusedAudience},
		{"audience of access tokens", f.body(object{"aud": "maps.test"}), refusedAudience},
		{"audience of two", f.body(object{"aud": []string{"maps.test:accounts", "maps.test"}}), refusedAudience},
		{"exp missing", f.body(object{"exp": nil}), refusedClaims},
		{"exp now", f.body(object{"exp": now}), refusedExpired},
		{"iat missing", f.body(object{"iat": nil}), refusedClaims},
		{"iat beyond any skew", f.body(object{"iat": now + 301}), refusedNotYet},
		{"a life of more than a day", f.body(object{"exp": now + 86401}), refusedLife},
		{"sub missing", f.body(object{"sub": nil}), refusedClaims},
		{"sub with a line break", f.body(object{"sub": "a\nb"}), refusedClaims},
		{"org missing", f.body(object{"org": nil}), refusedNoOrg},
		{"org in capitals", f.body(object{"org": nil, "ORG": "org"}), refusedNoOrg},
		{"org with a null character", f.body(object{"org": "org\x00"}), refusedClaims},
		{"org too long", f.body(object{"org": strings.Repeat("x", 300)}), refusedClaims},
	} {
		_, err := w.VerifyUser(w.ctx, test.token)
		refused(t, test.name, err, test.want)
	}
	// The same claims; made five minutes ahead, by another clock; of a day.
	for _, token := range []string{f.body(nil), f.body(object{"iat": now + 300}), f.body(object{"exp": now + 86400})} {
		must(w.VerifyUser(w.ctx, token))
	}
	_, err := w.beside(t, func(c *Config) { c.NoLocalUsers = true }).VerifyUser(w.ctx, good)
	refused(t, "with local users off", err, refusedLocalUsers)
}
