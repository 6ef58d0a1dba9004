package request

import (
	"net/http"
	"strings"
	"testing"
)

func TestAcceptsGzip(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                          false,
		"gzip":                      true,
		"gzip, deflate, br, zstd":   true,
		"GZIP;q=0.1":                true,
		"br, gzip;q=0.5":            true,
		"gzip;q=0":                  false,
		"*":                         false,
		"gzip;q=0, *":               false,
		"identity, gzip;q=0.5":      false,
		"identity;q=0.5, gzip":      true,
		"identity;q=0.5, gzip;q=.5": true,
		"br":                        false,
		"xgzip, gzipped":            false,
		"gzip;q=0.000":              false,
		"gzip;q=abc":                false,
		"gzip;q=NaN":                false,
		"br\ngzip":                  true,
		"gzip;q=0\nidentity":        false,
	} {
		if got := AcceptsGzip(http.Header{"Accept-Encoding": strings.Split(accept, "\n")}); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestPreferredType(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                     "application/json",
		"*/*":                                  "application/json",
		"application/json, text/csv":           "application/json",
		"text/csv":                             "text/csv",
		"TEXT/CSV; header=present":             "text/csv",
		"text/csv;q=0.5":                       "text/csv",
		"text/csv;q=0.5, application/*":        "application/json",
		"text/csv, */*;q=0.1":                  "text/csv",
		"text/*":                               "text/csv",
		"text/csv;q=0, */*":                    "application/json",
		"application/json;q=0.1\ntext/csv":     "text/csv",
		"text/csv; header=present; Q=0.1, */*": "application/json",
		"image/png":                            "application/json",
		"text/csv;q=NaN":                       "application/json",
		"text/csvx, xtext/csv":                 "application/json",
	} {
		h := http.Header{"Accept": strings.Split(accept, "\n")}
		if got := PreferredType(h, "application/json", "text/csv"); got != want {
			t.Errorf("%q: got %s, want %s", accept, got, want)
		}
	}
}
