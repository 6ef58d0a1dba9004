package access_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// The start warns of the loggers that show tokens of the query, and of no others.
func TestWarningOfLogs(t *testing.T) {
	const (
		filter = "format filter {\nrequest maps_redact apiKey key\n}"
		keys   = "api_key_query apiKey key"
	)
	own := "log {\noutput file " + filepath.Join(t.TempDir(), "own.log") + "\n%s\n}\n"
	s := modulestest.Start(t, modulestest.Config{Site: "respond x"})
	for _, tc := range []struct {
		name, format string // of the default logger
		site, option string
		want         string // the loggers
	}{
		{"no filter", "format json", "log", keys, `"http.log.access","http.log.error"`},
		{"filter", filter, "log", keys, ""},
		{"no parameter", "format json", "log", "", ""},
		{"another parameter", "format filter {\nrequest maps_redact apiKey\n}", "log", keys,
			`"http.log.access","http.log.error"`},
		{"the site's own log", filter, strings.Replace(own, "%s", "", 1), keys, `"http.log.access.log0"`},
		{"the default logger only", "format json", strings.Replace(own, "%s", filter, 1), keys, `"http.log.error"`},
		{"a filter in another encoder", filter,
			strings.Replace(own, "%s", "format append {\nwrap filter {\nrequest maps_redact apiKey key\n}\nx y\n}", 1), keys, ""},
		{"thrown away", filter, "log {\noutput discard\n}", keys, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(s.Log())
			if err := s.Load(modulestest.Config{Format: tc.format, NoAccessLog: true, Site: tc.site +
				"\nmaps_auth DIRECTION {\n" + tc.option + "\n}\nrespond x"}); err != nil {
				t.Fatal(err)
			}
			var said string
			for line := range strings.Lines(s.Log()[before:]) {
				if strings.Contains(line, "maps_redact <parameter>") {
					said += line
				}
			}
			if tc.want == "" && said != "" || !strings.Contains(said, tc.want) || strings.Count(said, "\n") > 1 ||
				tc.want != "" && !strings.Contains(said, `"loggers":[`+tc.want+`]`) {
				t.Errorf("got %s, want %s", said, tc.want)
			}
		})
	}
}

// A token shows in none of the module's own lines, with logs that filter nothing.
func TestOwnLinesHaveNoToken(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Format: "format json", NoAccessLog: true, Site: `
	handle {
		maps_auth DIRECTION {
			api_key_query apiKey
			units {query.apiKey}
		}
		respond "passed"
	}
` + accountsSite})
	_, token := s.Token("acme", "DIRECTION")
	_, lacking := s.Token("acme", "TILE")
	for _, query := range []string{token, lacking, token + "x", token + "&apiKey=" + token} {
		s.Do(http.MethodGet, "/a?apiKey="+query, "", "", "Referer", "http://h/?apiKey="+token)
	}
	waitLog(t, s, 0, "repeated credential")
	for _, secret := range []string{token, lacking} {
		if at := strings.Index(s.Log(), secret); at >= 0 {
			t.Errorf("the log holds the token after %s", s.Log()[max(0, at-500):at])
		}
	}
}
