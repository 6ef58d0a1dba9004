package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// A server moves from SQLite to PostgreSQL, and every token stays as good as it was.
func TestCopyStore(t *testing.T) {
	leaveOut(t, "starts several servers and runs many commands")
	t.Parallel()
	s := startServer(t, rotating...)
	const target = "postgres:{env.MAPS_TEST_DATABASE}"
	s.useDatabase(t, pgtest.DSN(t)) // for its commands
	copying := func(from, to string) (string, error) {
		out, err := s.command(t.Context(), "maps", "copy-store", "--from", from, "--to", to).CombinedOutput()
		return string(out), err
	}
	user := s.userToken(t, "copied")
	acc, suspended := s.create(t, user, map[string]any{"description": "ünï\n"}), s.create(t, user, nil)
	token, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	revokedToken, _ := s.exchange(t, suspended.ClientToken, suspended.ServerToken)
	s.setStatus(t, user, suspended.ID, "SUSPENDED")
	s.setStatus(t, user, suspended.ID, "ACTIVE")
	s.rotateKeys(t)
	var refreshed tokensBody
	s.send(t, refreshCall(refresh)).want(200).into(&refreshed)
	newToken, newRefresh := secret(refreshed.Data.AccessToken), secret(refreshed.Data.RefreshToken)
	kids := s.published(t)

	if out, err := copying("sqlite:"+s.store, target); err == nil || !strings.Contains(out, "another server has it open") {
		t.Errorf("while the server runs: %v\n%s", err, out)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][2]string{
		"no such file":          {"sqlite:" + filepath.Join(s.dir, "none.db"), target},
		"must be sqlite:FILE":   {s.store, target},
		"or postgres:":          {"sqlite:" + s.store, "mysql:x"},
		"password written into": {"sqlite:" + s.store, "postgres://maps:hunter2@127.0.0.1:1/maps"},
		"connection":            {"sqlite:" + s.store, "postgres://maps@127.0.0.1:1/maps"},
		"MAPS_TEST_NOT_THERE":   {"sqlite:" + s.store, "postgres:{env.MAPS_TEST_NOT_THERE}"},
	} {
		if out, err := copying(args[0], args[1]); err == nil || !strings.Contains(out, want) ||
			strings.Contains(out, "hunter2") {
			t.Errorf("%v: %v, want an error with %q\n%s", args, err, want, out)
		}
	}
	out, err := copying("sqlite:"+s.store, target)
	if err != nil || !strings.Contains(out, "copied and compared: 2 accounts, 2 grants, 4 signing keys") {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := copying("sqlite:"+s.store, target); err == nil || !strings.Contains(out, "not empty") {
		t.Errorf("again: %v\n%s", err, out)
	}

	moved := newServer(t, append([]string{sqliteLine, databaseStore}, rotating...)...)
	moved.useDatabase(t, s.dsn)
	moved.run(t)
	if got := moved.published(t); strings.Join(got, " ") != strings.Join(kids, " ") {
		t.Errorf("jwks.json has %v, it had %v", got, kids)
	}
	var shown accountBody
	moved.send(t, call{path: accounts + "/" + acc.ID, bearer: user}).want(200).into(&shown)
	if shown.Data.Description != "ünï\n" {
		t.Errorf("the account is %+v", shown.Data)
	}
	backup := moved.command(t.Context(), "maps", "backup", filepath.Join(s.dir, "x.db"), "--address", moved.admin)
	if out, err := backup.CombinedOutput(); err == nil || !strings.Contains(string(out), "pg_dump") {
		t.Errorf("a backup of PostgreSQL: %v\n%s", err, out)
	}
	for _, good := range []string{token, newToken} {
		moved.send(t, call{path: reverse + place, bearer: good}).want(200)
	}
	moved.send(t, call{path: reverse + place, bearer: revokedToken}).want(401)
	moved.exchange(t, suspended.ClientToken, suspended.ServerToken)
	moved.send(t, refreshCall(newRefresh)).want(200).into(&refreshed)
	secret(refreshed.Data.AccessToken)
	// The token that was replaced before the move ends its grant.
	moved.send(t, refreshCall(refresh)).want(401)
	moved.send(t, refreshCall(secret(refreshed.Data.RefreshToken))).want(401)
}
