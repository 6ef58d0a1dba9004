package integration

import (
	"context"

	"math/rand/v2"

	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// acknowledged is what a writer was told about its last account.
type acknowledged struct {
	account serviceAccount
	status  string // the last one that was confirmed
	asked   string // one that was asked for, with no answer: may or may not stand
	refresh string // of a grant that was confirmed while the account was active
}

// Whatever the server confirmed is there after it was killed, at any moment and however often.
func TestConfirmedChangesSurviveKill(t *testing.T) {
	s, err := newServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.end(t) })
	var all []acknowledged
	for range 5 {
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		user := s.userToken(t, "durable")
		checkAcknowledged(t, s, user, all)

		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					a, alive := writeOne(t, s, user)
					if a.account.ID != "" {
						mu.Lock()
						all = append(all, a)
						mu.Unlock()
					}
					if !alive {
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(100+rand.IntN(300)) * time.Millisecond)
		if err := s.kill(); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	checkAcknowledged(t, s, s.userToken(t, "durable"), all)
	if len(all) < 10 {
		t.Errorf("only %d accounts were made before the kills", len(all))
	}
	t.Logf("%d accounts survived", len(all))
}

// writeOne makes an account, exchanges its tokens and changes its status until the server is gone or the life is over.
func writeOne(t *testing.T, s *server, user string) (a acknowledged, alive bool) {
	answered, err := s.trySend(t, call{method: "POST", path: accounts, bearer: user, contentType: jsonType, body: `{"platform":"WEB","scopes":["DIRECTION"]}`})
	if err != nil {
		return a, false
	}
	var created accountBody
	answered.want(201).into(&created)
	a = acknowledged{account: created.Data, status: "ACTIVE"}
	secret(created.Data.ClientToken)
	secret(created.Data.ServerToken)
	answered, err = s.trySend(t, exchangeCall(created.Data.ClientToken, created.Data.ServerToken))
	if err != nil {
		return a, false
	}
	var tokens tokensBody
	answered.want(200).into(&tokens)
	a.refresh = secret(tokens.Data.RefreshToken)
	secret(tokens.Data.AccessToken)
	// One in three stays active, with its grant.
	for _, next := range []string{"SUSPENDED", "ACTIVE", "REVOKED"}[:rand.IntN(2)*3] {
		a.asked = next
		answered, err := s.trySend(t, call{method: "PATCH", path: accounts + "/" + a.account.ID, bearer: user, contentType: jsonType, body: `{"status":"` + next + `"}`})
		if err != nil {
			return a, false
		}
		answered.want(200)
		a.status, a.asked, a.refresh = next, "", ""
	}
	return a, true
}

func checkAcknowledged(t *testing.T, s *server, user string, all []acknowledged) {
	t.Helper()
	for _, a := range all {
		var got accountBody
		s.send(t, call{path: accounts + "/" + a.account.ID, bearer: user}).want(200).into(&got)
		if got.Data.Status != a.status && got.Data.Status != a.asked {
			t.Errorf("%s is %s; %q was confirmed, %q was asked for last", a.account.ID, got.Data.Status, a.status, a.asked)
		}
		if a.refresh != "" && a.asked == "" {
			var tokens tokensBody
			s.send(t, refreshCall(a.refresh)).want(200).into(&tokens)
			secret(tokens.Data.AccessToken)
		}
	}
}

// One store belongs to one process; another one is told so, and validating beside a live server disturbs nobody.
func TestSecondServerAndValidate(t *testing.T) {
	s := startServer(t)
	second, err := newServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
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
	if second.cmd.ProcessState.Success() || !strings.Contains(string(log), s.store) || !strings.Contains(string(log), "another process") {
		t.Errorf("the second server ended with %v and did not say what is wrong:\n%s", second.cmd.ProcessState, second.logTail(5))
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := s.command(ctx, "validate", "--config", s.config, "--adapter", "caddyfile").CombinedOutput()
	if err != nil {
		t.Errorf("caddy validate beside the live server: %v\n%s", err, out)
	}
	s.userToken(t, "still-alive")
}

// The store and its directory are for the server's user alone.
func TestStorePermissions(t *testing.T) {
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
