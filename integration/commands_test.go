package integration

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// maps runs `caddy maps …` and returns both outputs.
func maps(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), plain, append([]string{"maps"}, args...)...)
	cmd.Dir = t.TempDir()
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// The command prints only the token, and finds the server by --address or by its configuration.
func TestUserTokenCommand(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	for name, how := range map[string][]string{
		"address":       {"--address", s.admin},
		"configuration": {"--config", s.config, "--adapter", "caddyfile"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := s.command(t.Context(), append([]string{"maps", "user-token", "--organization", "by-command", "--new", "--subject", "ops", "--ttl", "10m"}, how...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, &stderr)
			}
			token := secret(strings.TrimSpace(string(out)))
			if string(out) != token+"\n" || strings.Count(token, ".") != 2 {
				t.Errorf("standard output is not one token and a line feed: %d bytes", len(out))
			}
			acc := s.create(t, token, nil)
			if acc.OrganizationID != "by-command" || acc.CreatedBy != "user:ops" {
				t.Errorf("the token is of %s, %s", acc.OrganizationID, acc.CreatedBy)
			}
		})
	}
	cmd := s.command(t.Context(), "maps", "user-token", "--organization", "by-console", "--new", "--console", "--address", s.admin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	page, token, _ := strings.Cut(strings.TrimSpace(string(out)), "/#token=")
	s.create(t, secret(token), nil)
	if page != s.url("/console") || s.send(t, call{path: "/console/"}).status != 200 {
		t.Errorf("the console is at %s", page)
	}
	for name, args := range map[string][]string{
		"only a base":     {"--address", s.admin, "--organization", "x", "--base", "https://maps.example.com"},
		"no base":         {"--address", s.admin, "--organization", "x", "--console", "--base", "maps.example.com"},
		"no organization": {"--address", s.admin},
		"long ttl":        {"--address", s.admin, "--organization", "x", "--new", "--ttl", "25h"},
		"no server":       {"--address", "127.0.0.1:1", "--organization", "x"},
	} {
		if out, err := s.command(t.Context(), append([]string{"maps", "user-token"}, args...)...).Output(); err == nil || len(out) > 0 {
			t.Errorf("%s: accepted: %q", name, out)
		}
	}
}
