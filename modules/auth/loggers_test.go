package auth

import (
	"slices"
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

// A site's routes may give requests to other logs than those that the server has for their hosts.
func TestRenamedLoggers(t *testing.T) {
	named := func(hosts []string, names ...any) caddyhttp.Route {
		vars := caddyhttp.VarsMiddleware{caddyhttp.AccessLoggerNameVarKey: names}
		inner := caddyhttp.RouteList{{Handlers: []caddyhttp.MiddlewareHandler{&vars}}}
		route := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: inner}}}
		if hosts != nil {
			match := caddyhttp.MatchHost(hosts)
			route.MatcherSets = caddyhttp.MatcherSets{{&match}}
		}
		return route
	}
	invoked := named(nil, "invoked")
	server := &caddyhttp.Server{
		Logs: &caddyhttp.ServerLogConfig{DefaultLoggerName: "d"},
		Routes: caddyhttp.RouteList{named([]string{"a.example.com"}, "a", ""), named([]string{"b.example.com"}, "b"),
			named([]string{"*.example.com"}, "wild"), named(nil, "any")},
		NamedRoutes: map[string]*caddyhttp.Route{"x": &invoked},
	}
	for host, want := range map[string][]string{
		"a.example.com": {"", ".a", ".any", ".d", ".invoked", ".wild"},
		"c.example.net": {".any", ".d", ".invoked"},
		"":              {"", ".a", ".any", ".b", ".d", ".invoked", ".wild"},
	} {
		var hosts, names []string
		if host != "" {
			hosts = []string{host}
		}
		for _, suffix := range want {
			names = append(names, "http.log.access"+suffix, "http.log.error"+suffix)
		}
		slices.Sort(names)
		if got := loggers(server, hosts); !slices.Equal(got, names) {
			t.Errorf("%s: %v, want %v", host, got, names)
		}
	}
}

// A route of which one set of matchers names no host is for any.
func TestHostsOfRoute(t *testing.T) {
	host, path := caddyhttp.MatchHost{"a.example.com"}, caddyhttp.MatchPath{"/x/*"}
	for _, tc := range []struct {
		sets caddyhttp.MatcherSets
		want []string
	}{
		{nil, nil},
		{caddyhttp.MatcherSets{{&path}}, nil},
		{caddyhttp.MatcherSets{{&path, &host}}, []string{"a.example.com"}},
		{caddyhttp.MatcherSets{{&host}, {&path}}, nil},
	} {
		if got := hostsOfRoute(caddyhttp.Route{MatcherSets: tc.sets}); !slices.Equal(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.sets, got, tc.want)
		}
	}
}
