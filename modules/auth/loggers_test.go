package auth

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// The loggers are those that Caddy gives a request of these hosts to.
func TestLoggers(t *testing.T) {
	names := map[string]caddyhttp.StringArray{"maps.example.com": {"a", "b"}, "*.example.org": {"c"},
		"silent.example.com": {}}
	for _, tc := range []struct {
		name  string
		logs  *caddyhttp.ServerLogConfig
		hosts []string
		want  string
	}{
		{"no access log", nil, []string{"maps.example.com"}, "http.log.error"},
		{"the default", &caddyhttp.ServerLogConfig{}, nil, "http.log.access http.log.error"},
		{"the default by a name", &caddyhttp.ServerLogConfig{DefaultLoggerName: "d"}, []string{"x"},
			"http.log.access.d http.log.error.d"},
		{"by host", &caddyhttp.ServerLogConfig{LoggerNames: names}, []string{"MAPS.example.com"},
			"http.log.access.a http.log.access.b http.log.error.a http.log.error.b"},
		{"by wildcard", &caddyhttp.ServerLogConfig{LoggerNames: names}, []string{"maps.example.org"},
			"http.log.access.c http.log.error.c"},
		{"one of two", &caddyhttp.ServerLogConfig{LoggerNames: names, DefaultLoggerName: "d"},
			[]string{"maps.example.org", "x"},
			"http.log.access.c http.log.access.d http.log.error.c http.log.error.d"},
		{"any host", &caddyhttp.ServerLogConfig{LoggerNames: map[string]caddyhttp.StringArray{"x": {"a"}}}, nil,
			"http.log.access http.log.access.a http.log.error http.log.error.a"},
		{"skipped", &caddyhttp.ServerLogConfig{SkipHosts: []string{"*.example.net"}}, []string{"maps.example.net"},
			"http.log.error"},
		{"not mapped", &caddyhttp.ServerLogConfig{LoggerNames: names, SkipUnmappedHosts: true}, []string{"x"},
			"http.log.error"},
		{"silent", &caddyhttp.ServerLogConfig{LoggerNames: names}, []string{"silent.example.com"}, ""},
	} {
		if got := strings.Join(loggers(&caddyhttp.Server{Logs: tc.logs}, tc.hosts), " "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
