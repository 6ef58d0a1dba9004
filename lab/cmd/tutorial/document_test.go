package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

const root = "../../.."

func readTutorial(t *testing.T) (string, []block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "start", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := parse(string(text), machines)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), blocks
}

// Every block of the tutorial is one that .ci/tutorial runs or compares, each is a script of bash, and both machines
// have some.
func TestTutorialBlocks(t *testing.T) {
	text, blocks := readTutorial(t)
	fences, lines := 0, make(map[string]int)
	for _, b := range blocks {
		fences += 2
		if b.shows != nil {
			fences += 2
		}
		for _, machine := range b.machines {
			lines[machine] += strings.Count(b.text, "\n")
		}
		cmd := exec.Command("bash", "-n")
		cmd.Stdin = strings.NewReader(b.text)
		if _, err := exec.LookPath("bash"); err != nil {
			t.Log("there is no bash to read the blocks with")
		} else if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("line %d: %v: %s", b.line, err, out)
		}
	}
	if n := strings.Count(text, "```"); n != fences {
		t.Errorf("%d fences, of which %d are of blocks that are run or compared", n, fences)
	}
	if lines["first"] < 50 || lines["second"] < 15 {
		t.Errorf("lines of commands: %v", lines)
	}
}

var (
	packaged = regexp.MustCompile(`/(?:etc|etc/default|usr/bin|usr/lib|usr/share|var/lib)/caddy[a-z-]*[A-Za-z/._-]*`)
	unit     = regexp.MustCompile(`\bcaddy-maps(?:-update)?\.(?:service|timer)\b|` +
		`systemctl [a-z-]+ (?:--now )?(caddy-maps[a-z-]*)`)

	heredoc     = regexp.MustCompile(`(?s)/etc/caddy-maps/Caddyfile >/dev/null <<'END'\n(.*?)END\n`)
	environment = regexp.MustCompile(`(?s)/etc/default/caddy-maps <<'END'\n(.*?)END\n`)
)

// made are the paths that are there once the service has run, or that the tutorial itself makes.
var made = []string{"/var/lib/caddy-maps/map.region", "/var/lib/caddy-maps/accounts.db", "/etc/caddy-maps/database",
	"/etc/default/caddy-maps"}

// The files and units that the tutorial names are those of the package.
func TestTutorialNamesThePackage(t *testing.T) {
	text, _ := readTutorial(t)
	packaging := filepath.Join(root, "packaging")
	var named int
	for _, path := range packaged.FindAllString(text, -1) {
		named++
		if slices.Contains(made, path) {
			continue
		}
		if _, err := os.Stat(filepath.Join(packaging, filepath.Base(path))); err != nil {
			t.Errorf("%s is not in the package: %v", path, err)
		}
	}
	for _, m := range unit.FindAllStringSubmatch(text, -1) {
		named++
		name := m[0]
		if m[1] != "" {
			name = strings.TrimSuffix(m[1], ".service") + ".service"
		}
		if _, err := os.Stat(filepath.Join(packaging, name)); err != nil && !strings.HasSuffix(m[0], ".timer") {
			t.Errorf("%s is not in the package: %v", name, err)
		}
	}
	if named < 20 {
		t.Errorf("only %d names were found", named)
	}
}

// The package's Caddyfile is formatted after the tutorial's additions, and uses the environment that the tutorial sets.
func TestTutorialCaddyfile(t *testing.T) {
	_, blocks := readTutorial(t)
	packaged, err := os.ReadFile(filepath.Join(root, "packaging", "Caddyfile"))
	if err != nil {
		t.Fatal(err)
	}
	text, added, variables := string(packaged), 0, 0
	for _, b := range blocks {
		for _, m := range heredoc.FindAllStringSubmatch(b.text, -1) {
			added++
			if text += m[1]; string(caddyfile.Format([]byte(text))) != text {
				t.Errorf("line %d: caddy fmt would write this in another way:\n%s", b.line, m[1])
			}
		}
		for _, m := range environment.FindAllStringSubmatch(b.text, -1) {
			for line := range strings.Lines(m[1]) {
				variables++
				name, _, _ := strings.Cut(line, "=")
				if !strings.Contains(string(packaged), "{$"+name+":") {
					t.Errorf("line %d: the Caddyfile of the package asks for no %s", b.line, name)
				}
			}
		}
	}
	if added != 1 || variables != 10 {
		t.Errorf("the Caddyfile is added to %d times, and %d variables are set", added, variables)
	}
}

func TestParseRefusesWhatWouldNotBeRun(t *testing.T) {
	for document, want := range map[string]string{
		"```sh\nls\n":                       "line 1: the block does not end",
		"x\n```bash\nls\n```\n":             `line 2: unknown kind of block "bash"; sh and text are known`,
		"```\nls\n```\n":                    "line 1: a block of no kind; sh and text are known",
		"```sh third\nls\n```\n":            `line 1: unknown machine "third"; known are first, second`,
		"- x\n  ```sh\n  ls\n  ```\n":       "line 2: a block may not be indented",
		"```text\nx\n```\n":                 "line 1: no commands before this could print it",
		"```sh\nls\n```\n```text\n```\n":    "line 4: a block of output has lines, and nothing behind text",
		"```sh\nls\n```\n```text x\ny\n```": "line 4: a block of output has lines, and nothing behind text",
	} {
		if _, err := parse(document, machines); err == nil || err.Error() != want {
			t.Errorf("%q: %v, not %s", document, err, want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		shown, printed string
		want           bool
	}{
		{"a\nb", "a\nb", true},
		{"a\nb", "a\nb\nc", false},
		{"a\nb\nc", "a\nb", false},
		{"a…", "a", true},
		{"a…c…e", "abcde", true},
		{"a…c…e", "abde", false},
		{"a…ab", "ab", false},
		{"…\nb", "b", true},
		{"…\nb", "x\ny\nb", true},
		{"…\nb\n…", "x\nb\nb", true},
		{"…\nb", "b\nx", false},
		{"…", "", true},
		{"x", "", false},
	} {
		if got := matches(strings.Split(c.shown, "\n"), outputLines(c.printed)); got != c.want {
			t.Errorf("%q and %q: %v", c.shown, c.printed, got)
		}
	}
}
