package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/store"
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

// Same input, same bytes; and a region says where it is from.
func TestBuildAndInfo(t *testing.T) {
	osm := filepath.Join(t.TempDir(), "village.osm")
	if err := os.WriteFile(osm, []byte(village), 0o600); err != nil {
		t.Fatal(err)
	}
	var files [2][]byte
	var target string
	for i := range files {
		target = filepath.Join(t.TempDir(), "village.region")
		if _, stderr, err := maps(t, "", "build", osm, "--output", target); err != nil {
			t.Fatalf("%v\n%s", err, stderr)
		}
		var err error
		if files[i], err = os.ReadFile(target); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two builds of one input differ")
	}
	if entries, err := os.ReadDir(filepath.Dir(target)); err != nil || len(entries) != 1 {
		t.Errorf("beside the region are left: %v, %v", entries, err)
	}

	text, stderr, err := maps(t, "", "info", region)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	for _, want := range []string{"ODbL", "OpenStreetMap", "delaware-latest.osm.pbf"} {
		if !strings.Contains(text, want) {
			t.Errorf("info does not say %s:\n%s", want, text)
		}
	}
	out, stderr, err := maps(t, "", "info", region, "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var info map[string]any
	if err := json.Unmarshal([]byte(out), &info); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The command and a running server tell the same version, and the formats are those of the files that are made.
func TestVersion(t *testing.T) {
	out, stderr, err := maps(t, "", "version", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var v struct {
		Version, Caddy string
		Formats        struct{ Region, Store uint64 }
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := sharedServer(t)
	var status struct{ Version string }
	s.sendAdmin(t, call{path: "/maps/status"}).want(200).into(&status)
	if status.Version == "" || status.Version != v.Version {
		t.Errorf("the server has version %q, the command says %q", status.Version, v.Version)
	}
	if a := s.send(t, call{path: "/healthz"}).want(200); bytes.Contains(a.body, []byte("version")) {
		t.Errorf("strangers are told the version: %s", a.body)
	}
	built, err := exec.Command(plain, "version").Output()
	if err != nil || strings.Fields(string(built))[0] != v.Caddy {
		t.Errorf("of Caddy %q, %s, %v", v.Caddy, built, err)
	}

	var info struct{ Format uint64 }
	out, _, err = maps(t, "", "info", region, "--json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(out), &info); err != nil || info.Format != v.Formats.Region {
		t.Errorf("regions of format %d are built, %+v, %v", info.Format, v.Formats, err)
	}
	backup := filepath.Join(t.TempDir(), "accounts.db")
	s.sendAdmin(t, call{method: "POST", path: "/maps/backup", contentType: jsonType,
		body: asJSON(t, map[string]string{"output": backup})}).want(200)
	if _, faults, err := store.Verify(t.Context(), backup, 1); err != nil || faults != nil || v.Formats.Store != 1 {
		t.Errorf("the backup: %v, %v; formats %+v", faults, err, v.Formats)
	}
}

// The command prints the token alone, and finds the server by --address or by its configuration.
func TestUserTokenCommand(t *testing.T) {
	s := sharedServer(t)
	for name, how := range map[string][]string{
		"address":       {"--address", s.admin},
		"configuration": {"--config", s.config, "--adapter", "caddyfile"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := s.command(t.Context(), append([]string{"maps", "user-token", "--organization", "by-command", "--subject", "ops", "--ttl", "10m"}, how...)...)
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
	cmd := s.command(t.Context(), "maps", "user-token", "--organization", "by-console", "--console", "--address", s.admin)
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
		"base alone":      {"--address", s.admin, "--organization", "x", "--base", "https://maps.example.com"},
		"no base":         {"--address", s.admin, "--organization", "x", "--console", "--base", "maps.example.com"},
		"no organization": {"--address", s.admin},
		"long ttl":        {"--address", s.admin, "--organization", "x", "--ttl", "25h"},
		"no server":       {"--address", "127.0.0.1:1", "--organization", "x"},
	} {
		if out, err := s.command(t.Context(), append([]string{"maps", "user-token"}, args...)...).Output(); err == nil || len(out) > 0 {
			t.Errorf("%s: accepted: %q", name, out)
		}
	}
}
