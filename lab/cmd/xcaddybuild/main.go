// Command xcaddybuild builds the custom Caddy that a manifest (xcaddy.json) describes, with xcaddy.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	xcaddy := flag.String("xcaddy", "xcaddy", "the xcaddy `program`")
	manifest := flag.String("manifest", "xcaddy.json", "the manifest's `file`")
	flag.Parse()
	if err := run(*xcaddy, *manifest); err != nil {
		fmt.Fprintln(os.Stderr, "xcaddybuild:", err)
		os.Exit(1)
	}
}

func run(xcaddy, manifest string) error {
	f, err := os.Open(manifest)
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := ParseManifest(f)
	if err != nil {
		return fmt.Errorf("%s: %w", manifest, err)
	}
	path, err := filepath.Abs(manifest)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(filepath.Dir(resolve(dir, m.Output)), 0o755); err != nil {
		return err
	}
	args := m.Arguments(dir)
	fmt.Println("xcaddy", strings.Join(args, " "))
	cmd := exec.Command(xcaddy, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.Run()
}
