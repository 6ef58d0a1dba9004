package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// osmModule ships an extract of Delaware among its test data.
const osmModule = "github.com/paulmach/osm"

func (s settings) server() string { return filepath.Join(s.dir, "caddy") }
func (s settings) region() string { return filepath.Join(s.dir, "delaware.region") }

func buildServer(ctx context.Context, s settings) error {
	fmt.Println("demo: building the server (the first time takes some minutes)")
	return command(ctx, nil, "go", "build", "-o", s.server(), "./caddy")
}

// buildRegion compiles the region, unless one is there that will do and is newer than its extract.
func buildRegion(ctx context.Context, s settings) error {
	extract, err := findExtract(ctx)
	if err != nil {
		return err
	}
	if newer(s.region(), extract) && complete(ctx, s.region()) {
		return nil
	}
	fmt.Println("demo: compiling the map of Delaware")
	return command(ctx, nil, s.server(), "maps", "build", extract, "--output", s.region())
}

// complete reports whether there is a region file that this version reads, and it is undamaged.
func complete(ctx context.Context, path string) bool {
	file, err := region.Open(path)
	if err != nil {
		return false
	}
	defer file.Release()
	return file.VerifyWhole(ctx) == nil
}

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

func newer(path, than string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(than)
	return err == nil && !a.ModTime().Before(b.ModTime())
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
