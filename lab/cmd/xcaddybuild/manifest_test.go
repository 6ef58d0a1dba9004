package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	dir := t.TempDir()
	m, err := ParseManifest(strings.NewReader(`{
		"caddy": "v2.11.9",
		"modules": [
			{"module": "github.com/mapsedge/caddy-maps", "replacement": "."},
			{"module": "example.com/guest/v2", "version": "v2.0.1"},
			{"module": "example.com/other", "version": "main", "replacement": "../other"}
		],
		"output": "build/caddy"
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"build", "v2.11.9",
		"--with", "github.com/mapsedge/caddy-maps=" + dir,
		"--with", "example.com/guest/v2@v2.0.1",
		"--with", "example.com/other@main=" + filepath.Join(filepath.Dir(dir), "other"),
		"--output", filepath.Join(dir, "build", "caddy"),
	}
	if diff := cmp.Diff(want, m.Arguments(dir)); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestParseManifestRefuses(t *testing.T) {
	const module = `"modules":[{"module":"example.com/m"}]`
	tests := []struct{ name, text, says string }{
		{"not JSON", `caddy v2`, "invalid character"},
		{"unknown field", `{"caddy":"v2.11.9","with":[]}`, "with"},
		{"text after", `{"caddy":"v2.11.9",` + module + `,"output":"c"} {}`, "after"},
		{"no version", `{` + module + `,"output":"c"}`, "caddy:"},
		{"an option for a version", `{"caddy":"--help",` + module + `,"output":"c"}`, "caddy:"},
		{"no modules", `{"caddy":"v2.11.9","output":"c"}`, "modules:"},
		{"split path", `{"caddy":"v2.11.9","modules":[{"module":"a=b"}],"output":"c"}`, "modules[0].module"},
		{"split version", `{"caddy":"v2.11.9","modules":[{"module":"a","version":"v1=x"}],"output":"c"}`, "modules[0].version"},
		{"twice", `{"caddy":"v2.11.9","modules":[{"module":"a"},{"module":"a"}],"output":"c"}`, "modules[1].module"},
		{"no output", `{"caddy":"v2.11.9",` + module + `}`, "output:"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := ParseManifest(strings.NewReader(test.text))
			if err == nil {
				t.Fatalf("accepted as %+v", m)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %q does not name %q", err, test.says)
			}
		})
	}
}

// The repository's own manifest must build the module that go.mod declares, against the Caddy version that go.mod requires.
func TestRepositoryManifest(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	f, err := os.Open(filepath.Join(root, "xcaddy.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := ParseManifest(f)
	if err != nil {
		t.Fatal(err)
	}
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "github.com/caddyserver/caddy/v2 " + m.Caddy; !strings.Contains(string(gomod), want) {
		t.Errorf("go.mod does not require %s", want)
	}
	if want := "module " + m.Modules[0].Path + "\n"; !strings.Contains(string(gomod), want) {
		t.Errorf("go.mod is not of %s", m.Modules[0].Path)
	}
}
