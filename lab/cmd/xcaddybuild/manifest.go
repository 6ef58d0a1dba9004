package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
)

// Manifest describes a custom Caddy: what xcaddy.json holds.
type Manifest struct {
	// Caddy is the version to build, such as v2.11.9.
	Caddy string `json:"caddy"`
	// Modules are compiled in, beside Caddy's standard ones. At least one.
	Modules []Module `json:"modules"`
	// Output is the path of the binary, relative to the manifest.
	Output string `json:"output"`
}

// Module is one Go module with Caddy modules in it.
type Module struct {
	// Path is the Go module's path.
	Path string `json:"module"`
	// Version is a tag, a commit or a branch; empty is the newest. With a Replacement, any version of the right major will
	// do, and spares asking the network for the newest.
	Version string `json:"version,omitempty"`
	// Replacement is a local directory to take the module from, relative to the manifest.
	Replacement string `json:"replacement,omitempty"`
}

// What xcaddy splits its arguments at ("@" and "=") must not get in through a value, nor may a value pass for an
// option.
var (
	caddyVersion  = regexp.MustCompile(`^v2\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	modulePath    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~/-]*$`)
	moduleVersion = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]*$`)
)

// ParseManifest reads and checks a manifest. An error names the field that is wrong.
func ParseManifest(r io.Reader) (*Manifest, error) {
	data, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var m Manifest
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("text after the manifest's object")
	}
	if !caddyVersion.MatchString(m.Caddy) {
		return nil, fmt.Errorf("caddy: %q is not a version such as v2.11.9", m.Caddy)
	}
	if len(m.Modules) == 0 {
		return nil, errors.New("modules: none given")
	}
	seen := make(map[string]bool)
	for i, mod := range m.Modules {
		switch {
		case !modulePath.MatchString(mod.Path):
			return nil, fmt.Errorf("modules[%d].module: %q is not a module path", i, mod.Path)
		case seen[mod.Path]:
			return nil, fmt.Errorf("modules[%d].module: %s is given twice", i, mod.Path)
		case mod.Version != "" && !moduleVersion.MatchString(mod.Version):
			return nil, fmt.Errorf("modules[%d].version: %q is not a version", i, mod.Version)
		}
		seen[mod.Path] = true
	}
	if m.Output == "" {
		return nil, errors.New("output: empty")
	}
	return &m, nil
}

// Arguments returns xcaddy's arguments for a manifest that lies in dir.
func (m *Manifest) Arguments(dir string) []string {
	args := []string{"build", m.Caddy}
	for _, mod := range m.Modules {
		with := mod.Path
		if mod.Version != "" {
			with += "@" + mod.Version
		}
		if mod.Replacement != "" {
			with += "=" + resolve(dir, mod.Replacement)
		}
		args = append(args, "--with", with)
	}
	return append(args, "--output", resolve(dir, m.Output))
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}
