package request

import (
	"net/http"
	"strings"
	"testing"
)

func TestGzip(t *testing.T) {
	for want, list := range map[bool][]string{
		true: {"gzip", "gzip, deflate, br, zstd", "GZIP;q=0.1", "br, gzip;q=0.5", "identity;q=0.5, gzip",
			"identity;q=0.5, gzip;q=.5", "br\ngzip"},
		false: {"", "gzip;q=0", "*", "gzip;q=0, *", "identity, gzip;q=0.5", "br", "xgzip, gzipped", "gzip;q=0.000",
			"gzip;q=abc", "gzip;q=NaN", "gzip;q=0\nidentity"},
	} {
		for _, accept := range list {
			if got := AcceptsGzip(http.Header{"Accept-Encoding": strings.Split(accept, "\n")}); got != want {
				t.Errorf("%q: %v", accept, got)
			}
		}
	}
}

func TestType(t *testing.T) {
	for want, list := range map[string][]string{
		"application/json": {"", "*/*", "application/json, text/csv", "text/csv;q=0.5, application/*", "text/csv;q=0, */*",
			"text/csv; header=present; Q=0.1, */*", "image/png", "text/csv;q=NaN", "text/csvx, xtext/csv"},
		"text/csv": {"text/csv", "TEXT/CSV; header=present", "text/csv;q=0.5", "text/csv, */*;q=0.1", "text/*",
			"application/json;q=0.1\ntext/csv"},
	} {
		for _, accept := range list {
			if got := PreferredType(http.Header{"Accept": strings.Split(accept, "\n")}, "application/json", "text/csv"); got != want {
				t.Errorf("%q: got %s, want %s", accept, got, want)
			}
		}
	}
}
