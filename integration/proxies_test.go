package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// proxied is examples/proxies: a server that a proxy asks, and an application behind the proxy.
type proxied struct {
	*server
	t    *testing.T
	app  *recorder
	site string // URL of the proxy
}

// startProxied runs the server with the accounts. edit gives the other files of the example hosts and ports of the test.
func startProxied(t *testing.T) (p *proxied, edit func(file string) string) {
	t.Helper()
	p = &proxied{server: newServer(t), t: t, app: newRecorder(t)}
	address, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	p.site = "http://" + address
	hosts := strings.NewReplacer("maps-1:8080", "127.0.0.1:"+p.port, "http://127.0.0.1:3000", p.app.URL,
		"127.0.0.1:3000", strings.TrimPrefix(p.app.URL, "http://"), "app.example.com {", p.site+" {\n\trespond /healthz OK",
		"listen 8081", "listen "+address, ":8080 {", p.url("")+" {", "./delaware.region", region)
	edit = func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, "examples", "proxies", file))
		if err != nil {
			t.Fatal(err)
		}
		return hosts.Replace(string(text))
	}
	p.configure(p.server, edit("maps.Caddyfile"))
	p.run(t)
	return p, edit
}

// configure writes a Caddyfile, to which it adds options unless it has some.
func (p *proxied) configure(s *server, text string) {
	p.t.Helper()
	if !strings.Contains(text, "\n{\n") {
		text = "\n{\n}\n" + text
	}
	text = strings.Replace(text, "\n{\n", "\n{\n\tadmin "+s.admin+"\n", 1)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// check sends requests through the proxy. limited is its status for a quota that is used up, removes is whether it removes
// apiKey, and replaces are headers with URLs that clients cannot set.
func (p *proxied) check(limited int, removes bool, replaces ...string) {
	p.t.Helper()
	user := p.userToken(p.t, "acme")
	token := func(fields map[string]any) (serviceAccount, string) {
		acc := p.create(p.t, user, fields)
		token, _ := p.exchange(p.t, acc.ClientToken, acc.ServerToken)
		return acc, token
	}
	acc, good := token(map[string]any{"quotas": []map[string]any{
		{"scope": "ORDERS", "unit": "requests", "window": "day", "limit": 3}}, "scopes": []string{"ORDERS", "TILE"}})
	_, lacking := token(map[string]any{"scopes": []string{"TILE"}})
	_, elsewhere := token(map[string]any{"restrictions": map[string]any{"networks": []string{"203.0.113.0/24"}},
		"scopes": []string{"ORDERS"}})
	forged := map[string][]string{
		"X-Maps-Account": {"forged"}, "X-Maps-Scopes": {"forged"}, "X-Forwarded-For": {"203.0.113.9"},
	}
	for _, name := range replaces {
		forged[name] = []string{"/?apiKey=" + good}
	}
	apiKey := "&apiKey=" + good
	if removes {
		apiKey = ""
	}
	for _, tc := range []struct {
		name string
		call call
		want int
		uri  string // that the application sees
	}{
		{"header", call{path: "/orders/1?a=b", bearer: good}, 200, "GET /orders/1?a=b"},
		{"query", call{path: "/orders/2?a=b&apiKey=" + good}, 200, "GET /orders/2?a=b" + apiKey},
		{"POST", call{method: "POST", path: "/orders/3", bearer: good, body: "text"}, 200, "POST /orders/3"},
		{"beyond the quota", call{path: "/orders/4", bearer: good}, limited, ""},
		{"no token", call{path: "/orders/5"}, 401, ""},
		{"another scope", call{path: "/orders/6", bearer: lacking}, 403, ""},
		{"another network", call{path: "/orders/7", bearer: elsewhere}, 403, ""},
	} {
		tc.call.header = forged
		a, err := sendTo(p.t, httpClient, p.site, tc.call)
		if err != nil {
			p.t.Fatalf("%s: %v", tc.name, err)
		}
		asked := p.app.take()
		if a.status != tc.want || (len(asked) == 1) != (tc.want == 200) {
			p.t.Errorf("%s: %d %s, and the application was asked %d times, want %d", tc.name, a.status, a.body, len(asked), tc.want)
			continue
		}
		if tc.want == 401 && !strings.HasPrefix(a.header.Get("Www-Authenticate"), "Bearer") {
			p.t.Errorf("%s: %v", tc.name, a.header)
		}
		if tc.want != 200 {
			continue
		}
		got := asked[0]
		who := []string{got.header.Get("X-Maps-Account"), got.header.Get("X-Maps-Organization"), got.header.Get("X-Maps-Scopes"),
			got.header.Get("Authorization")}
		if want := []string{acc.ID, "acme", "TILE ORDERS", ""}; !slices.Equal(who, want) ||
			got.method+" "+got.uri != tc.uri || got.body != tc.call.body {
			p.t.Errorf("%s: the application sees %+v", tc.name, got)
		}
	}
	if diff := cmp.Diff(map[string]account.Usage{"ORDERS": {Requests: 3, Refused: 1, Units: 3}}, p.used(p.t, user, acc)); diff != "" {
		p.t.Errorf("usage (-want +got):\n%s", diff)
	}
	if err := p.searchSecrets(); err != nil {
		p.t.Error(err)
	}
}

// Another Caddy asks before each request.
func TestForwardAuth(t *testing.T) {
	t.Parallel()
	p, edit := startProxied(t)
	front := newServer(t)
	address, err := url.Parse(p.site)
	if err != nil {
		t.Fatal(err)
	}
	front.port = address.Port()
	p.configure(front, edit("forward-auth.Caddyfile"))
	front.run(t)
	p.check(http.StatusTooManyRequests, true, "X-Forwarded-Uri")
}

// An nginx asks before each request.
func TestNginx(t *testing.T) {
	leaveOut(t, "needs nginx")
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx" // in no path but root's
		if _, err := os.Stat(program); err != nil {
			t.Skip("nginx is not installed")
		}
	}
	t.Parallel()
	p, edit := startProxied(t)
	dir := t.TempDir()
	config, files := filepath.Join(dir, "nginx.conf"), ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		files += fmt.Sprintf("%s_temp_path %s;\n", kind, filepath.Join(dir, kind))
	}
	text := "pid " + filepath.Join(dir, "pid") + ";\n" +
		strings.Replace(edit("nginx.conf"), "http {\n", "http {\naccess_log off;\n"+files, 1)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "error.log")
	cmd := exec.CommandContext(t.Context(), program, "-p", dir, "-c", config, "-e", log, "-g", "daemon off; master_process off;")
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			for _, name := range []string{log, out.Name()} {
				text, _ := os.ReadFile(name)
				t.Logf("%s: %s", name, text)
			}
		}
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(p.site, "http://")); err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nginx does not listen")
		}
	}
	p.check(http.StatusInternalServerError, false, "X-Forwarded-Uri", "X-Original-Uri", "X-Original-Url")
}

// The example for Traefik is YAML, and asks what the others ask.
func TestTraefik(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "examples", "proxies", "traefik.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		HTTP struct {
			Middlewares struct {
				Token struct {
					ForwardAuth struct {
						Address             string   `yaml:"address"`
						TrustForwardHeader  bool     `yaml:"trustForwardHeader"`
						AuthResponseHeaders []string `yaml:"authResponseHeaders"`
					} `yaml:"forwardAuth"`
				} `yaml:"orders-token"`
			} `yaml:"middlewares"`
			Routers map[string]struct {
				Middlewares []string `yaml:"middlewares"`
			} `yaml:"routers"`
		} `yaml:"http"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	auth := config.HTTP.Middlewares.Token.ForwardAuth
	want := []string{"X-Maps-Account", "X-Maps-Organization", "X-Maps-Scopes"}
	if auth.Address != "http://maps-1:8080/verify?scope=ORDERS" || auth.TrustForwardHeader ||
		!slices.Equal(auth.AuthResponseHeaders, want) || config.HTTP.Routers["orders"].Middlewares[0] != "orders-token" {
		t.Errorf("%+v", config)
	}
}
