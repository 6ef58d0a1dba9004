package request

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"/a?b=1":                                 "/a?b=1",
		"/a?apikey=x&APIKEY=y&API%4bEY=z":        "/a?apikey=REDACTED&APIKEY=REDACTED&API%4bEY=REDACTED",
		"/apiKey":                                "/apiKey",
		"/a?apiKey":                              "/a?apiKey",
		"/a?apiKey=":                             "/a?apiKey=",
		"/a?apiKey=x":                            "/a?apiKey=REDACTED",
		"/a?apiKey=x&b=1":                        "/a?apiKey=REDACTED&b=1",
		"/a?apiKey=&b=1&apiKey=y":                "/a?apiKey=&b=1&apiKey=REDACTED",
		"/a?apiKey=x&apiKey=y":                   "/a?apiKey=REDACTED&apiKey=REDACTED",
		"/a?%61piKe%79=x&b":                      "/a?%61piKe%79=REDACTED&b",
		"/a?api%4bey%3dx&b":                      "/a?api%4bey%3dREDACTED&b",
		"/a?x=#&apiKey=y#z&b":                    "/a?x=#&apiKey=REDACTED&b",
		"http://h/a?x=#&apiKey=y":                "http://h/a?x=#&apiKey=REDACTED",
		"/a?%zz&apiKey=y%zz":                     "/a?%zz&apiKey=REDACTED",
		"/a?to=%2Fb%3FapiKey%3Dx%26c":            "/a?to=%2Fb%3FapiKey%3DREDACTED",
		"/a;apiKey=x":                            "/a;apiKey=REDACTED",
		"/a?xapiKey=x":                           "/a?xapiKey=REDACTED",
		"/a?apiKey==x":                           "/a?apiKey=REDACTED",
		"/a?apiapiKey=x":                         "/a?apiapiKey=REDACTED",
		"/a?%61%61piKey=x":                       "/a?%61%61piKey=REDACTED",
		"apiKey=x":                               "apiKey=REDACTED",
		`/a?apiKey="x" y&b`:                      `/a?apiKey=REDACTED&b`,
		"/a?apiKe":                               "/a?apiKe",
		"/a?apiKey%3":                            "/a?apiKey%3",
		"/a?%":                                   "/a?%",
		"https://h/#apiKey=x":                    "https://h/#apiKey=REDACTED",
		"/a?apiKey=REDACTED":                     "/a?apiKey=REDACTED",
		"/a?b=\xff\xfe&apiKey=\xff":              "/a?b=\xff\xfe&apiKey=REDACTED",
		strings.Repeat("apiKe", 3) + "apiKey=x&": strings.Repeat("apiKe", 3) + "apiKey=REDACTED&",
	} {
		if got := RedactParameter(text, "apiKey"); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
	if got := RedactParameter("/?api+key=x&api%20key=y", "api key"); got != "/?api+key=REDACTED&api%20key=REDACTED" {
		t.Errorf("a name with a space: %q", got)
	}
	if got := RedactParameter("/?=x", ""); got != "/?=x" {
		t.Errorf("no parameter: %q", got)
	}
}

// textOf returns the first value of a parameter, decoded.
func textOf(query, parameter string) (string, error) {
	var value [1]QueryValue
	ScanQuery(query, []string{parameter}, value[:])
	return value[0].Text(len(query))
}

// What this server, or Go's own parser, would take for the parameter does not outlive Redact, however it is written.
func TestRedactProperty(t *testing.T) {
	const token = "eyJ0.eyJp.c2ln"
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{
			"apiKey=" + token, "%61piKey=" + token, "api%4Bey=" + token, "apiKey=", "apiKey",
			"a", "=", "&", "?", "#", "%", "%2", "%zz", "+", ";", "é", "\xff",
		})
		query := strings.Join(rapid.SliceOf(piece).Draw(t, "query"), "")
		found, _ := textOf(query, "apiKey")
		for _, before := range []string{"/a?", "http://h/a?", "https://h/a#"} {
			logged := RedactParameter(before+query, "apiKey")
			if token := found; len(token) > 8 && token != redacted && strings.Contains(logged, token) {
				t.Fatalf("%q: %q is left in %q", query, token, logged)
			}
			after, _ := url.ParseQuery(strings.TrimPrefix(logged, before))
			for _, value := range after["apiKey"] {
				if value != "" && value != redacted {
					t.Fatalf("%q: %q is left in %q", query, value, logged)
				}
			}
			if again := RedactParameter(logged, "apiKey"); again != logged {
				t.Fatalf("not idempotent on %q: %q, then %q", query, logged, again)
			}
		}
	})
}

func FuzzRedactParameter(f *testing.F) {
	for _, seed := range []string{"", "/a?apiKey=x&b", "%61piKey=x%", "api%4", "apiKey%3Dx apiKey=y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := RedactParameter(text, "apiKey")
		if len(got) > len(text)+len(redacted)*strings.Count(got, redacted) || RedactParameter(got, "apiKey") != got {
			t.Errorf("Redact(%q) = %q", text, got)
		}
		if value, err := textOf(got, "apiKey"); err == nil && value != "" && value != redacted {
			t.Errorf("Redact(%q) = %q, with %q", text, got, value)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	text := "/v2/search/reverse-geocoding?lat=39.1573&lon=-75.5197&apiKey=" + strings.Repeat("x", 600)
	b.ReportAllocs()
	for b.Loop() {
		RedactParameter(text, "apiKey")
	}
}
