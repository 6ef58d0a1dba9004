package command

import (
	"bytes"
	"strings"
	"testing"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

func TestHelp(t *testing.T) {
	help := func(args ...string) (string, error) {
		root, registered := &cobra.Command{Use: "caddy", SilenceErrors: true, SilenceUsage: true}, caddycmd.Commands()["maps"]
		maps := &cobra.Command{Use: "maps", Long: registered.Long}
		registered.CobraFunc(maps)
		root.AddCommand(maps)
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(append([]string{"maps"}, args...))
		err := root.Execute()
		return out.String(), err
	}
	want, err := help("build", "--help")
	if err != nil || !strings.Contains(want, "--no-map") {
		t.Fatalf("%v: %s", err, want)
	}
	if text, err := help("help", "build"); err != nil || text != want {
		t.Errorf("%v: %s", err, text)
	}
	if text, err := help("help"); err != nil || !strings.Contains(text, "verify-store") {
		t.Errorf("%v: %s", err, text)
	}
	text, err := help("--help")
	for _, part := range []string{
		reference, "caddy completion", "Offline commands:\n  build ", "Server commands:\n  backup ",
	} {
		if err != nil || !strings.Contains(text, part) {
			t.Errorf("%v: no %s in\n%s", err, part, text)
		}
	}
	if _, err := help("help", "buld"); err == nil || !strings.Contains(err.Error(), `unknown command "buld"`) {
		t.Error(err)
	}
}
