package request

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRemove(t *testing.T) {
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
		if got := RemoveParameter(query, "apiKey"); got != want {
			t.Errorf("Remove(%q) = %q, want %q", query, got, want)
		}
	}
	if got := RemoveParameter("api+key=x&b", "api key"); got != "b" {
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
		if got := RemoveFromURI(uri, "apiKey"); got != want {
			t.Errorf("RemoveFromURI(%q) = %q, want %q", uri, got, want)
		}
	}
	for referer, want := range map[string]string{
		"https://h/a?apiKey=x#frag":   "https://h/a#frag",
		"https://h/a?b=1#apiKey=x&y":  "https://h/a?b=1#y",
		"https://h/a?b&apiKey=x":      "https://h/a?b",
		"not a URL?apiKey=x&apiKey=y": "not a URL",
	} {
		if got := RemoveFromReferer(referer, "apiKey"); got != want {
			t.Errorf("RemoveFromReferer(%q) = %q, want %q", referer, got, want)
		}
	}
}

// checkRemoved holds for any query: what is left is the query without the pairs of that name, in their order, byte
// for byte.
func checkRemoved(t interface{ Fatalf(string, ...any) }, query, parameter string) {
	got := RemoveParameter(query, parameter)
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
			t.Fatalf("Remove(%q, %q) = %q: %q is missing", query, parameter, got, pair)
		}
		rest = strings.TrimPrefix(after, "&")
	}
	if rest != "" && gone < len(pairs) {
		t.Fatalf("Remove(%q, %q) = %q: %q is left over", query, parameter, got, rest)
	}
	if gone == 0 && got != query {
		t.Fatalf("Remove(%q, %q) = %q without an occurrence", query, parameter, got)
	}
	if values, err := url.ParseQuery(got); err == nil && parameter != "" && values.Has(parameter) {
		t.Fatalf("Remove(%q, %q) = %q still has the parameter", query, parameter, got)
	}
	if again := RemoveParameter(got, parameter); again != got && parameter != "" {
		t.Fatalf("Remove is not idempotent on %q: %q, then %q", query, got, again)
	}
}

func TestRemoveProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"apiKey", "%61piKey", "api%4bey", "a", "=", "&", "&&", "%", "%zz", "+", ";", "#",
			"é", "x=1"})
		checkRemoved(t, strings.Join(rapid.SliceOf(piece).Draw(t, "query"), ""), "apiKey")
	})
}

func FuzzRemoveParameter(f *testing.F) {
	for _, seed := range []string{"", "apiKey=x", "a=1&apiKey=x&b=2", "%61piKey=x&a=%zz&&", "apiKey&apiKey=",
		"a+b=1&%2561piKey=2", "&=&"} {
		f.Add(seed, "apiKey")
	}
	f.Add("api+key=1&x", "api key")
	f.Fuzz(func(t *testing.T, query, parameter string) {
		if parameter == "" || strings.ContainsAny(parameter, "&=") {
			return // no name of a parameter
		}
		checkRemoved(t, query, parameter)
		if referer := RemoveFromReferer("https://h/?"+query, parameter); strings.Count(query, "#") == 0 {
			want := RemoveParameter(query, parameter)
			if _, got, _ := strings.Cut(referer, "?"); got != want {
				t.Fatalf("RemoveFromReferer left %q, want %q", got, want)
			}
		}
	})
}
