package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/store"
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

// A file that is no good is refused with one clear line that names it.
func TestCommandsRefuse(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole, err := os.ReadFile(region)
	if err != nil {
		t.Fatal(err)
	}
	pbf, err := os.ReadFile(extract)
	if err != nil {
		t.Fatal(err)
	}
	cut := file("cut.region", string(whole[:len(whole)/2]))
	target := filepath.Join(dir, "out.region")
	for name, test := range map[string]struct {
		args []string
		says string
	}{
		"info of nothing":          {[]string{"info", filepath.Join(dir, "none")}, "none"},
		"info of a foreign file":   {[]string{"info", file("foreign.region", strings.Repeat("text ", 1000))}, "foreign.region"},
		"info of an empty file":    {[]string{"info", file("empty.region", "")}, "empty.region"},
		"info of a cut file":       {[]string{"info", cut}, "cut.region"},
		"reverse in a cut file":    {[]string{"reverse", cut, "39.15", "-75.5"}, "cut.region"},
		"build of nothing":         {[]string{"build", filepath.Join(dir, "none.osm.pbf"), "--output", target}, "none.osm.pbf"},
		"build of a cut extract":   {[]string{"build", file("cut.osm.pbf", string(pbf[:len(pbf)/3])), "--output", target}, "cut.osm.pbf"},
		"build of a foreign file":  {[]string{"build", file("foreign.osm.pbf", "no protocol buffer"), "--output", target}, "foreign.osm.pbf"},
		"build of broken XML":      {[]string{"build", file("broken.osm", "<osm><node id="), "--output", target}, "broken.osm"},
		"build without --output":   {[]string{"build", extract}, "output"},
		"build without an extract": {[]string{"build", "--output", target}, ""},
		"reverse out of range":     {[]string{"reverse", region, "91", "-75.5"}, "lat"},
		"reverse with no number":   {[]string{"reverse", region, "39.1", "west"}, "lon"},
		"reverse with size 6":      {[]string{"reverse", region, "39.1", "-75.5", "--size", "6"}, "size"},
		"match of nothing":         {[]string{"match", region, filepath.Join(dir, "none.gpx")}, "none.gpx"},
		"match of a broken trace":  {[]string{"match", region, file("broken.gpx", "<gpx><trk>")}, "broken.gpx"},
		"match radius negative":    {[]string{"match", region, file("dover.json", doverJSON), "--radius", "-1"}, "radius"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, err := maps(t, "", test.args...)
			if err == nil {
				t.Fatalf("accepted: %s", stdout)
			}
			if !strings.Contains(stderr, test.says) || strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic") {
				t.Errorf("says %q, want %q", stderr, test.says)
			}
			if stdout != "" {
				t.Errorf("standard output has %q", stdout)
			}
		})
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a refused build left a region")
	}
}

// Negative coordinates need no "--", and the answer is that of the service.
func TestReverseAndMatchCommands(t *testing.T) {
	out, stderr, err := maps(t, "", "reverse", region, "39.1573", "-75.5197", "--size", "2")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "commands"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	var mine, theirs any
	if err := json.Unmarshal([]byte(out), &mine); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.send(t, call{path: reverse + "?lat=39.1573&lon=-75.5197&size=2", bearer: access}).want(200).into(&theirs)
	if asJSON(t, mine) != asJSON(t, theirs) {
		t.Errorf("the command says\n%s\nthe service\n%s", asJSON(t, mine), asJSON(t, theirs))
	}

	trace := filepath.Join(t.TempDir(), "dover.json")
	if err := os.WriteFile(trace, []byte(doverJSON), 0o600); err != nil {
		t.Fatal(err)
	}
	fromFile, stderr, err := maps(t, "", "match", region, trace, "--radius", "5")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	fromInput, stderr, err := maps(t, doverJSON, "match", region, "-", "--radius", "5")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if fromFile != fromInput {
		t.Errorf("from a file\n%s\nfrom standard input\n%s", fromFile, fromInput)
	}
	var feature struct {
		Type     string
		Geometry struct {
			Type        string
			Coordinates [][2]float64
		}
	}
	if err := json.Unmarshal([]byte(fromFile), &feature); err != nil {
		t.Fatalf("%v: %s", err, fromFile)
	}
	if feature.Type != "Feature" || feature.Geometry.Type != "LineString" || len(feature.Geometry.Coordinates) < 2 {
		t.Errorf("not a drive: %s", fromFile)
	}
}

// Of many traces each drive is a line with the name of its file, and one bad trace keeps none of the others back.
func TestMatchManyTraces(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for name, text := range map[string]string{"a.json": doverJSON, "b.json": `{"path":[`, "c.json": doverJSON} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.Join(dir, name))
	}
	slices.Sort(names)
	missing := filepath.Join(dir, "missing.gpx")
	out, stderr, err := maps(t, "", slices.Concat([]string{"match", region}, names, []string{missing})...)
	if err == nil || !strings.Contains(stderr, "2 of 4 traces have no drive") || !strings.Contains(stderr, names[1]+": ") ||
		!strings.Contains(stderr, missing+": no such file") || !strings.Contains(stderr, "matching: done in ") {
		t.Errorf("%v\n%s", err, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	alone, _, err := maps(t, "", "match", region, names[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{names[0], names[2]} {
		var feature map[string]any
		if err := json.Unmarshal([]byte(lines[i]), &feature); err != nil || feature["id"] != name {
			t.Errorf("%v: %s", err, lines[i])
		}
		if without := strings.Replace(lines[i], `"id":"`+name+`",`, "", 1); without != strings.TrimSpace(alone) {
			t.Errorf("among others\n%s\nalone\n%s", without, alone)
		}
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
