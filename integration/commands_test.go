package integration

import (
	"bytes"
	"encoding/json"
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

// The life of an account by commands of the operator, who needs no user token.
func TestAccountCommands(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	run := func(args ...string) (out string, failure string) {
		t.Helper()
		cmd := s.command(t.Context(), append(append([]string{"maps"}, args...), "--address", s.admin)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			failure = stderr.String() + err.Error()
		}
		return string(text), failure
	}
	into := func(value any, args ...string) {
		t.Helper()
		out, failure := run(append(args, "--json")...)
		if err := json.Unmarshal([]byte(out), value); err != nil {
			t.Fatalf("%q: %v: %s%s", args, err, out, failure)
		}
	}
	var acc serviceAccount
	into(&acc, "accounts", "create", "--organization", "by operator", "--scopes", "TILE,DIRECTION", "--description", "two\nlines",
		"--platform", "WEB", "--admin")
	access, _ := s.exchange(t, secret(acc.ClientToken), secret(acc.ServerToken))
	if acc.OrganizationID != "by operator" || acc.CreatedBy != "user:operator" || strings.Join(acc.Scopes, " ") != "TILE DIRECTION" ||
		acc.Platform != "WEB" {
		t.Errorf("created: %+v", acc)
	}
	out, failure := run("accounts", "create", "--organization", "by operator", "--scopes", "TILE")
	words := strings.Fields(out)
	if failure != "" || len(words) < 6 || !strings.Contains(out, "they are shown only now.") {
		t.Fatalf("%s%s", out, failure)
	}
	secret(words[len(words)-1])
	s.exchange(t, secret(words[len(words)-4]), words[len(words)-1])
	second := words[2]

	var list []serviceAccount
	into(&list, "accounts", "list", "--organization", "by operator")
	if len(list) != 2 || list[0].ID != second || list[1].ID != acc.ID {
		t.Errorf("list: %+v", list)
	}
	for _, test := range []struct{ args, want string }{
		{"accounts show " + acc.ID, "Organization  by operator\nStatus        ACTIVE\nScopes        TILE,DIRECTION\nAdmin         its"},
		{"accounts show " + acc.ID, "Description   two lines\n"},
		{"accounts suspend " + acc.ID, acc.ID + " is SUSPENDED\n"},
		{"accounts list --status SUSPENDED", acc.ID + "  by operator  "},
		{"accounts activate " + acc.ID, acc.ID + " is ACTIVE\n"},
		{"accounts revoke " + acc.ID + " --json", `"status": "REVOKED"`},
		{"organizations", "by operator  "},
		{"accounts delete " + acc.ID, acc.ID + " is deleted\n"},
		{"accounts delete " + second + " --json", `"deleted": true`},
	} {
		if out, failure := run(strings.Fields(test.args)...); !strings.Contains(out, test.want) || failure != "" {
			t.Errorf("%s: %s%s", test.args, out, failure)
		}
		if strings.HasPrefix(test.args, "accounts suspend") {
			s.send(t, call{path: accounts, bearer: access}).want(401)
		}
	}
	for args, want := range map[string]string{
		"accounts activate " + acc.ID:                                   "service account not found",
		"accounts create --organization x --scopes TILES":               "TILE",
		"accounts list --organization x --status gone":                  "status: must be ACTIVE, SUSPENDED or REVOKED",
		"user-token --organization b":                                   "--new",
		"accounts create --organization x --scopes TILE --platform web": "platform: must be WEB",
	} {
		if out, failure := run(strings.Fields(args)...); !strings.Contains(failure, want) || out != "" {
			t.Errorf("%s: %s%s", args, out, failure)
		}
	}
	var organizations []struct{ Name string }
	into(&organizations, "organizations")
	for _, o := range organizations {
		if o.Name == "by operator" {
			t.Error("an organization without accounts is listed")
		}
	}
	// A typing error is noticed.
	s.create(t, s.userToken(t, "weather-office"), nil)
	if out, failure := run("user-token", "--organization", "weather-offcie"); out != "" ||
		!strings.Contains(failure, "did you mean weather-office?") {
		t.Errorf("%s%s", out, failure)
	}
	if out, _ := run("user-token", "--organization", "weather-office"); strings.Count(out, ".") != 2 {
		t.Error("no token of an organization with accounts")
	} else {
		secret(strings.TrimSpace(out))
	}
}
