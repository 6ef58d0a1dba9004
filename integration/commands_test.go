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
			if err != nil || stderr.Len() > 0 { // such as lines of Caddy's log
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
}

// Commands exit with 2 for mistakes on the command line, the server's refusals included, and with 1 for failures. They
// print one line.
func TestCommandsRefused(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	const none = "no server answers at 127.0.0.1:1; is it running? --address and --config name another one"
	for _, tc := range []struct {
		args, want string
		code       int
	}{
		{"user-token --organization x --base https://maps.example.com", "--base: needs --console", 2},
		{"user-token --organization x --console --base maps.example.com",
			"--base: must be the address that the site has in a browser, such as https://maps.example.com", 2},
		{"user-token", `required flag(s) "organization" not set`, 2},
		{"user-token --organization x --ttl 25h", "--ttl: 25h is not between 1s and 24h", 2},
		{"user-token --organization x --address 127.0.0.1:1", none, 1},
		{"health --address 127.0.0.1:1 --json", none, 1},
		{"usage --organization x --step week", "step: must be hour, day or month", 2},
		{"accounts list --status ended", "status: must be ACTIVE, SUSPENDED or REVOKED", 2},
		{"accounts show sa_nope", "the server at " + s.admin + ": service account not found", 1},
		{"backup " + s.config, "output: there is a file that is not a backup", 2},
	} {
		args := append([]string{"maps"}, strings.Fields(tc.args)...)
		if !strings.Contains(tc.args, "--address") {
			args = append(args, "--address", s.admin)
		}
		cmd := s.command(t.Context(), args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the code is compared
		if code := cmd.ProcessState.ExitCode(); code != tc.code || stdout.Len() > 0 || stderr.String() != "Error: "+tc.want+"\n" {
			t.Errorf("%s: exit %d, %q\n got %swant Error: %s", tc.args, code, &stdout, &stderr, tc.want)
		}
	}
}

// With --json, standard output is one JSON value, and nothing else is printed.
func TestCommandsJSON(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	s.create(t, s.userToken(t, "as-json"), nil)
	for _, args := range []string{"health", "organizations", "accounts list --organization as-json",
		"user-token --organization as-json", "user-token --organization as-json --console"} {
		cmd := s.command(t.Context(), strings.Fields("maps "+args+" --json --address "+s.admin)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil || !json.Valid(out) || stderr.Len() > 0 {
			t.Errorf("%s: %v, %d bytes\n%s", args, err, len(out), &stderr)
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
	for args, note := range map[string]string{
		"usage --organization weather-offcie":                          "The organization \"weather-offcie\" has no accounts; did you mean \"weather-office\"?\n",
		"accounts list --organization weather-offcie":                  "The organization \"weather-offcie\" has no accounts; did you mean \"weather-office\"?\n",
		"usage --organization zzz --json":                              "The organization \"zzz\" has no accounts\n",
		"usage --organization weather-office":                          "",
		"accounts list --organization weather-office --status REVOKED": "",
	} {
		cmd := s.command(t.Context(), strings.Fields("maps "+args+" --address "+s.admin)...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if _, err := cmd.Output(); err != nil || stderr.String() != note {
			t.Errorf("%s: %v\n got %swant %s", args, err, &stderr, note)
		}
	}
	if out, _ := run("user-token", "--organization", "weather-office"); strings.Count(out, ".") != 2 {
		t.Error("no token of an organization with accounts")
	} else {
		secret(strings.TrimSpace(out))
	}
}
