package credential

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestHint(t *testing.T) {
	t.Parallel()
	jwt := func(header string, signature int) string {
		encode := base64.RawURLEncoding.EncodeToString
		return encode([]byte(header)) + "." + encode([]byte(`{"iss":"x"}`)) + "." + encode(make([]byte, signature))
	}
	client, server, refresh := newOpaque(clientPrefix), newOpaque(serverPrefix), newOpaque(refreshPrefix)
	access, user := jwt(`{"alg":"EdDSA","typ":"at+jwt"}`, 64), jwt(`{"alg":"ES256","typ":"maps-user+jwt"}`, 64)
	other, header := jwt(`{"alg":"RS256","typ":"JWT"}`, 256), access[:strings.Index(access, ".")]
	for _, tc := range []struct {
		token  string
		wanted Kind
		hint   string
	}{
		{access, KindAccess, ""},
		{user, KindUser, ""},
		{other, KindUser, ""},  // of another issuer
		{access, KindUser, ""}, // RFC 9068: other issuers' may have this type
		{client, KindClient, ""},
		{server, KindServer, ""},
		{refresh, KindRefresh, ""},
		{newOpaque(publishablePrefix), KindAccess, ""},
		{client, KindAccess, "this is a client token; an access token belongs here"},
		{server, KindAccess, "this is a server token; an access token belongs here"},
		{refresh, KindAccess, "this is a refresh token; an access token belongs here"},
		{user, KindAccess, "this is a user token; an access token belongs here"},
		{other, KindAccess, "this is a JWT of another type; an access token belongs here"},
		{server, KindClient, "this is a server token; a client token belongs here"},
		{access, KindRefresh, "this is an access token; a refresh token belongs here"},
		{client, KindUser, "this is a client token; a user token belongs here"},
		{newOpaque(publishablePrefix), KindUser, "this is a publishable key; a user token belongs here"},
		{access[:len(access)-1], KindAccess, "the token is truncated or mistyped"},
		{access[:len(header)+5], KindAccess, "the token is truncated or mistyped"},
		{access[:len(header)+1], KindAccess, "the token is truncated or mistyped"},
		{header, KindAccess, "the token is truncated or mistyped"},
		{header[:9], KindAccess, "the token is truncated or mistyped"},
		{other[:strings.LastIndex(other, ".")], KindUser, "the token is truncated or mistyped"},
		{refresh[:20], KindRefresh, "the token is truncated or mistyped"},
		{refresh[:20] + "x" + refresh[21:] + "y", KindRefresh, "the token is truncated or mistyped"},
		{client[:30], KindAccess, "this is a client token, but truncated or mistyped; an access token belongs here"},
		{user[:len(user)-3], KindAccess, "this is a user token, but truncated or mistyped; an access token belongs here"},
		{"", KindClient, "this is not a token; a client token belongs here"},
		{"secret", KindAccess, "this is not a token; an access token belongs here"},
		{`"secret\`, KindAccess, "this is not a token; an access token belongs here"},
		{access[:5] + "!" + access[5:], KindAccess, "the token is truncated or mistyped"},
		{access + ".x.y", KindAccess, "this is not a token; an access token belongs here"}, // encrypted JWTs have five parts
		{access + strings.Repeat("x", maxTokenLen), KindAccess, "this is not a token; an access token belongs here"},
	} {
		if got := Hint(tc.token, tc.wanted); got != tc.hint {
			t.Errorf("%q where %s belongs: %q, want %q", tc.token, kindNames[tc.wanted], got, tc.hint)
		}
	}
}
