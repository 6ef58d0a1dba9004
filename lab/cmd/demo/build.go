package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// osmModule ships an extract of Delaware among its test data.
const osmModule = "github.com/paulmach/osm"

func (s settings) server() string { return filepath.Join(s.dir, "caddy") }

func buildServer(ctx context.Context, s settings) error {
	return command(ctx, nil, "go", "build", "-o", s.server(), "./caddy")
}

// findExtract returns the path of the extract.
func findExtract(ctx context.Context) (string, error) {
	if err := command(ctx, nil, "go", "mod", "download", osmModule); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", osmModule).Output()
	if err != nil {
		return "", fmt.Errorf("go list -m %s: %w", osmModule, err)
	}
	path := filepath.Join(strings.TrimSpace(string(out)), "testdata", "delaware-latest.osm.pbf")
	if _, err := os.Stat(path); err != nil {
		return "", err
	}
	return path, nil
}

// command runs a program with its output on the terminal, and ends it when ctx is done.
func command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
