package caddymaps_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
	_ "github.com/mapsedge/caddy-maps"
)

// asCaddy has the test's own program be Caddy.
const asCaddy = "MAPS_TEST_AS_CADDY"

func TestMain(m *testing.M) {
	if os.Getenv(asCaddy) != "" {
		caddycmd.Main()
		return
	}
	os.Exit(m.Run())
}

// mistake is a Caddyfile with something wrong in it, and what Caddy says of that.
type mistake struct {
	maps string // from line 3 on; a region delaware where it is empty
	site string // from line 9 on, where maps has one line
	want string
}

func (m *mistake) caddyfile() string {
	maps := m.maps
	if maps == "" {
		maps = "region delaware delaware.region"
	}
	return "{\n\tmaps {\n" + maps + "\n\t}\n\tadmin off\n}\n\n:9 {\n" + m.site + "\n}\n"
}

// load reads a Caddyfile and provisions what it says, as `caddy validate` does.
func load(text string) error {
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return err
	}
	var config caddy.Config
	if err := caddy.StrictUnmarshalJSON(adapted, &config); err != nil {
		return err
	}
	return caddy.Validate(&config)
}

func TestMistakesInCaddyfile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, m := range mistakes {
		if got := said(t, load(m.caddyfile())); got != m.want {
			t.Errorf("%s%s\n got %s\nwant %s", m.maps, m.site, got, m.want)
		}
	}
}

func TestMistakesFoundWhenLoading(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("MAPS_TEST_SHORT", "c2hvcnQ=")
	for _, m := range lateMistakes {
		if got := said(t, load(m.caddyfile())); !strings.HasSuffix(got, ": "+m.want) {
			t.Errorf("%s%s\n got %s\nwant %s", m.maps, m.site, got, m.want)
		}
	}
}

// said is what an error says. The admin API escapes angle brackets, so that none may be in it.
func said(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return "nothing"
	}
	if strings.ContainsAny(err.Error(), "<>") {
		t.Errorf("the error has an angle bracket: %v", err)
	}
	return err.Error()
}

// TestMistakesOnCommandLine compares what commands say last, before they exit with 1.
func TestMistakesOnCommandLine(t *testing.T) {
	dir := t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"text.osm.pbf":   "this is no extract",
		"text.region":    "this is no region",
		"renamed.region": "\x00\x00\x00\x0d\x0a\x09OSMHeader\x18\x80\x01", // as extracts begin
		"Broken":         "{\n\tmaps {\n\t\taccess_token_ttl 30d\n\t}\n}\n",
		"Missing":        "{\n\tadmin off\n\tmaps {\n\t\tregion delaware missing.region\n\t}\n}\n",
		"Directory":      "{\n\tadmin off\n\tmaps {\n\t\tregion delaware .\n\t}\n}\n",
		"Renamed":        "{\n\tadmin off\n\tmaps {\n\t\tregion delaware renamed.region\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range mistypedCommands {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, strings.Fields(line)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), asCaddy+"=1", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run() // the code is looked at below
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			got := lines[len(lines)-1]
			if _, message, logged := strings.Cut(got, `"msg":`); logged { // without the time
				got = message
			}
			got = strings.ReplaceAll(got, dir, "DIR")
			if strings.ContainsAny(got, "<>") {
				t.Errorf("the error has an angle bracket: %s", got)
			}
			if got != want || cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("exit %d\n got %s\nwant %s", cmd.ProcessState.ExitCode(), got, want)
			}
		})
	}
}

// A word that is no subcommand is a mistake; none at all is a question.
func TestMapsAloneShowsHelp(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "maps")
	cmd.Env = append(os.Environ(), asCaddy+"=1")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "user-token") {
		t.Errorf("%v: %s", err, out)
	}
}
