package request

import (
	"net/url"
	"strings"
	"testing"
)

func TestBelow(t *testing.T) {
	const here = "/api/v1/external"
	for _, tc := range []struct {
		prefix, target, rest string
		ok                   bool
	}{
		{here, here, "", true},
		{here, here + "?x=/y", "", true},
		{here, here + "/", "/", true},
		{here, here + "/auth", "/auth", true},
		{here, here + "/auth/", "/auth/", true},
		{here + "/", here + "/auth", "/auth", true},
		{here, "http://maps.example.com" + here + "/auth", "/auth", true},
		{here, here + "x/auth", "", false},
		{here, here + "%2Fauth", "", false},
		{here, here + "/%61uth", "", false},
		{here, "/api/v1/%65xternal/auth", "", false},
		{here, "/API/v1/external/auth", "", false},
		{here, "//api/v1/external/auth", "", false},
		{here, "/api//v1/external/auth", "", false},
		{here, "/./api/v1/external/auth", "", false},
		{here, "/x/../api/v1/external/auth", "", false},
		{here, "/x" + here + "/auth", "", false},
		{here, here + "/zzz" + here + "/auth", "/zzz" + here + "/auth", true}, // which no endpoint has
		{here, "/", "", false},
		{here, "*", "", false},
		{"/", "/", "", true},
		{"/", "", "", true},
		{"/", "/auth", "/auth", true},
		{"/", "/%61uth", "", false},
		{"/", "*", "", false},
		{"/karten/ä", "/karten/%C3%A4", "", true},
	} {
		prefix, err := ParsePrefix(tc.prefix)
		if err != nil {
			t.Fatal(err)
		}
		u := &url.URL{Path: tc.target}
		if parsed, err := url.ParseRequestURI(tc.target); err == nil {
			u = parsed
		}
		if rest, ok := prefix.Below(u); rest != tc.rest || ok != tc.ok {
			t.Errorf("%s below %s: %q, %v; want %q, %v", tc.target, tc.prefix, rest, ok, tc.rest, tc.ok)
		}
	}
}

func TestParsePrefixErrors(t *testing.T) {
	for want, texts := range map[string][]string{
		"begin with a slash":     {"", "api", "https://x/api", `\api`},
		"plain path":             {"/api/*", "/api?x", "/api#x", "/%61pi", "/{host}", `/a\b`},
		"empty segments or dots": {"//api", "/api//", "/api/../x", "/api/./external"},
	} {
		for _, text := range texts {
			if prefix, err := ParsePrefix(text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %q, %v; want an error with %q", text, prefix, err, want)
			}
		}
	}
}
