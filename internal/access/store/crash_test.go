package store

import (
	"bufio"
	"context"
	"fmt"
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
	s := must(OpenSQLite(path, zap.NewNop()))
	fmt.Println("open", path)
	base := int(time.Now().UnixNano() % 1e9)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := base + i*1e6; ; n++ {
				id := fmt.Sprintf("sa_%d", n)
				g := newGrant(n, id, id)
				must(s.AddGrant(context.Background(), g, hashOf("refresh", n), many))
				fmt.Println("grant", g.ID)
				if n%3 == 0 {
					fmt.Println("ending", g.ID)
					if err := s.EndGrant(context.Background(), g.ID); err != nil {
						panic(err)
					}
					fmt.Println("ended", g.ID)
				}
			}
		})
	}
	all.Wait()
}

// startCrasher starts such a process. The returned function waits until it has acknowledged so many changes, kills it,
// and returns all that it acknowledged: the grants, and whether they are live.
func startCrasher(t *testing.T, path string) (kill func(changes int) (live map[string]bool)) {
	t.Helper()
	cmd := exec.Command(must(os.Executable()))
	cmd.Env = append(os.Environ(), crashVariable+"="+path)
	lines := bufio.NewScanner(must(cmd.StdoutPipe()))
	is(t, "start", nil, cmd.Start())
	stop := sync.OnceFunc(func() { _ = cmd.Process.Kill() })
	t.Cleanup(stop)
	next := func() (what, id string) {
		if !lines.Scan() {
			return "", ""
		}
		_, _ = fmt.Sscan(lines.Text(), &what, &id)
		return what, id
	}
	if what, _ := next(); what != "open" {
		t.Fatalf("the other process says %q", lines.Text())
	}
	return func(changes int) map[string]bool {
		live := make(map[string]bool)
		for n := 0; ; n++ {
			if n == changes {
				stop()
			}
			what, id := next()
			if id == "" {
				_ = cmd.Wait()
				return live
			}
			if live[id] = what == "grant"; what == "ending" {
				delete(live, id) // either way is right
			}
		}
	}
}

// TestKill: after a kill under load everything that was acknowledged is there, what was ended stays ended, and the file is
// in order.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		live := startCrasher(t, path)(10 + 50*round)
		s := must(OpenSQLite(path, zap.NewNop()))
		for id, there := range live {
			if _, err := s.Grant(t.Context(), id); account.IsUnavailable(err) || there != (err == nil) {
				t.Errorf("grant %s: %v, and it was acknowledged as live: %v", id, err, there)
			}
		}
		s.Close()
		if _, faults, err := Verify(t.Context(), path, 5); err != nil || len(faults) > 0 || len(live) < 5 {
			t.Fatalf("round %d: %q, %v, %d grants", round, faults, err, len(live))
		}
	}
}
