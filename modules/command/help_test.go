package command_test

import (
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
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
			"/docs/reference.md#commands", "caddy completion", "Start here:\n  serve ", "Offline commands:\n  build ", "Server commands:\n  accounts ",
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
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if sub.Hidden {
				continue
			}
			prints := sub.Name() != "serve" && !sub.HasSubCommands()
			if sub.Example == "" || sub.Long == "" || prints && sub.Flags().Lookup("json") == nil {
				t.Errorf("%s has no example, no description or no --json", sub.CommandPath())
			}
			check(sub)
		}
	}
	maps := &cobra.Command{Use: "maps"}
	caddycmd.Commands()["maps"].CobraFunc(maps)
	check(maps)
	if text, _, err := run(t, "", "reverse", "39.1", "-75.5", "-h"); err != nil || !strings.Contains(text, "--size") {
		t.Errorf("%v: %s", err, text)
	}
	if _, _, err := run(t, "", "help", "buld"); err == nil || !strings.Contains(err.Error(), `unknown command "buld"`) {
		t.Error(err)
	}
}
