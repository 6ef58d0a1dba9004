package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A document is followed to its first command that fails, or prints something else than it shows; the line is named.
func TestFollow(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Log("there is no bash")
		return
	}
	shell := "bash"
	commands := map[string]*string{"first": &shell, "second": &shell}
	for document, want := range map[string]string{
		// Variables stay, and no command reads what is meant for the shell.
		"```sh\nA=1\n```\n\n```sh\necho $A\ncat\n```\n\n```text\n1\n```\n":           "",
		"```sh\nA=1\n```\n\n```sh second\necho .$A\n```\n\n```text\n.\n```\n":        "",
		"```sh first second\ntrue\n```\n\n```sh\necho ab\n```\n\n```text\nb\n```\n":  "line 10: it shows",
		"```sh\ntrue\nfalse | true\ntrue\n```\n":                                     "block at line 2: first: exit status 1",
		"```sh\ntrue\n```\n\n```sh second\ncat <<END\nx\nEND\nexit 3\n```\n\ntext\n": "block at line 6: second: exit status 3",
		"```sh\nfi\n```\n": "block at line 2: first: exit status",
	} {
		path := filepath.Join(t.TempDir(), "tutorial.md")
		if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		err := follow(context.Background(), path, commands)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %q", document, err, want)
		}
	}
}

// Where no machine can be made, that is said, and is no fault of the document.
func TestNoMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tutorial.md")
	if err := os.WriteFile(path, []byte("```sh\ntrue\n```\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{"sh -c 'exit 77'": true, "sh -c 'exit 76'": false} {
		err := follow(context.Background(), path, map[string]*string{"first": &command})
		var absent noMachine
		if err == nil || errors.As(err, &absent) != want {
			t.Errorf("%s: %v", command, err)
		}
	}
}
