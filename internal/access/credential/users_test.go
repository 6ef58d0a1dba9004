package credential

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func TestUserToken(t *testing.T) {
	w := newWorld(t)
	token, minted, expires, err := w.MintUser(t.Context(), "org ö", "somebody@example.com", 90*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if want := start.Add(90 * time.Minute); !expires.Equal(want) {
		t.Errorf("expires %v, want %v", expires, want)
	}
	got := must(w.VerifyUser(t.Context(), token))
	want := User{Subject: "somebody@example.com", Organization: "org ö", Issuer: "https://maps.test", ID: minted.ID}
	if diff := cmp.Diff(want, got); diff != "" || minted != got || minted.ID == "" {
		t.Errorf("user (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(object{"alg": "EdDSA", "typ": "maps-user+jwt", "kid": w.signing(t, account.KeyUser).id}, decoded(t, token, 0)); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	claims := object{"iss": "https://maps.test", "aud": "maps.test:accounts", "sub": "somebody@example.com", "org": "org ö", "jti": minted.ID,
		"iat": float64(start.Unix()), "exp": float64(start.Unix() + 5400)}
	if diff := cmp.Diff(claims, decoded(t, token, 1)); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if strings.Contains(string(must(w.JWKS(t.Context()))), w.signing(t, account.KeyUser).id) {
		t.Error("the key set publishes the key of user tokens")
	}
	w.advance(90*time.Minute - 1)
	if _, err := w.VerifyUser(t.Context(), token); err != nil {
		t.Errorf("a nanosecond before it expires: %v", err)
	}
	w.advance(1)
	_, err = w.VerifyUser(t.Context(), token)
	refused(t, "when it expires", err, refusedExpired)
}

func TestMintUserRefused(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 256)
	for _, test := range []struct {
		organization, subject string
		ttl                   time.Duration
		want                  string
	}{
		{"", "s", time.Hour, "organization"}, {" org", "s", time.Hour, "organization"}, {"o\x00rg", "s", time.Hour, "organization"},
		{"o\nrg", "s", time.Hour, "organization"}, {long, "s", time.Hour, "organization"}, {"\xff", "s", time.Hour, "organization"},
		{"org", "", time.Hour, "subject"}, {"org", "s\t", time.Hour, "subject"}, {"org", long, time.Hour, "subject"}, {"org", "a\u202eb", time.Hour, "subject"},
		{"org", "s", 0, "ttl"}, {"org", "s", -time.Hour, "ttl"}, {"org", "s", MaxUserTTL + 1, "ttl"}, {"org", "s", time.Millisecond, "ttl"},
	} {
		if token, _, _, err := w.MintUser(t.Context(), test.organization, test.subject, test.ttl); err == nil ||
			token != "" || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %q, %v: error %v, want one about the %s", test.organization, test.subject, test.ttl, err, test.want)
		}
	}
	if _, _, _, err := w.MintUser(t.Context(), "org", "s", MaxUserTTL); err != nil {
		t.Errorf("the longest life: %v", err)
	}
	off := newWorld(t, func(c *Config) { c.NoLocalUsers = true })
	if _, _, _, err := off.MintUser(t.Context(), "org", "s", time.Hour); err == nil ||
		!strings.Contains(err.Error(), "off") {
		t.Errorf("with local users off: error %v", err)
	}
}

func TestForgedUserTokens(t *testing.T) {
	w := newWorld(t)
	token, _, _, err := w.MintUser(t.Context(), "org", "somebody", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	app := w.holder(t, "org", "TILE")
	access := w.exchange(t, app, app).Access
	header, claims, key := decoded(t, token, 0), decoded(t, token, 1), w.signing(t, account.KeyUser)
	head := func(changes object) string { return signed(t, key, header.with(changes).text(t), claims.text(t)) }
	body := func(changes object) string { return signed(t, key, header.text(t), claims.with(changes).text(t)) }
	for _, test := range []struct {
		name, token string
		want        refusal
	}{
		{"empty", "", refusedMalformed},
		{"an access token", access, refusedType},
		{"signed by the access key", signed(t, w.signing(t, account.KeyAccess), header.with(object{"kid": w.signing(t, account.KeyAccess).id}).text(t), claims.text(t)), refusedKey},
		{"access key under the user key's id", signed(t, w.signing(t, account.KeyAccess), header.text(t), claims.text(t)), refusedSignature},
		{"typ missing", head(object{"typ": nil}), refusedType},
		{"typ JWT", head(object{"typ": "JWT"}), refusedType},
		{"typ of access tokens", head(object{"typ": accessType}), refusedType},
		{"kid missing", head(object{"kid": nil}), refusedKey},
		{"issuer missing", body(object{"iss": nil}), refusedIssuer},
		{"issuer another", body(object{"iss": "https://maps.test/"}), refusedIssuer},
		{"issuer a number", body(object{"iss": 1}), refusedIssuer},
		{"issuer list", body(object{"iss": []string{"https://maps.test"}}), refusedIssuer},
		{"audience missing", body(object{"aud": nil}), refusedAudience},
		{"audience of access tokens", body(object{"aud": "maps.test"}), refusedAudience},
		{"audience of two", body(object{"aud": []string{"maps.test:accounts", "maps.test"}}), refusedAudience},
		{"audience of numbers", body(object{"aud": []int{1}}), refusedClaims},
		{"exp missing", body(object{"exp": nil}), refusedClaims},
		{"exp zero", body(object{"exp": 0}), refusedClaims},
		{"exp text", body(object{"exp": "9999999999"}), refusedClaims},
		{"exp now", body(object{"exp": start.Unix()}), refusedExpired},
		{"iat missing", body(object{"iat": nil}), refusedClaims},
		{"iat text", body(object{"iat": "1"}), refusedClaims},
		{"iat beyond any skew", body(object{"iat": start.Unix() + 301}), refusedNotYet},
		{"a life of more than a day", body(object{"exp": start.Unix() + 86401}), refusedLife},
		{"a life of ten years", body(object{"exp": start.AddDate(10, 0, 0).Unix()}), refusedLife},
		{"nbf in a second", body(object{"nbf": start.Unix() + 1}), refusedNotYet},
		{"sub missing", body(object{"sub": nil}), refusedClaims},
		{"sub empty", body(object{"sub": ""}), refusedClaims},
		{"sub with a line break", body(object{"sub": "a\nb"}), refusedClaims},
		{"org missing", body(object{"org": nil}), refusedNoOrg},
		{"org empty", body(object{"org": ""}), refusedNoOrg},
		{"org a list", body(object{"org": []string{"org"}}), refusedNoOrg},
		{"org in capitals", body(object{"org": nil, "ORG": "org"}), refusedNoOrg},
		{"org with a null character", body(object{"org": "org\x00"}), refusedClaims},
		{"org too long", body(object{"org": strings.Repeat("x", 300)}), refusedClaims},
		{"too long", body(object{"more": strings.Repeat("x", maxTokenLen)}), refusedTooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := w.VerifyUser(t.Context(), test.token)
			refused(t, "VerifyUser", err, test.want)
		})
	}
	for name, token := range map[string]string{
		"the same claims, signed again":             body(nil),
		"made five minutes ahead, by another clock": body(object{"iat": start.Unix() + 300}),
		"of a day": body(object{"exp": start.Unix() + 86400}),
	} {
		if _, err := w.VerifyUser(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = w.VerifyAccess(t.Context(), token)
	refused(t, "a user token as access token", err, refusedType)
	off := w.beside(t, func(c *Config) { c.NoLocalUsers = true })
	_, err = off.VerifyUser(t.Context(), token)
	refused(t, "with local users off", err, refusedLocalUsers)
}

func FuzzVerifyUser(f *testing.F) {
	w := newWorld(f, func(c *Config) {
		c.Users = []UserIssuer{{Issuer: "https://id.test", Audience: "m", JWKSURL: "http://127.0.0.1:1/keys", Algorithms: []string{"RS256"}, OrganizationClaim: "org"}}
	})
	token, _, _, err := w.MintUser(f.Context(), "org", "somebody", time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	header, claims := decoded(f, token, 0), decoded(f, token, 1)
	for _, seed := range []string{
		token, token[1:], "..", "e30.e30.", strings.Repeat("e30.", 100),
		signed(f, w.signing(f, account.KeyUser), header.text(f), claims.with(object{"aud": []any{}}).text(f)),
		signed(f, w.signing(f, account.KeyUser), header.text(f), claims.with(object{"exp": 1e300}).text(f)),
		signed(f, w.signing(f, account.KeyUser), header.with(object{"typ": 1}).text(f), claims.with(object{"iss": "https://id.test"}).text(f)),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := w.VerifyUser(t.Context(), text)
		if err == nil && text != token {
			t.Fatalf("%q was accepted as %+v", text, u)
		}
	})
}
