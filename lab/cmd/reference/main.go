// Command reference writes docs/reference.md. It describes every Caddy module of this repository by the doc comments
// of its type, JSON fields and UnmarshalCaddyfile, and every command of `caddy maps` by its help. A module, field,
// command or flag without documentation is an error.
//
// It reads:
//
//   - The comment of the module's type says what the module does.
//   - The comment of a field says what the field does, and either "Default: …." or "Required.".
//   - The comment of UnmarshalCaddyfile has the syntax as its first code block, and an example as the code block
//     that follows the line "Example:". A module that is not in Caddyfiles has its example in the comment of its type.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	_ "github.com/mapsedge/caddy-maps"
)

//go:generate go run .

func main() {
	output := flag.String("output", "", "the `file` to write; default docs/reference.md of the repository")
	check := flag.Bool("check", false, "write nothing, and fail where the file is not what would be written")
	flag.Parse()
	if err := run(*output, *check); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(output string, check bool) error {
	root, err := repository()
	if err != nil {
		return err
	}
	if output == "" {
		output = filepath.Join(root, "docs", "reference.md")
	}
	modules, err := registered(newComments(root))
	if err != nil {
		return err
	}
	commands, err := commandsOf("maps")
	if err != nil {
		return err
	}
	text := render(modules, commands)
	if !check {
		return os.WriteFile(output, text, 0o644)
	}
	committed, err := os.ReadFile(output)
	if err == nil && !bytes.Equal(committed, text) {
		err = fmt.Errorf("%s is not what the comments and commands say; run make docs", output)
	}
	return err
}

// repository finds the directory of caddymaps.go, at or above the working directory.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "caddymaps.go")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("there is no caddymaps.go at or above the working directory")
		}
		dir = parent
	}
}
