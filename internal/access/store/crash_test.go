package store

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// crashVariable makes the test program one that changes the store at its path until it is killed.
const crashVariable = "MAPS_TEST_STORE_CRASH"

// crash prints a line for each change that was acknowledged.
func crash(path string) {
	s, err := OpenSQLite(path, zap.NewNop())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	base := int(time.Now().UnixNano() % 1e9)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := base + i*1e6; ; n++ {
				id := fmt.Sprintf("sa_%d", n)
				g := newGrant(n, id, id)
				if _, err := s.AddGrant(context.Background(), g, hashOf("refresh", n), many); err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
				fmt.Println("grant", g.ID)
				if n%3 == 0 {
					if err := s.EndGrant(context.Background(), g.ID); err != nil {
						fmt.Println(err)
						os.Exit(1)
					}
					fmt.Println("ended", g.ID)
				}
			}
		})
	}
	all.Wait()
}

// crasher is such a process.
type crasher struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startCrasher(t *testing.T, path string) *crasher {
	t.Helper()
	cmd := exec.Command(must[string](t)(os.Executable()))
	cmd.Env = append(os.Environ(), crashVariable+"="+path)
	out := must[io.ReadCloser](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &crasher{cmd, bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if !c.lines.Scan() || c.lines.Text() != "open" {
		t.Fatalf("the other process says %q", c.lines.Text())
	}
	return c
}

// kill ends the process at once, and returns what it had acknowledged.
func (c *crasher) kill(t *testing.T) (live map[string]bool) {
	t.Helper()
	_ = c.cmd.Process.Kill()
	live = make(map[string]bool)
	for c.lines.Scan() {
		var what, id string
		if n, _ := fmt.Sscan(c.lines.Text(), &what, &id); n == 2 {
			live[id] = what == "grant"
		}
	}
	_ = c.cmd.Wait()
	return live
}

// TestKill: after a kill under load everything that was acknowledged is there, what was ended stays ended, and the
// file is in order.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	acknowledged := 0
	for round := range rounds {
		c := startCrasher(t, path)
		time.Sleep(time.Duration(50+40*round) * time.Millisecond)
		live := c.kill(t)
		s, err := OpenSQLite(path, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		for id, there := range live {
			acknowledged++
			if _, err := s.Grant(t.Context(), id); there != (err == nil) {
				// The end of a grant may have been on its way.
				if there && account.IsUnavailable(err) || !there {
					t.Errorf("grant %s: %v, and it was acknowledged as live: %v", id, err, there)
				}
			}
		}
		s.Close()
		if _, faults, err := Verify(t.Context(), path, 5); err != nil || len(faults) > 0 {
			t.Fatalf("round %d: %q, %v", round, faults, err)
		}
	}
	if acknowledged < rounds {
		t.Errorf("only %d changes were acknowledged", acknowledged)
	}
}
