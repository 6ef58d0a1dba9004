package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// occupy keeps the committer busy until the returned function is called, so that what comes in between shares a commit.
func occupy(t *testing.T, s *Store) (release func()) {
	t.Helper()
	begun, end := make(chan struct{}), make(chan struct{})
	go func() {
		_ = s.write(context.Background(), func(*writeTx) error {
			close(begun)
			<-end
			return nil
		})
	}()
	<-begun
	return sync.OnceFunc(func() { close(end) })
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (g *group) length() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting)
}

// TestSharedCommit has changes of many kinds in one commit: good ones, refused ones, ones that fail or panic
// after they have written. Only the bad ones may fail, and nothing of theirs may stay.
func TestSharedCommit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
	release := occupy(t, s)
	defer release()
	const each = 5
	spoilt, refused := errors.New("spoilt"), errors.New("refused")
	put := func(t *writeTx, key string) error { return t.put(accountsBucket, []byte(key), []byte("x")) }
	var wg sync.WaitGroup
	results := make([]error, 4*each)
	for i := range results {
		wg.Go(func() {
			key := fmt.Sprint("key ", i)
			results[i] = s.write(context.Background(), func(t *writeTx) error {
				switch i % 4 {
				case 0:
					return refused
				case 1:
					if err := put(t, key); err != nil {
						return err
					}
					return spoilt
				case 2:
					if err := put(t, key); err != nil {
						return err
					}
					panic("in the middle")
				}
				return put(t, key)
			})
		})
	}
	waitFor(t, "all changes to queue", func() bool { return s.group.length() == len(results) })
	release()
	wg.Wait()
	for i, err := range results {
		ok := false
		switch i % 4 {
		case 0:
			ok = err == refused
		case 1:
			ok = err == spoilt
		case 2:
			ok = err != nil && err != spoilt && err != refused
		case 3:
			ok = err == nil
		}
		if !ok {
			t.Errorf("change %d: error %v", i, err)
		}
		if err := s.read(t.Context(), func(tx *bbolt.Tx) error {
			if there := tx.Bucket(accountsBucket).Get([]byte(fmt.Sprint("key ", i))) != nil; there != (i%4 == 3) {
				t.Errorf("change %d: what it wrote is there: %v", i, there)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestGivenUp ends a context while its change waits behind another's commit.
func TestGivenUp(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
	release := occupy(t, s)
	defer release()
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	a := account.Account{ID: "sa_1", ClientHash: hashOf("c"), ServerHash: hashOf("s")}
	go func() { result <- s.CreateAccount(ctx, a) }()
	waitFor(t, "the change to queue", func() bool { return s.group.length() == 1 })
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	release()
	if _, err := s.Account(t.Context(), a.ID); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("a change that was given up: error %v, want not found", err)
	}
}

// TestBegunIsAwaited ends a context while its change is being made: the caller must not hear less than the truth.
func TestBegunIsAwaited(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "accounts.db"))
	ctx, cancel := context.WithCancel(context.Background())
	begun, end, result := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		result <- s.write(ctx, func(t *writeTx) error {
			close(begun)
			<-end
			return t.put(accountsBucket, []byte("key"), []byte("x"))
		})
	}()
	<-begun
	cancel()
	select {
	case err := <-result:
		t.Fatalf("a change in the middle of its commit was given up: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(end)
	if err := <-result; err != nil {
		t.Errorf("a change that was committed: %v", err)
	}
}

// TestFullDisk lets commits fail. All who share one must hear of it, and what was there must stay readable.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	fill(t, path, 5)
	s := open(t, path)
	release := occupy(t, s)
	s.db.MaxSize = 1 << 17
	const each = 40
	var wg sync.WaitGroup
	results := make([]error, each)
	for i := range results {
		wg.Go(func() {
			results[i] = s.CreateAccount(context.Background(),
				account.Account{ID: fmt.Sprint("sa_", i), Description: string(make([]byte, 8192)),
					ClientHash: hashOf("big", fmt.Sprint(i)), ServerHash: hashOf("big", fmt.Sprint(i))})
		})
	}
	waitFor(t, "all changes to queue", func() bool { return s.group.length() == each })
	release()
	wg.Wait()
	for i, err := range results {
		if !account.IsUnavailable(err) {
			t.Fatalf("change %d on a full disk: error %v", i, err)
		}
		if _, err := s.Account(t.Context(), fmt.Sprint("sa_", i)); !errors.Is(err, account.ErrNotFound) {
			t.Fatalf("account %d after its commit failed: error %v", i, err)
		}
	}
	if list, err := s.Accounts(t.Context(), "org", account.Page{Limit: 10}); err != nil || len(list) != 5 {
		t.Errorf("%d accounts, error %v, want the 5 of before", len(list), err)
	}
	s.db.MaxSize = 0
	if err := s.CreateAccount(t.Context(),
		account.Account{ID: "sa_after", ClientHash: hashOf("after"), ServerHash: hashOf("after")}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestCloseWaits closes the store while changes are on their way: each is either kept or refused.
func TestCloseWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := open(t, path)
	const workers = 8
	kept := make([][]string, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("sa_%d_%d", i, n)
				err := s.CreateAccount(context.Background(),
					account.Account{ID: id, ClientHash: hashOf(id), ServerHash: hashOf(id)})
				if errors.Is(err, errClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				kept[i] = append(kept[i], id)
			}
		})
	}
	time.Sleep(30 * time.Millisecond)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	s = open(t, path)
	for _, ids := range kept {
		if len(ids) == 0 {
			t.Error("a worker did nothing")
		}
		for _, id := range ids {
			if _, err := s.Account(t.Context(), id); err != nil {
				t.Errorf("acknowledged account %s: %v", id, err)
			}
		}
	}
}

// TestPanicInCommit lets bbolt panic in the middle of a commit, over a page that was damaged after it was
// compared. The commit fails, and the next one is made.
func TestPanicInCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	fill(t, path, 200)
	s := open(t, path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	endsIn(t, 20*time.Second, "a commit that panics", func() {
		err := s.write(context.Background(), func(tx *writeTx) error {
			if err := tx.remove(accountsBucket, []byte("sa_00100")); err != nil {
				return err
			}
			for id := range tx.seen { // bbolt reads those it merges, and those whose pages it frees, once more
				writeAt(t, path, make([]byte, pageSize), int64(id)*pageSize)
			}
			return nil
		})
		if !errors.Is(err, account.ErrDamaged) {
			t.Errorf("error %v, want that of damage", err)
		}
		writeAt(t, path, content, 0)
		if err := s.CreateAccount(context.Background(),
			account.Account{ID: "sa_after", ClientHash: hashOf("after"), ServerHash: hashOf("after")}); err != nil {
			t.Errorf("the next change: %v", err)
		}
		if _, err := s.Account(context.Background(), "sa_00100"); err != nil {
			t.Errorf("what the failed change removed: %v", err)
		}
	})
	if faults := s.Faults(); len(faults) != 1 || faults[0] != account.FaultDamaged {
		t.Errorf("faults %v", faults)
	}
}

// Changes whose callers gave up, more than one commit takes, keep nobody else waiting: not a change behind them, and
// not the end.
func TestManyGiveUp(t *testing.T) {
	for _, late := range []bool{true, false} {
		s, err := Open(filepath.Join(t.TempDir(), "accounts.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		release := occupy(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		var gone sync.WaitGroup
		for range 2*maxGroup + 1 {
			gone.Go(func() { _ = s.write(ctx, func(*writeTx) error { return nil }) })
		}
		waitFor(t, "all changes to queue", func() bool { return s.group.length() == 2*maxGroup+1 })
		done := make(chan error, 1)
		if late {
			go func() { done <- s.write(context.Background(), func(*writeTx) error { return nil }) }()
			waitFor(t, "the last change to queue", func() bool { return s.group.length() == 2*maxGroup+2 })
		}
		cancel()
		gone.Wait()
		if !late {
			go func() { done <- s.Close() }()
			waitFor(t, "the end to begin", func() bool {
				s.group.mu.Lock()
				defer s.group.mu.Unlock()
				return s.group.closed
			})
		}
		release()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("a change behind them (%v): %v", late, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("a change behind them (%v): it is waited for in vain", late)
		}
		if late {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
