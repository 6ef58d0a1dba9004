package request

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestScan(t *testing.T) {
	names := []string{"lat", "lon"}
	values := make([]QueryValue, 2)
	for _, tc := range []struct {
		query, repeated string
		want            [2]QueryValue
	}{
		{"", "", [2]QueryValue{}},
		{"lat=1&lon=2", "", [2]QueryValue{{"1", true}, {"2", true}}},
		{"&&lon=&x=3&lat&=", "", [2]QueryValue{{"", true}, {"", true}}},
		{"l%61t=1&LAT=2&lat2=3&la=4", "", [2]QueryValue{{"1", true}, {}}},
		{"lat=1=2&l%zz=3", "", [2]QueryValue{{"1=2", true}, {}}},
		{"lat=1&lon=2&%6Cat=1", "lat", [2]QueryValue{{"1", true}, {"2", true}}},
		{"x=1&x=2", "", [2]QueryValue{}},
	} {
		if repeated := ScanQuery(tc.query, names, values); repeated != tc.repeated || [2]QueryValue(values) != tc.want {
			t.Errorf("%q: %v, repeated %q", tc.query, values, repeated)
		}
	}
	names, values = []string{"lat", "lon", "size"}, make([]QueryValue, 3)
	if n := testing.AllocsPerRun(100, func() {
		ScanQuery("lat=39.1%32345&lon=-75.5&size=3&x=%20", names, values)
		for _, v := range values {
			if _, ok := v.Number(); !ok {
				t.Error(v)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNumbers(t *testing.T) {
	for raw, want := range map[string]float64{"1": 1, "+1": 1, "%2B1": 1, "%31e%2B1": 10, "1e+1": 10, "-0.5": -0.5} {
		if got, ok := (QueryValue{Raw: raw}).Number(); !ok || got != want {
			t.Errorf("%q: %v, %v", raw, got, ok)
		}
	}
	for _, raw := range []string{
		"", "%201", "1+", "1%20", "++1", "%", "%3", "%zz", "1e400", "NaN", string(make([]byte, 1000)),
	} {
		if got, ok := (QueryValue{Raw: raw}).Number(); ok {
			t.Errorf("%q was taken for %v", raw, got)
		}
	}
	for raw, want := range map[string]string{
		"[{+1,+-2},+{1e+1,2E%2B1}]":         "[{ 1, -2}, {1e+1,2E+1}]",
		"%5B%7B%2B1%2C2%7D%5D":              "[{+1,2}]",
		"{%22name+e+1%22:1e+2}":             `{"name e 1":1e+2}`,
		"%5b%7b39.1,-75.5%7d,{39.2,-75.6}]": "[{39.1,-75.5},{39.2,-75.6}]",
	} {
		if got, err := (QueryValue{Raw: raw}).AppendNumbers(nil); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", raw, got, err)
		}
	}
	if _, err := (QueryValue{Raw: "[%g1"}).AppendNumbers(nil); err == nil {
		t.Error("a broken percent-encoding was taken")
	}
}

// TestText: a value is decoded as net/url does it, and bounded.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.StringMatching(`([a-z+;=é]|%[0-9a-fA-F]{2}|%[g%]){0,12}`).Draw(t, "raw")
		want, wantErr := url.QueryUnescape(raw)
		if len(want) > 8 {
			want, wantErr = "", ErrQueryTooLong
		}
		got, err := (QueryValue{Raw: raw}).Text(8)
		if (err != nil) != (wantErr != nil) || got != want {
			t.Fatalf("%q: %q, %v; net/url has %q, %v", raw, got, err, want, wantErr)
		}
	})
}

// drawQuery makes queries of pieces that are hard to tell apart.
func drawQuery(t *rapid.T) string {
	return strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"apiKey", "%61piKey", "api%4bey", "apiKey=eyJ0.eyJp.c2ln",
		"%61piKey=eyJ0.eyJp.c2ln", "a", "=", "&", "&&", "?", "#", "%", "%2", "%zz", "+", ";", "é", "\xff", "x=1"})).Draw(t, "query"), "")
}

func TestRemove(t *testing.T) {
	for query, want := range map[string]string{
		"":                            "",
		"a=1":                         "a=1",
		"apiKey":                      "",
		"a=1&apiKey=x&b=2":            "a=1&b=2",
		"apiKey=x&a=1":                "a=1",
		"apiKey=x&apiKey=y":           "",
		"%61piKey=x&a=%zz&&b=+":       "a=%zz&&b=+",
		"a=apiKey=x":                  "a=apiKey=x",
		"apikey=x":                    "apikey=x",
		"path=[{1,2}]&api%4Bey=a%20b": "path=[{1,2}]",
		"a;apiKey=x":                  "a;apiKey=x",
	} {
		if got := RemoveParameter(query, "apiKey"); got != want {
			t.Errorf("RemoveParameter(%q) = %q, want %q", query, got, want)
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
	// The result is the query without the pairs of that name, in their order, byte for byte.
	rapid.Check(t, func(t *rapid.T) {
		query := drawQuery(t)
		var kept []string
		for _, pair := range strings.Split(query, "&") {
			name, _, _ := strings.Cut(pair, "=")
			if decoded, err := url.QueryUnescape(name); name != "apiKey" && (err != nil || decoded != "apiKey") {
				kept = append(kept, pair)
			}
		}
		if got := RemoveParameter(query, "apiKey"); got != strings.Join(kept, "&") {
			t.Fatalf("RemoveParameter(%q) = %q, want %q", query, got, kept)
		}
	})
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"/a?b=1":                                 "/a?b=1",
		"/a?apikey=x&APIKEY=y&API%4bEY=z":        "/a?apikey=REDACTED&APIKEY=REDACTED&API%4bEY=REDACTED",
		"/apiKey":                                "/apiKey",
		"/a?apiKey":                              "/a?apiKey",
		"/a?apiKey=":                             "/a?apiKey=",
		"/a?apiKey=x&b=1":                        "/a?apiKey=REDACTED&b=1",
		"/a?apiKey=&b=1&apiKey=y":                "/a?apiKey=&b=1&apiKey=REDACTED",
		"/a?apiKey=x&apiKey=y":                   "/a?apiKey=REDACTED&apiKey=REDACTED",
		"/a?%61piKe%79=x&b":                      "/a?%61piKe%79=REDACTED&b",
		"/a?api%4bey%3dx&b":                      "/a?api%4bey%3dREDACTED&b",
		"/a?x=#&apiKey=y#z&b":                    "/a?x=#&apiKey=REDACTED&b",
		"/a?%zz&apiKey=y%zz":                     "/a?%zz&apiKey=REDACTED",
		"/a?to=%2Fb%3FapiKey%3Dx%26c":            "/a?to=%2Fb%3FapiKey%3DREDACTED",
		"/a;apiKey=x":                            "/a;apiKey=REDACTED",
		"/a?xapiKey=x":                           "/a?xapiKey=REDACTED",
		"/a?apiKey==x":                           "/a?apiKey=REDACTED",
		"/a?apiapiKey=x":                         "/a?apiapiKey=REDACTED",
		"/a?%61%61piKey=x":                       "/a?%61%61piKey=REDACTED",
		`apiKey="x" y&b`:                         `apiKey=REDACTED&b`,
		"/a?apiKe":                               "/a?apiKe",
		"/a?apiKey%3":                            "/a?apiKey%3",
		"/a?%":                                   "/a?%",
		"https://h/#apiKey=x":                    "https://h/#apiKey=REDACTED",
		"/a?apiKey=REDACTED":                     "/a?apiKey=REDACTED",
		"/a?b=\xff\xfe&apiKey=\xff":              "/a?b=\xff\xfe&apiKey=REDACTED",
		strings.Repeat("apiKe", 3) + "apiKey=x&": strings.Repeat("apiKe", 3) + "apiKey=REDACTED&",
	} {
		if got := RedactParameter(text, "apiKey"); got != want {
			t.Errorf("RedactParameter(%q) = %q, want %q", text, got, want)
		}
	}
	if got := RedactParameter("/?api+key=x&api%20key=y", "api key"); got != "/?api+key=REDACTED&api%20key=REDACTED" {
		t.Errorf("a name with a space: %q", got)
	}
	if got := RedactParameter("/?=x", ""); got != "/?=x" {
		t.Errorf("no parameter: %q", got)
	}
	// What this server, or Go's own parser, takes for the parameter does not survive RedactParameter, however it is written.
	rapid.Check(t, func(t *rapid.T) {
		query := drawQuery(t)
		for _, before := range []string{"/a?", "http://h/a?", "https://h/a#"} {
			logged := RedactParameter(before+query, "apiKey")
			after := strings.TrimPrefix(logged, before)
			values, _ := url.ParseQuery(after)
			var value [1]QueryValue
			ScanQuery(after, []string{"apiKey"}, value[:])
			found, _ := value[0].Text(len(after))
			for _, v := range append(values["apiKey"], found) {
				if v != "" && v != redacted {
					t.Fatalf("%q: %q is left in %q", query, v, logged)
				}
			}
			if again := RedactParameter(logged, "apiKey"); again != logged {
				t.Fatalf("not idempotent on %q: %q, then %q", query, logged, again)
			}
		}
	})
}
