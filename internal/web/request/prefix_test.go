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
		{here, here + "/zzz" + here + "/auth", "/zzz" + here + "/auth", true}, // which is nothing that an endpoint has
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
		u := new(url.URL)
		if tc.target != "" && tc.target != "*" {
			if u, err = url.ParseRequestURI(tc.target); err != nil {
				t.Fatal(err)
			}
		} else {
			u.Path = tc.target
		}
		if rest, ok := prefix.Below(u); rest != tc.rest || ok != tc.ok {
			t.Errorf("%s below %s: %q, %v; want %q, %v", tc.target, tc.prefix, rest, ok, tc.rest, tc.ok)
		}
	}
}

func TestParsePrefixErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "begin with a slash",
		"api":             "begin with a slash",
		"https://x/api":   "begin with a slash",
		"/api/*":          "plain path",
		"/api?x":          "plain path",
		"/api#x":          "plain path",
		"/%61pi":          "plain path",
		"/{host}":         "plain path",
		`\api`:            "begin with a slash",
		`/a\b`:            "plain path",
		"//api":           "empty segments or dots",
		"/api//":          "empty segments or dots",
		"/api/../x":       "empty segments or dots",
		"/api/./external": "empty segments or dots",
	} {
		if prefix, err := ParsePrefix(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v; want an error with %q", text, prefix, err, want)
		}
	}
}

func BenchmarkBelow(b *testing.B) {
	prefix, err := ParsePrefix("/v2/search/reverse-geocoding")
	if err != nil {
		b.Fatal(err)
	}
	u := &url.URL{Path: "/v2/search/reverse-geocoding"}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := prefix.Below(u); !ok {
			b.Fatal("elsewhere")
		}
	}
}
