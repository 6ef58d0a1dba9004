package command

import (
	"encoding/json"
	"errors"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/console"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func TestConsoleAddress(t *testing.T) {
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
		var config struct {
			Apps struct {
				HTTP struct {
					Servers map[string]httpServer `json:"servers"`
				} `json:"http"`
			} `json:"apps"`
		}
		if err := json.Unmarshal(adapted, &config); err != nil {
			t.Fatal(err)
		}
		got, err := consoleAddress(config.Apps.HTTP.Servers)
		if got != want || (want == "") != errors.Is(err, errNoConsole) {
			t.Errorf("%s: %q, %v; want %q", caddyfile, got, err, want)
		}
	}
}

func TestCheckBase(t *testing.T) {
	for base, good := range map[string]bool{
		"https://maps.example.com": true, "http://localhost:8080/": true, "https://example.com/maps": true,
		"maps.example.com": false, "localhost:8080": false, "ftp://example.com": false, "https://": false,
		"https://example.com/#token=x": false, "https://example.com/?x": false, "https://%": false,
	} {
		if err := checkBase(base); (err == nil) != good {
			t.Errorf("%s: %v", base, err)
		}
	}
}
