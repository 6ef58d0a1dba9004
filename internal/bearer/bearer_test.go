package bearer

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
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
		{"both", []string{"Bearer abc"}, "apiKey=abc", "", ErrTwo},
		{"another scheme and query", []string{"Basic abc"}, "apiKey=abc", "", ErrTwo},
		{"two headers", []string{"Bearer abc", "Bearer abc"}, "", "", ErrRepeated},
		{"two headers, one empty", []string{"", "Bearer abc"}, "", "", ErrRepeated},
		{"two parameters", nil, "apiKey=abc&apiKey=abc", "", ErrRepeated},
		{"two parameters, one encoded", nil, "apiKey=abc&%61piKey=abc", "", ErrRepeated},
		{"two parameters, one empty", nil, "apiKey=&apiKey=abc", "", ErrRepeated},
		{"bad encoding", nil, "apiKey=%zz", "", ErrMalformed},
		{"the longest", []string{"Bearer " + strings.Repeat("x", 4096)}, "", strings.Repeat("x", 4096), nil},
		{"too long", []string{"Bearer " + strings.Repeat("x", 4097)}, "", "", ErrTooLong},
		{"the longest, encoded", nil, "apiKey=" + strings.Repeat("%78", 4096), strings.Repeat("x", 4096), nil},
		{"too long in the query", nil, "apiKey=" + strings.Repeat("x", 4097), "", ErrTooLong},
		{"too long, encoded", nil, "apiKey=" + strings.Repeat("%78", 4097), "", ErrTooLong},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			if tc.header != nil {
				h["Authorization"] = tc.header
			}
			token, err := Find(h, tc.query, "apiKey")
			if token != tc.token || !errors.Is(err, tc.err) {
				t.Errorf("Find = %q, %v; want %q, %v", token, err, tc.token, tc.err)
			}
		})
	}
	if token, err := Find(http.Header{}, "apiKey=abc", ""); token != "" || err != nil {
		t.Errorf("a parameter that is not configured was read: %q, %v", token, err)
	}
}

func TestStrip(t *testing.T) {
	for query, want := range map[string]string{
		"":                            "",
		"a=1":                         "a=1",
		"apiKey=x":                    "",
		"apiKey":                      "",
		"a=1&apiKey=x&b=2":            "a=1&b=2",
		"apiKey=x&a=1":                "a=1",
		"a=1&apiKey=x":                "a=1",
		"apiKey=x&apiKey=y":           "",
		"%61piKey=x&a=%zz&&b=+":       "a=%zz&&b=+",
		"a=apiKey=x":                  "a=apiKey=x",
		"apikey=x":                    "apikey=x",
		"path=[{1,2}]&api%4Bey=a%20b": "path=[{1,2}]",
		"a;apiKey=x":                  "a;apiKey=x",
	} {
		if got := StripQuery(query, "apiKey"); got != want {
			t.Errorf("StripQuery(%q) = %q, want %q", query, got, want)
		}
	}
	if got := StripQuery("api+key=x&b", "api key"); got != "b" {
		t.Errorf("a plus in the name was not decoded: %q", got)
	}
	for uri, want := range map[string]string{
		"/a":                     "/a",
		"/a?":                    "/a?",
		"/a?apiKey=x":            "/a",
		"/a?b&apiKey=x?y":        "/a?b",
		"http://h/a?apiKey=x&b":  "http://h/a?b",
		"/apiKey=x":              "/apiKey=x",
		"/a?b=1#c&apiKey=x&d":    "/a?b=1#c&d",
		"/a?b=1&api%4Bey=x&c=%2": "/a?b=1&c=%2",
	} {
		if got := StripURI(uri, "apiKey"); got != want {
			t.Errorf("StripURI(%q) = %q, want %q", uri, got, want)
		}
	}
	for referer, want := range map[string]string{
		"https://h/a?apiKey=x#frag":   "https://h/a#frag",
		"https://h/a?b=1#apiKey=x&y":  "https://h/a?b=1#y",
		"https://h/a?b&apiKey=x":      "https://h/a?b",
		"not a URL?apiKey=x&apiKey=y": "not a URL",
	} {
		if got := StripReferer(referer, "apiKey"); got != want {
			t.Errorf("StripReferer(%q) = %q, want %q", referer, got, want)
		}
	}
}

// What is too long is not looked at: a request of half a megabyte costs no memory, wherever it has its length.
func TestEnormous(t *testing.T) {
	long := strings.Repeat("x", 480<<10)
	for name, r := range map[string]struct {
		header, query string
		err           error
	}{
		"header":           {"Bearer " + long, "", ErrTooLong},
		"query":            {"", "apiKey=" + long, ErrTooLong},
		"query, encoded":   {"", "apiKey=%78" + long, ErrTooLong},
		"name, encoded":    {"", "%61" + long + "=1", nil},
		"another scheme":   {"Basic " + long, "", nil},
		"no scheme":        {long, "", nil},
		"another name":     {"", long + "=1", nil},
		"many other names": {"", strings.Repeat("a=1&", len(long)/4), nil},
	} {
		h := http.Header{"Authorization": {r.header}}
		var token string
		var err error
		n := testing.AllocsPerRun(10, func() { token, err = Find(h, r.query, "apiKey") })
		if n > 0 || token != "" || !errors.Is(err, r.err) {
			t.Errorf("%s: %v allocations, token of %d bytes, %v", name, n, len(token), err)
		}
	}
}

// checkStripped holds for any query: what is left is the query without the pairs of that name, in their order, byte for byte.
func checkStripped(t interface{ Fatalf(string, ...any) }, query, parameter string) {
	got := StripQuery(query, parameter)
	rest := got
	gone := 0
	pairs := strings.Split(query, "&")
	for _, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		decoded, err := url.QueryUnescape(name)
		if name == parameter || err == nil && decoded == parameter {
			gone++
			continue
		}
		after, ok := strings.CutPrefix(rest, pair)
		if !ok {
			t.Fatalf("StripQuery(%q, %q) = %q: %q is missing", query, parameter, got, pair)
		}
		rest = strings.TrimPrefix(after, "&")
	}
	if rest != "" && gone < len(pairs) {
		t.Fatalf("StripQuery(%q, %q) = %q: %q is left over", query, parameter, got, rest)
	}
	if gone == 0 && got != query {
		t.Fatalf("StripQuery(%q, %q) = %q without an occurrence", query, parameter, got)
	}
	if values, err := url.ParseQuery(got); err == nil && parameter != "" && values.Has(parameter) {
		t.Fatalf("StripQuery(%q, %q) = %q still has the parameter", query, parameter, got)
	}
	if again := StripQuery(got, parameter); again != got && parameter != "" {
		t.Fatalf("StripQuery is not idempotent on %q: %q, then %q", query, got, again)
	}
}

func TestStripQueryProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"apiKey", "%61piKey", "api%4bey", "a", "=", "&", "&&", "%", "%zz", "+", ";", "#", "é", "x=1"})
		checkStripped(t, strings.Join(rapid.SliceOf(piece).Draw(t, "query"), ""), "apiKey")
	})
}

func FuzzStripQuery(f *testing.F) {
	for _, seed := range []string{"", "apiKey=x", "a=1&apiKey=x&b=2", "%61piKey=x&a=%zz&&", "apiKey&apiKey=", "a+b=1&%2561piKey=2", "&=&"} {
		f.Add(seed, "apiKey")
	}
	f.Add("api+key=1&x", "api key")
	f.Fuzz(func(t *testing.T, query, parameter string) {
		if parameter == "" || strings.ContainsAny(parameter, "&=") {
			return // no name of a parameter
		}
		checkStripped(t, query, parameter)
		if referer := StripReferer("https://h/?"+query, parameter); strings.Count(query, "#") == 0 {
			want := StripQuery(query, parameter)
			if _, got, _ := strings.Cut(referer, "?"); got != want {
				t.Fatalf("StripReferer left %q, want %q", got, want)
			}
		}
	})
}
