package bolt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// TestBackupReplaces makes sure that a copy takes the place of nothing, of a copy, and of no other file.
func TestBackupReplaces(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "accounts.db")
	s, err := Open(own, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return in(name)
	}
	copied := in("copy.db")
	for _, what := range []string{"new", "again"} {
		if size, err := s.Backup(t.Context(), copied); err != nil || size == 0 {
			t.Fatalf("%s: %d bytes, error %v", what, size, err)
		}
	}
	second, err := Open(copied, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Backup(t.Context(), copied); err == nil || !strings.Contains(err.Error(), "another process has open") {
		t.Errorf("a store that is in use: error %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := bbolt.Open(in("other.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]string{
		write("kek", "secret"):                          "no backup",
		write("empty", ""):                              "no backup",
		write("cut.db", string(data[:4096])):            "no backup",
		write("zero.db", strings.Repeat("\x00", 1<<16)): "no backup",
		in("other.db"):                                  "no backup",
		own:                                             "the store itself",
		dir:                                             "a directory",
		os.DevNull:                                      "not a regular file",
	}
	for name, target := range map[string]string{"link": copied, "dangling": in("none"), "to null": os.DevNull} {
		if err := os.Symlink(target, in(name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		targets[in(name)] = "a symbolic link"
	}
	if err := os.Link(own, in("hard")); err != nil {
		t.Fatal(err)
	}
	targets[in("hard")] = "the store itself"
	before := contents(t, dir)
	for path, want := range targets {
		if _, err := s.Backup(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", path, err, want)
		}
	}
	if after := contents(t, dir); after != before {
		t.Errorf("the directory was\n%s\nand is\n%s", before, after)
	}
}

// What comes to the target while the copy is made is left alone.
func TestBackupRace(t *testing.T) {
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "path")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(temp, "copy")
	put(path, "came first")
	for name, rename := range map[string]func(string, string) error{
		"putInPlace": func(temp, path string) error { return putInPlace(temp, path, nil) }, "linkNew": linkNew,
	} {
		if err := rename(temp, path); err == nil {
			t.Errorf("%s replaced what is there", name)
		}
	}
	there, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	put(path+"2", "came in its place")
	if err := os.Rename(path+"2", path); err != nil {
		t.Fatal(err)
	}
	if err := putInPlace(temp, path, there); err == nil {
		t.Error("another file than the one that was looked at was replaced")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "came in its place" {
		t.Errorf("there is %q, error %v", text, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := linkNew(temp, path); err != nil {
		t.Error(err)
	}
	if left := contents(t, dir); strings.Count(left, "\n") != 1 {
		t.Errorf("there are\n%s", left)
	}
}

// contents lists the files of a directory, links and all.
func contents(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(info.Mode().String() + " " + info.ModTime().String() + " " + e.Name() + "\n")
	}
	return b.String()
}

// A damaged copy is replaced or refused, whatever is damaged: bbolt alone would end the process over some.
func TestBackupOverDamage(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	refused := 0
	for at := 0; at < len(whole); at += page {
		for name, harm := range map[string]func(page []byte){
			"ones":    func(p []byte) { copy(p, bytes.Repeat([]byte{0xff}, len(p))) },
			"a cycle": func(p []byte) { copy(p[8:], whole[2*page+8:2*page+64]) },
			"a count": func(p []byte) { p[10], p[11] = 0xff, 0x7f },
			"a kind":  func(p []byte) { p[8] ^= 3 }, // a branch for a leaf
		} {
			harmed := bytes.Clone(whole)
			harm(harmed[at:min(at+page, len(harmed))])
			if err := os.WriteFile(copied, harmed, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Backup(t.Context(), copied); err != nil {
				refused++
				if after, err := os.ReadFile(copied); err != nil || !bytes.Equal(after, harmed) {
					t.Errorf("%s at %d: refused, and yet changed (%v)", name, at, err)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused; the test harms too little")
	}
}

// TestBackupOpens opens the copies of states that follow each other, and writes to them.
func TestBackupOpens(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "accounts.db"))
	for n := range 5 {
		if _, err := s.AddFirstKey(t.Context(), aKey(n)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "copy.db")
		if _, err := s.Backup(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		for already := range 2 {
			copied, err := Open(path, nil)
			if err != nil {
				t.Fatalf("after %d changes, and %d to the copy: %v", n+1, already, err)
			}
			if _, err := copied.AddFirstKey(t.Context(), aKey(10+already)); err != nil {
				t.Error(err)
			}
			if keys, err := copied.Keys(t.Context()); err != nil || len(keys) != n+2+already {
				t.Errorf("%d keys, error %v", len(keys), err)
			}
			if err := copied.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
