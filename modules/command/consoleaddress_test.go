package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/pages"
)

func TestConsoleAddress(t *testing.T) {
	admin := new(fakeAdmin)
	server := httptest.NewServer(admin)
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	const inside = " {\nhandle /console/* {\nmaps_console\n}\nhandle {\nrespond here\n}\n}\n"
	for caddyfile, want := range map[string]string{
		":8080" + inside:                                         "http://localhost:8080/console",
		"http://127.0.0.1:8080" + inside:                         "http://127.0.0.1:8080/console",
		":8080 {\nbind 127.0.0.1\nmaps_console\n}":               "http://127.0.0.1:8080/console",
		":8080 {\nbind 0.0.0.0\nmaps_console\n}":                 "http://localhost:8080/console",
		":8080 {\nbind ::1\nmaps_console\n}":                     "http://[::1]:8080/console",
		"http://maps.example.com" + inside:                       "http://maps.example.com/console",
		"http://maps.example.com:8080" + inside:                  "http://maps.example.com:8080/console",
		"maps.example.com" + inside:                              "https://maps.example.com/console",
		"maps.example.com:8443" + inside:                         "https://maps.example.com:8443/console",
		"https://:8443 {\ntls internal\nmaps_console\n}":         "https://localhost:8443/console",
		":80 {\nrespond x\n}\n:81" + inside:                      "http://localhost:81/console",
		"*.example.com, maps.example.org" + inside:               "https://maps.example.org/console",
		":8080 {\nmaps_console {\nprefix /a/accounts\n}\n}":      "http://localhost:8080/a/accounts",
		"http://a.example.com {\nrespond x\n}\n:80" + inside:     "http://localhost/console",
		"{\nauto_https off\n}\nmaps.example.com:8080" + inside:   "https://maps.example.com:8080/console",
		":8080 {\nrespond x\n}":                                  "",
		":8080 {\nbind unix//run/maps.sock\nmaps_console\n}":     "",
		":8080 {\nroute {\nroute /c* {\nmaps_console\n}\n}\n}\n": "http://localhost:8080/console",
	} {
		adapted, err := modulestest.Adapt(caddyfile)
		if err != nil {
			t.Fatalf("%s: %v", caddyfile, err)
		}
		admin.config = adapted
		got, _, err := run(t, "", "user-token", "--organization", "acme", "--console", "--address", address)
		if want == "" && (err == nil || !strings.Contains(err.Error(), "has maps_console")) ||
			want != "" && (err != nil || got != want+"/#token=t0ken\n") {
			t.Errorf("%s: %q, %v; want %q", caddyfile, got, err, want)
		}
	}
}

// fakeAdmin is the admin API of a server with any configuration.
type fakeAdmin struct{ config []byte }

func (a *fakeAdmin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/config/apps/http/servers" {
		fmt.Fprint(w, `{"token":"t0ken","expiresAt":"2026-01-02T03:04:05Z"}`)
		return
	}
	var config struct {
		Apps struct {
			HTTP struct {
				Servers json.RawMessage `json:"servers"`
			} `json:"http"`
		} `json:"apps"`
	}
	_ = json.Unmarshal(a.config, &config) // as it was adapted
	_, _ = w.Write(config.Apps.HTTP.Servers)
}

func TestConsoleBase(t *testing.T) {
	server := httptest.NewServer(new(fakeAdmin))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	for base, good := range map[string]bool{
		"https://maps.example.com": true, "http://localhost:8080/": true, "https://example.com/maps": true,
		"maps.example.com": false, "localhost:8080": false, "ftp://example.com": false, "https://": false,
		"https://example.com/#token=x": false, "https://example.com/?x": false, "https://%": false,
	} {
		got, _, err := run(t, "", "user-token", "--organization", "acme", "--console", "--base", base, "--address", address)
		if good && got != strings.TrimSuffix(base, "/")+"/console/#token=t0ken\n" ||
			!good && (err == nil || !strings.HasPrefix(err.Error(), "--base: must be the address")) {
			t.Errorf("%s: %q, %v", base, got, err)
		}
	}
}
