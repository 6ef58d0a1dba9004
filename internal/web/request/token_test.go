package request

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, tc := range []struct {
		name   string
		header []string
		query  string
		token  string
		err    error
	}{
		{"nothing", nil, "", "", nil},
		{"header", []string{"Bearer abc"}, "", "abc", nil},
		{"scheme in any case, spaces", []string{"bEARER   abc "}, "", "abc", nil},
		{"query", nil, "a=1&apiKey=abc", "abc", nil},
		{"query, name encoded", nil, "api%4bey=abc", "abc", nil},
		{"query, value encoded", nil, "apiKey=%61bc", "abc", nil},
		{"query, other case", nil, "apikey=abc", "", nil},
		{"empty header", []string{""}, "", "", nil},
		{"bare scheme", []string{"Bearer "}, "", "", nil},
		{"empty parameter", nil, "apiKey=", "", nil},
		{"parameter without a value", nil, "apiKey", "", nil},
		{"empty header, query", []string{""}, "apiKey=abc", "abc", nil},
		{"bare scheme, query", []string{"Bearer"}, "apiKey=abc", "abc", nil},
		{"header, empty parameter", []string{"Bearer abc"}, "apiKey=", "abc", nil},
		{"another scheme", []string{"Basic abc"}, "", "", nil},
		{"a longer scheme", []string{"Bearerer abc"}, "", "", nil},
		{"both", []string{"Bearer abc"}, "apiKey=abc", "", ErrTwoTokens},
		{"another scheme and query", []string{"Basic abc"}, "apiKey=abc", "", ErrTwoTokens},
		{"two headers", []string{"Bearer abc", "Bearer abc"}, "", "", ErrRepeatedToken},
		{"two headers, one empty", []string{"", "Bearer abc"}, "", "", ErrRepeatedToken},
		{"two parameters", nil, "apiKey=abc&apiKey=abc", "", ErrRepeatedToken},
		{"two parameters, one encoded", nil, "apiKey=abc&%61piKey=abc", "", ErrRepeatedToken},
		{"two parameters, one empty", nil, "apiKey=&apiKey=abc", "", ErrRepeatedToken},
		{"bad encoding", nil, "apiKey=%zz", "", ErrMalformedToken},
		{"the longest", []string{"Bearer " + strings.Repeat("x", 4096)}, "", strings.Repeat("x", 4096), nil},
		{"too long", []string{"Bearer " + strings.Repeat("x", 4097)}, "", "", ErrTokenTooLong},
		{"the longest, encoded", nil, "apiKey=" + strings.Repeat("%78", 4096), strings.Repeat("x", 4096), nil},
		{"too long in the query", nil, "apiKey=" + strings.Repeat("x", 4097), "", ErrTokenTooLong},
		{"too long, encoded", nil, "apiKey=" + strings.Repeat("%78", 4097), "", ErrTokenTooLong},
	} {
		h := http.Header{}
		if tc.header != nil {
			h["Authorization"] = tc.header
		}
		token, err := FindToken(h, tc.query, []string{"apiKey"})
		if token != tc.token || !errors.Is(err, tc.err) {
			t.Errorf("%s: %.20q, %v; want %.20q, %v", tc.name, token, err, tc.token, tc.err)
		}
	}
	for query, want := range map[string]error{"key=abc": nil, "apiKey=abc&key=": nil, "apiKey=abc&key=abc": ErrTwoTokens,
		"apiKey=abc&key=&key=": ErrRepeatedToken, "apiKey=%zz&key=abc": ErrMalformedToken} {
		token, err := FindToken(http.Header{}, query, []string{"apiKey", "key"})
		if !errors.Is(err, want) || (token == "abc") != (want == nil) {
			t.Errorf("%s: %q, %v; want %v", query, token, err, want)
		}
	}
	if token, err := FindToken(http.Header{}, "apiKey=abc", nil); token != "" || err != nil {
		t.Errorf("a parameter that is not configured was read: %q, %v", token, err)
	}
}

// TestEnormous: a token that is too long is not read. A request of half a megabyte costs no memory, in whichever part.
func TestEnormous(t *testing.T) {
	long := strings.Repeat("x", 480<<10)
	for name, r := range map[string]struct {
		header, query string
		err           error
	}{
		"header":           {"Bearer " + long, "", ErrTokenTooLong},
		"query":            {"", "apiKey=" + long, ErrTokenTooLong},
		"query, encoded":   {"", "apiKey=%78" + long, ErrTokenTooLong},
		"name, encoded":    {"", "%61" + long + "=1", nil},
		"another scheme":   {"Basic " + long, "", nil},
		"no scheme":        {long, "", nil},
		"another name":     {"", long + "=1", nil},
		"many other names": {"", strings.Repeat("a=1&", len(long)/4), nil},
	} {
		h := http.Header{"Authorization": {r.header}}
		var token string
		var err error
		n := testing.AllocsPerRun(10, func() { token, err = FindToken(h, r.query, []string{"apiKey"}) })
		if n > 0 || token != "" || !errors.Is(err, r.err) {
			t.Errorf("%s: %v allocations, token of %d bytes, %v", name, n, len(token), err)
		}
	}
}
