package request

import (
	"net/url"
	"testing"

	"pgregory.net/rapid"
)

func TestScanQuery(t *testing.T) {
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
}

func TestNumber(t *testing.T) {
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
}

func TestAppendNumbers(t *testing.T) {
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

// Text is decoded as net/url does it, and bounded.
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

func TestNoAllocations(t *testing.T) {
	names, values := []string{"lat", "lon", "size"}, make([]QueryValue, 3)
	if n := testing.AllocsPerRun(100, func() {
		ScanQuery("lat=39.1%32345&lon=-75.5&size=3&x=%20", names, values)
		for _, v := range values {
			if _, ok := v.Number(); !ok {
				t.Fatal(v)
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
