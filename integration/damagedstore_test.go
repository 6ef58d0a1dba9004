package integration

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// damage overwrites the page of the store that has a text in it, and returns what it had.
func (s *server) damage(t *testing.T, text string) (had []byte) {
	t.Helper()
	const page = 4096
	content, err := os.ReadFile(s.store)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte(text))
	if at < 0 {
		t.Fatalf("%q is in no page", text)
	}
	at -= at % page
	f, err := os.OpenFile(s.store, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, page), int64(at)); err != nil {
		t.Fatal(err)
	}
	return content[at : at+page]
}

// A page of the store is damaged under a running server: what needs it is answered 503, all else goes on, and the
// log has one line of it. The server does not start on the damaged file, and says why; verify-store finds the
// same, and nothing in the earlier backup.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	user := s.userToken(t, "damage")
	var made []serviceAccount
	for n := range 40 {
		made = append(made, s.create(t, user, map[string]any{"description": fmt.Sprintf("account number %d of many, %s", n,
			strings.Repeat("x", 200))}))
	}
	verify := func(path string) (string, error) {
		out, err := s.command(t.Context(), "maps", "verify-store", path).CombinedOutput()
		return string(out), err
	}
	if out, err := verify(s.store); err != nil || !strings.Contains(out, "no damage") {
		t.Errorf("while the server runs: %v\n%s", err, out)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if out, err := s.command(t.Context(), "maps", "backup", backup, "--address",
		s.admin).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := verify(backup); err != nil || !strings.Contains(out,
		"40 accounts, 0 grants, 2 signing keys, 0 publishable keys, quotas of 0 organizations and 0 rows of usage: no damage") {
		t.Errorf("the backup: %v\n%s", err, out)
	}
	// A server that was just started knows no account.
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}

	content := s.damage(t, "account number 20 of many")
	touched := func(one serviceAccount) bool { return bytes.Contains(content, []byte(one.Description)) }
	for _, one := range made {
		status := 200
		if touched(one) {
			status = 503
		}
		s.send(t, call{path: accounts + "/" + one.ID, bearer: user}).want(status)
		s.send(t, exchangeCall(one.ClientToken, one.ServerToken)).want(status)
		// Of the same length, or SQLite may also need the pages beside its own.
		s.send(t, call{method: "PATCH", path: accounts + "/" + one.ID, bearer: user, contentType: jsonType,
			body: asJSON(t, map[string]string{"description": strings.ToUpper(one.Description)})}).want(status)
	}
	if n := len(slices.DeleteFunc(slices.Clone(made), touched)); n < 20 || n == len(made) {
		t.Errorf("%d accounts are on other pages; the test sees too little", n)
	}
	health := string(s.send(t, call{path: "/healthz"}).want(200).body)
	for _, want := range []string{`"status":"degraded"`, `"store":"degraded"`, `"reasons":["the store is damaged"]`} {
		if !strings.Contains(health, want) {
			t.Errorf("health is %s, want %s", health, want)
		}
	}
	good, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.command(t.Context(), "maps", "backup", backup, "--address",
		s.admin).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "the store is damaged, and no copy of it was kept") {
		t.Errorf("a backup of the damaged store: %v\n%s", err, out)
	}
	if kept, err := os.ReadFile(backup); err != nil || !bytes.Equal(kept, good) {
		t.Errorf("the earlier backup has changed (%v)", err)
	}
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(log, []byte("the store is damaged: requests that need")); n != 1 {
		t.Errorf("%d lines in the log, want 1", n)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}

	err = s.start()
	if err == nil {
		t.Fatal("the server started on a damaged store")
	}
	for _, want := range []string{s.store, "it is damaged", "restore a backup", "caddy maps verify-store"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the server ended with %v, want %q", err, want)
		}
	}
	s.exited = nil
	if out, err := verify(s.store); err == nil ||
		!strings.Contains(out, "maps_accounts, row 19: accounts database: sqlite3: database disk image is malformed") || strings.Contains(out, "no damage") {
		t.Errorf("the damaged store: %v\n%s", err, out)
	}
	if out, err := verify("postgres://maps@127.0.0.1/maps"); err == nil || !strings.Contains(out, "pg_checksums") {
		t.Errorf("PostgreSQL: %v\n%s", err, out)
	}
	restored, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.store, restored, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	s.exchange(t, made[20].ClientToken, made[20].ServerToken)
}
