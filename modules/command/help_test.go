package command_test

import (
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	want, _, err := run(t, "", "build", "--help")
	if err != nil || !strings.Contains(want, "--no-map") {
		t.Fatalf("%v: %s", err, want)
	}
	if text, _, err := run(t, "", "help", "build"); err != nil || text != want {
		t.Errorf("%v: %s", err, text)
	}
	for _, args := range [][]string{nil, {"help"}, {"--help"}} {
		text, _, err := run(t, "", args...)
		for _, part := range []string{
			"/docs/reference.md#commands", "caddy completion", "Offline commands:\n  build ", "Server commands:\n  accounts ",
		} {
			if err != nil || !strings.Contains(text, part) {
				t.Errorf("%q: %v: no %s in\n%s", args, err, part, text)
			}
		}
	}
	for _, args := range []string{"accounts", "accounts --help", "help accounts"} {
		text, _, err := run(t, "", strings.Fields(args)...)
		if err != nil || !strings.Contains(text, "\n  activate ") || !strings.Contains(text, "accounts list --organization acme") {
			t.Errorf("%s: %v: %s", args, err, text)
		}
	}
	if text, _, err := run(t, "", "help", "accounts", "create"); err != nil || !strings.Contains(text, "--scopes") {
		t.Errorf("%v: %s", err, text)
	}
	if text, _, err := run(t, "", "reverse", "39.1", "-75.5", "-h"); err != nil || !strings.Contains(text, "--size") {
		t.Errorf("%v: %s", err, text)
	}
	if _, _, err := run(t, "", "help", "buld"); err == nil || !strings.Contains(err.Error(), `unknown command "buld"`) {
		t.Error(err)
	}
}
