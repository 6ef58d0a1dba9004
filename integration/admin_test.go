package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	mint := func(body string) call {
		return call{method: "POST", path: "/maps/user-tokens", contentType: jsonType, body: body}
	}
	for name, test := range map[string]struct {
		call   call
		status int
	}{
		"no organization":    {mint(`{"subject":"x","ttl":"1h"}`), 400},
		"empty organization": {mint(`{"organization":"","ttl":"1h"}`), 400},
		"bad ttl":            {mint(`{"organization":"x","ttl":"soon"}`), 400},
		"negative ttl":       {mint(`{"organization":"x","ttl":"-1h"}`), 400},
		"more than a day":    {mint(`{"organization":"x","ttl":"25h"}`), 400},
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

// The example configuration adapts without a warning, and validates where its store is not. It does not validate where
// its region is not, because it would not start there.
func TestExampleConfiguration(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	example := filepath.Join(root, "Caddyfile.example")
	out, err := s.command(t.Context(), "adapt", "--config", example, "--adapter", "caddyfile").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "WARN") {
		t.Errorf("adapting warns:\n%s", out)
	}
	validate := s.command(t.Context(), "validate", "--config", example, "--adapter", "caddyfile")
	missing := filepath.Join(s.dir, "missing.region")
	validate.Env = append(validate.Env, "MAPS_REGION="+missing)
	if out, err := validate.CombinedOutput(); validate.ProcessState.ExitCode() != 1 || !strings.Contains(string(out),
		"make it with `caddy maps build EXTRACT --output "+missing+"`, or write `awaited` if it comes later, at "+example+":") {
		t.Errorf("without a region: %v\n%s", err, out)
	}
	if out, err := s.command(t.Context(), "validate", "--config", example, "--adapter",
		"caddyfile").CombinedOutput(); err != nil ||
		strings.Contains(string(out), "caddy maps build") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(s.store); err == nil {
		t.Error("validating opened the store")
	}

	// With every option that the example shows as a comment.
	text, err := exampleWith(
		"# refresh_requires_server_token", "refresh_requires_server_token",
		"# refresh_rotation", "refresh_rotation",
		"# admin_access_tokens off", "admin_access_tokens off",
		"# cors https://app.example.com", "cors https://app.example.com",
		"# cors https://app.example.com", "cors https://app.example.com",
		"# forward_token", "forward_token",
		"# key_encryption_key {file./run/secrets/kek}", "key_encryption_key {env.MAPS_KEK}",
		"# user_tokens {", "user_tokens {",
		"#	issuer https", "	issuer https",
		"#	audience maps-management", "	audience maps-management",
		"#	jwks_url", "	jwks_url",
		"#	algorithms", "	algorithms",
		"#	organization_claim", "	organization_claim",
		"#	require_claim", "	require_claim",
		"#	# local off", "	local off",
		"\n\t\t# }\n", "\n\t\t}\n", // of user_tokens, not of login within
	)
	if err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(s.dir, "full")
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := s.command(t.Context(), "validate", "--config", full, "--adapter", "caddyfile")
	cmd.Env = append(cmd.Env, "MAPS_KEK=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
