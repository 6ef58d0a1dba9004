package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// The test binary runs itself as a second process: one that writes until it is killed, or one that only holds the file.
const (
	childRole = "CADDY_MAPS_TEST_ROLE"
	childPath = "CADDY_MAPS_TEST_PATH"
)

func TestMain(m *testing.M) {
	switch os.Getenv(childRole) {
	case "write":
		writeUntilKilled(os.Getenv(childPath), os.Stdout)
	case "hold":
		hold(os.Getenv(childPath))
	default:
		os.Exit(m.Run())
	}
}

// startChild starts this binary in a role. Its lines end when it does.
func startChild(t *testing.T, role, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(out)
}

func hold(path string) {
	if _, err := Open(path, nil); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	time.Sleep(time.Minute)
}

// writeUntilKilled walks accounts and grants through their lives, several at a time, and prints each step when the
// store has acknowledged it: "<id> <step>", in one write, so that a line is whole or not there.
func writeUntilKilled(path string, out io.Writer) {
	s, err := Open(path, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for worker := range 6 {
		go func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, n)
				for step, do := range life(id) {
					if err := do(context.Background(), s); err != nil {
						fmt.Fprintf(os.Stderr, "%s, step %d: %v\n", id, step, err)
						os.Exit(1)
					}
					fmt.Fprintf(out, "%s %d\n", id, step+1)
				}
			}
		}()
	}
	select {}
}

// life is what happens to an account and its grant, step by step.
func life(id string) []func(context.Context, account.Store) error {
	become := func(status account.Status) func(context.Context, account.Store) error {
		return func(ctx context.Context, s account.Store) error {
			_, _, err := s.UpdateAccount(ctx, id, func(a *account.Account) (bool, error) {
				a.Status = status
				return true, nil
			})
			return err
		}
	}
	return []func(context.Context, account.Store) error{
		func(ctx context.Context, s account.Store) error {
			return s.CreateAccount(ctx, account.Account{ID: id, OrganizationID: "org", Status: account.StatusActive, Version: 1,
				ClientHash: hashOf(id, "client"), ServerHash: hashOf(id, "server")})
		},
		func(ctx context.Context, s account.Store) error {
			_, err := s.AddGrant(ctx, account.Grant{ID: "g" + id, RefreshHash: hashOf(id, "first"), ClientAccount: id,
				ServerAccount: id, ExpiresAt: time.Now().Add(time.Hour)}, 10)
			return err
		},
		become(account.StatusSuspended),
		func(ctx context.Context, s account.Store) error {
			return s.RotateGrant(ctx, "g"+id, hashOf(id, "first"), hashOf(id, "second"))
		},
		become(account.StatusActive),
		func(ctx context.Context, s account.Store) error { return s.EndGrant(ctx, "g"+id) },
		become(account.StatusRevoked),
	}
}

// stepOf reads from the store how far an account's life has come, and fails where it is at no step.
func stepOf(t *testing.T, s *Store, id string) int {
	t.Helper()
	a, err := s.Account(t.Context(), id)
	if errors.Is(err, account.ErrNotFound) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	byToken, err := s.AccountByToken(t.Context(), account.ServerToken, hashOf(id, "server"))
	if err != nil || byToken.Version != a.Version {
		t.Fatalf("account %s by token: version %d, error %v; by id: version %d", id, byToken.Version, err, a.Version)
	}
	_, grantErr := s.Grant(t.Context(), "g"+id)
	_, firstErr := s.GrantByRefresh(t.Context(), hashOf(id, "first"))
	_, secondErr := s.GrantByRefresh(t.Context(), hashOf(id, "second"))
	none := account.ErrNotFound
	for step, at := range []struct {
		status               account.Status
		version              uint64
		grant, first, second error
	}{
		1: {account.StatusActive, 1, none, none, none},
		2: {account.StatusActive, 1, nil, nil, none},
		3: {account.StatusSuspended, 2, nil, nil, none},
		4: {account.StatusSuspended, 2, nil, account.ErrRotated, nil},
		5: {account.StatusActive, 3, nil, account.ErrRotated, nil},
		6: {account.StatusActive, 3, none, none, none},
		7: {account.StatusRevoked, 4, none, none, none},
	} {
		if a.Status == at.status && a.Version == at.version && grantErr == at.grant && firstErr == at.first &&
			secondErr == at.second {
			return step
		}
	}
	t.Fatalf("account %s is at no step of its life: %s, version %d, grant: %v, first token: %v, second: %v",
		id, a.Status, a.Version, grantErr, firstErr, secondErr)
	return 0
}

// TestKill kills a writing process again and again, and looks for everything that it had been told was kept.
func TestKill(t *testing.T) {
	const rounds = 10
	path := filepath.Join(t.TempDir(), "accounts.db")
	acknowledged := map[string]int{} // of the process that is killed next
	found := map[string]int{}        // of those that were killed before
	for range rounds {
		cmd, lines := startChild(t, "write", path)
		started := false
		for lines.Scan() {
			if !started {
				started = true
				time.AfterFunc(time.Duration(rand.IntN(80_000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
			var id string
			var step int
			if _, err := fmt.Sscan(lines.Text(), &id, &step); err != nil {
				t.Fatalf("the child wrote %q", lines.Text())
			}
			acknowledged[id] = max(acknowledged[id], step)
		}
		if err := cmd.Wait(); !started || err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("the child ended by itself: %v", err)
		}
		s, err := Open(path, nil)
		if err != nil {
			t.Fatalf("after a kill: %v", err)
		}
		for id, was := range found {
			if step := stepOf(t, s, id); step != was {
				t.Fatalf("account %s: nobody changed it, and it went from step %d to %d", id, was, step)
			}
		}
		for id, told := range acknowledged {
			// The step after may have been kept without there being time to say so: each account has one worker.
			step := stepOf(t, s, id)
			if step != told && step != told+1 {
				t.Fatalf("account %s: the store said step %d was kept, and has step %d", id, told, step)
			}
			found[id] = step
		}
		clear(acknowledged)
		checkPages(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < rounds {
		t.Fatalf("only %d accounts in %d rounds; the test saw too little", len(found), rounds)
	}
}

func checkPages(t *testing.T, s *Store) {
	t.Helper()
	err := s.db.View(func(tx *bbolt.Tx) error {
		var all []error
		for err := range tx.Check() {
			all = append(all, err)
		}
		return errors.Join(all...)
	})
	if err != nil {
		t.Fatalf("the file is not consistent: %v", err)
	}
}

func TestSecondProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	_, lines := startChild(t, "hold", path)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child said %q", lines.Text())
	}
	start := time.Now()
	_, err := Open(path, nil)
	if err == nil {
		t.Fatal("a second process opened the file")
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("it took %v to say so", took)
	}
	for _, part := range []string{path, "another process has it open", "stop that process"} {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %q, want one line with %q", err, part)
		}
	}
}
