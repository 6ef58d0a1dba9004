package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

func TestAdminAPI(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	var status, regions any
	s.sendAdmin(t, call{path: "/maps/status"}).want(200).wantHeader("Cache-Control", "no-store").into(&status)
	s.sendAdmin(t, call{path: "/maps/regions"}).want(200).wantHeader("Cache-Control", "no-store").into(&regions)
	if text := asJSON(t, regions); !strings.Contains(text, "delaware") {
		t.Errorf("regions: %s", text)
	}
	change := func(method, path, body string) call {
		return call{method: method, path: path, contentType: jsonType, body: body}
	}
	var made accountBody
	s.sendAdmin(t, change("POST", "/maps/accounts", `{"organization":"by-admin","scopes":["TILE"]}`)).want(201).into(&made)
	secret(made.Data.ClientToken)
	secret(made.Data.ServerToken)
	of := "/maps/accounts/" + made.Data.ID
	s.sendAdmin(t, call{path: "/maps/organizations?limit=200"}).want(200)
	s.sendAdmin(t, call{path: "/maps/accounts?organization=by-admin&status=ACTIVE&limit=1"}).want(200)
	s.sendAdmin(t, call{path: of}).want(200)
	s.sendAdmin(t, change("PATCH", of, `{"status":"REVOKED"}`)).want(200)
	s.sendAdmin(t, change("PATCH", of, `{"status":"ACTIVE"}`)).want(409)
	s.sendAdmin(t, call{method: "DELETE", path: of}).want(204)
	s.sendAdmin(t, call{path: of}).want(404)
	mint := func(body string) call {
		return call{method: "POST", path: "/maps/user-tokens", contentType: jsonType, body: body}
	}
	for name, test := range map[string]struct {
		call   call
		status int
	}{
		"no organization":    {mint(`{"subject":"x","ttl":"1h"}`), 400},
		"empty organization": {mint(`{"organization":"","ttl":"1h"}`), 400},
		"no accounts":        {mint(`{"organization":"x"}`), 404},
		"bad ttl":            {mint(`{"organization":"x","ttl":"soon","new":true}`), 400},
		"negative ttl":       {mint(`{"organization":"x","ttl":"-1h","new":true}`), 400},
		"more than a day":    {mint(`{"organization":"x","ttl":"25h","new":true}`), 400},
		"unknown field":      {mint(`{"organization":"x","role":"root"}`), 400},
		"no JSON":            {mint(`organization=x`), 400},
		"17 KiB":             {mint(`{"organization":"` + strings.Repeat("x", 17<<10) + `"}`), 413},
		"GET":                {call{path: "/maps/user-tokens"}, 405},
		"POST of the status": {call{method: "POST", path: "/maps/status"}, 405},
	} {
		t.Run(name, func(t *testing.T) {
			var body struct{ Error string }
			s.sendAdmin(t, test.call).want(test.status).into(&body)
			if body.Error == "" {
				t.Error("no error text")
			}
		})
	}
}

// Caddyfile.example adapts without a warning, validates only where its region is, and its two sites answer alike.
func TestExampleConfiguration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	example, err := os.ReadFile(filepath.Join(root, "Caddyfile.example"))
	if err == nil {
		err = os.WriteFile(s.config, example, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	writtenOut, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(writtenOut)
	s.env = []string{"MAPS_PORT_WRITTEN_OUT=" + port}
	out, err := s.command(t.Context(), "adapt", "--config", s.config, "--adapter", "caddyfile").CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARN") {
		t.Errorf("%v\n%s", err, out)
	}
	validate := s.command(t.Context(), "validate", "--config", s.config, "--adapter", "caddyfile")
	missing := filepath.Join(s.dir, "missing.region")
	validate.Env = append(validate.Env, "MAPS_REGION="+missing)
	if out, err := validate.CombinedOutput(); validate.ProcessState.ExitCode() != 1 || !strings.Contains(string(out),
		"make it with `caddy maps build EXTRACT --output "+missing+"`, or write `awaited` if it comes later, at "+s.config+":") {
		t.Errorf("without a region: %v\n%s", err, out)
	}
	if _, err := os.Stat(s.store); err == nil {
		t.Error("validating opened the store")
	}

	s.run(t)
	acc := s.create(t, s.userToken(t, "example"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	other := *s
	other.port = port
	for _, c := range append(callsWith(access),
		call{path: "/"}, call{path: "/healthz"}, call{path: "/playground"}, call{path: "/console/"}, call{path: "/docs/"},
		call{path: "/tiles/delaware.json"}, call{path: "/nothing"},
		call{path: match + "none"}, call{path: "/api/route/none"}, call{path: accounts}, call{method: "PUT", path: match, bearer: access},
		exchangeCall("mpc_x", "mps_x"), call{path: external + "/jwks.json"}, call{path: external},
	) {
		one, two := s.send(t, c), other.send(t, c)
		if one.status != two.status || !alike(one, two, s.port, port) {
			t.Errorf("%s %s:\n%d %v %.300s\n%d %v %.300s", c.method, c.path, one.status, one.header, one.body,
				two.status, two.header, two.body)
		}
	}
}

// alike reports whether two answers are the same but for the port, the time, and what is left of rate limits.
func alike(one, two *answer, port, other string) bool {
	left := regexp.MustCompile(`;r=[0-9]+;t=[0-9]+`)
	text := func(a *answer) string {
		h := a.header.Clone()
		h.Del("Date")
		h.Del("Etag")
		h.Del("Content-Length")
		return strings.ReplaceAll(left.ReplaceAllString(fmt.Sprint(h), "")+string(a.body), other, port)
	}
	return text(one) == text(two)
}
