package integration

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// killRounds is how often servers are killed: MAPS_TEST_KILLS times, and a few times in an ordinary run.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MAPS_TEST_KILLS")
	if text == "" {
		if testing.Short() {
			return 2
		}
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MAPS_TEST_KILLS: %q is no number of kills", text)
	}
	return n
}

// Whatever the server confirmed is there after it was killed, at any moment and however often, and nothing that had
// ended comes back.
func TestConfirmedChangesSurviveKill(t *testing.T) {
	t.Parallel()
	ttl := []string{"access_token_ttl 15m", "access_token_ttl 12h", "# refresh_rotation", "refresh_rotation"}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		s := newServer(t, ttl...)
		s.raced = true
		t.Cleanup(func() { s.end(t) })
		surviveKills(t, []*server{s}, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		leaveOut(t, "it starts a cluster")
		t.Parallel()
		c := startCluster(t, pgtest.DSN(t), ttl...)
		surviveKills(t, c.nodes[:2], c.nodes[2])
	})
}

// surviveKills kills the victims in turn while accounts and grants are made, changed and ended on them. The witness,
// if there is one, is a server that lives on and must know of it all.
func surviveKills(t *testing.T, victims []*server, witness *server) {
	var count tally
	var all, recent, idle []*life // ever made; touched in this round; that more can happen to
	kills, starts := killRounds(t), 0
	for round := range kills {
		s := victims[round%len(victims)]
		if round%5 == 4 && !s.running() {
			// while it starts, or just after
			if err := s.launch(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
			s.crash(t)
			starts++
		}
		revive(t, s)
		user := s.userToken(t, "durable")
		for _, l := range append(sample(all, 50), recent...) {
			l.check(t, s, user, &count)
		}
		recent = nil

		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					var l *life
					mu.Lock()
					if len(idle) > 0 && rand.IntN(2) == 0 {
						i := rand.IntN(len(idle))
						l, idle[i] = idle[i], idle[len(idle)-1]
						idle = idle[:len(idle)-1]
					}
					mu.Unlock()
					l, alive := live(t, s, witness, user, l, &count)
					mu.Lock()
					if l != nil {
						recent = append(recent, l)
						if !l.over() {
							idle = append(idle, l)
						}
					}
					mu.Unlock()
					if !alive {
						return
					}
				}
			})
		}
		if round%8 == 3 {
			// The keys that sign change as well, answered or not.
			wg.Go(func() {
				_, _ = sendTo(t, adminClient, "http://"+s.admin, call{method: "POST", path: "/maps/keys/rotate"})
			})
		}
		// At any moment, but not before something was confirmed, however busy the machine is.
		enough := count.confirmed.Load() + 8
		for begun := time.Now(); count.confirmed.Load() < enough && time.Since(begun) < 30*time.Second && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(350)) * time.Millisecond)
		s.crash(t)
		wg.Wait()
		httpClient.CloseIdleConnections()
		slices.SortFunc(recent, func(a, b *life) int { return strings.Compare(a.account.ID, b.account.ID) })
		recent = slices.Compact(recent) // one that was picked up again stands there more than once
		for _, l := range recent {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
		if witness != nil {
			for _, l := range recent {
				count.checked.Add(int64(l.refusedWithin(t, witness, 5*time.Second)))
			}
		}
		if t.Failed() {
			t.Fatalf("after %d kills", round+1)
		}
		s.clearLog(t)
	}
	s := victims[0]
	revive(t, s)
	user := s.userToken(t, "durable")
	for _, l := range all {
		l.check(t, s, user, &count)
	}
	time.Sleep(account.RetryWindow + time.Second)
	for _, l := range all {
		for _, g := range l.grants {
			g.checkReuse(t, s, &count)
		}
	}
	if n := count.confirmed.Load(); n < int64(4*kills) {
		t.Errorf("only %d operations were confirmed before the kills", n)
	}
	t.Logf("%d kills under load and %d while starting; %d operations on %d accounts confirmed; %d checks afterwards, "+
		"none failed", kills, starts, count.confirmed.Load(), len(all), count.checked.Load())
}

// revive starts a server that was killed.
func revive(t *testing.T, s *server) {
	t.Helper()
	if s.running() {
		return
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// live lets things happen to an account, a new one if none is given, until the server is gone or it is another one's
// turn.
func live(t *testing.T, s, witness *server, user string, l *life, count *tally) (after *life, alive bool) {
	if l == nil {
		var err error
		if l, err = begin(t, s, user, count); err != nil {
			return nil, false
		}
	}
	for range 1 + rand.IntN(10) {
		if l.over() {
			break
		}
		if err := l.step(t, s, user, count); err != nil {
			return l, false
		}
		if n := len(l.grants); witness != nil && n > 0 && !l.grants[n-1].ended {
			// So that the witness has it in its cache, and would go on accepting it if it did not hear what happens next. That
			// the account is active again it may hear a moment later.
			c := call{path: match + "?path=[]", bearer: l.grants[n-1].access[0].token}
			deadline := time.Now().Add(5 * time.Second)
			for {
				a, err := witness.trySend(t, c)
				if err == nil && a.status == 422 {
					break
				}
				if err != nil || a.status != 401 || time.Now().After(deadline) {
					t.Errorf("the witness answers a live token with %+v, error %v", a, err)
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
	return l, true
}

// sample picks up to n of a list.
func sample(list []*life, n int) (picked []*life) {
	for _, i := range rand.Perm(len(list))[:min(n, len(list))] {
		picked = append(picked, list[i])
	}
	return picked
}

// One store belongs to one process; another one is told so, and validating beside a live server disturbs nobody.
func TestSecondServerAndValidate(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	second := newServer(t)
	second.store = s.store
	if err := second.launch(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-second.exited:
	case <-time.After(30 * time.Second):
		_ = second.kill()
		t.Fatal("the second server runs on the first one's store")
	}
	log, err := os.ReadFile(second.log)
	if err != nil {
		t.Fatal(err)
	}
	if second.cmd.ProcessState.Success() || !strings.Contains(string(log), s.store) ||
		!strings.Contains(string(log), "another server") {
		t.Errorf("the second server ended with %v and did not say what is wrong:\n%s", second.cmd.ProcessState,
			second.logTail(5))
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := s.command(ctx, "validate", "--config", s.config, "--adapter", "caddyfile").CombinedOutput()
	if err != nil {
		t.Errorf("caddy validate beside the live server: %v\n%s", err, out)
	}
	s.userToken(t, "still-alive")
}

// The store and its directory are for the server's user only.
func TestStorePermissions(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for path, want := range map[string]os.FileMode{s.store: 0o600, strings.TrimSuffix(s.store, "/accounts.db"): 0o700} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != want {
			t.Errorf("%s has mode %v, want %v", path, mode, want)
		}
	}
}
