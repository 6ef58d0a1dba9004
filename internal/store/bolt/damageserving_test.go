package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// endsIn fails the test if a function takes too long.
func endsIn(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s: no end after %v", what, limit)
	}
}

// writeAt damages a file that is open.
func writeAt(t *testing.T, path string, b []byte, off int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
}

// change makes changes of each kind, and returns those that the store did not confirm.
func (d damageable) change(ctx context.Context, s *Store) map[string]error {
	failed := map[string]error{}
	try := func(what string, err error) {
		if err != nil {
			failed[what] = err
		}
	}
	for n := d.accounts + 10; n < d.accounts+13; n++ {
		try(fmt.Sprint("account ", n), s.CreateAccount(ctx, anAccount(n)))
	}
	for n := d.grants + 10; n < d.grants+13; n++ {
		_, err := s.AddGrant(ctx, aGrant(n), 1000)
		try(fmt.Sprint("grant ", n), err)
	}
	for n := 1; n < d.grants; n += 20 {
		try(fmt.Sprint("ended grant ", n), s.EndGrant(ctx, aGrant(n).ID))
	}
	for n := 2; n < d.accounts; n += 15 {
		_, _, err := s.UpdateAccount(ctx, anAccount(n).ID, func(a *account.Account) (bool, error) {
			a.Description = "changed"
			return true, nil
		})
		try(fmt.Sprint("changed account ", n), err)
	}
	_, err := s.SweepGrants(ctx, day.Add(time.Minute))
	try("sweep", err)
	_, err = s.AddUsage(ctx, busy(9, 50, day.Truncate(time.Hour)))
	try("usage", err)
	_, err = s.FoldUsage(ctx, day.AddDate(0, 2, 0), usage.DefaultRetention)
	try("fold", err)
	_, err = s.SetOrganizationQuotas(ctx, "organization-001", nil, day)
	try("quotas", err)
	return failed
}

// TestDamagedWhileServing damages each page in each way under a store that is open. Each answer is right, or
// "unavailable"; what is changed then is kept, or refused with "unavailable"; nothing hangs, and the store says
// that it is damaged once it has looked.
func TestDamagedWhileServing(t *testing.T) {
	d := damageable{accounts: 60, grants: 90, keys: 3, usage: true}
	content, want := d.make(t)
	r := rand.New(rand.NewPCG(3, 4))
	served, unavailable, changes, refused := 0, 0, 0, 0
	kinds := harms()
	oneOf := 8
	if testsize.Little() {
		oneOf = 29 // no divisor of the number of kinds, or some would never be done
	}
	for round := range max(rounds(t), 1) {
		for page := range len(content) / pageSize {
			for i, harm := range kinds {
				if os.Getenv(manyDamaged) == "" && (page+i+round)%oneOf != 0 {
					continue
				}
				what := fmt.Sprintf("page %d, %s", page, harm.name)
				path := filepath.Join(t.TempDir(), "accounts.db")
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				core, logs := observer.New(zap.ErrorLevel)
				s, err := Open(path, zap.New(core))
				if err != nil {
					t.Fatal(err)
				}
				if harm.name == "a bit" { // one that the reads before have seen whole
					d.ask(s)
				}
				changed := bytes.Clone(content[page*pageSize : (page+1)*pageSize])
				harm.do(r, changed, content)
				writeAt(t, path, changed, int64(page)*pageSize)
				endsIn(t, 20*time.Second, what, func() {
					for question, answer := range d.ask(s) {
						switch answer {
						case want[question]:
							served++
						case "unavailable":
							unavailable++
						default:
							t.Errorf("%s: %s: %.100s, want %.100s", what, question, answer, want[question])
						}
					}
					inUse := slices.Contains(s.inUse(), uint64(page))
					s.checkPages()
					if faults := s.Faults(); inUse && !bytes.Equal(changed,
						content[page*pageSize:(page+1)*pageSize]) != (len(faults) == 1) {
						t.Errorf("%s: the page is in use, and the store says %v", what, faults)
					}
					if len(s.Faults()) > 0 != (logs.Len() == 1) {
						t.Errorf("%s: %d lines in the log, faults %v", what, logs.Len(), s.Faults())
					}
					failed := d.change(context.Background(), s)
					for name, err := range failed {
						refused++
						if !account.IsUnavailable(err) {
							t.Errorf("%s: %s: error %v", what, name, err)
						}
					}
					changes += 9
					for n := d.accounts + 10; n < d.accounts+13; n++ {
						a, err := s.Account(context.Background(), anAccount(n).ID)
						if known := failed[fmt.Sprint("account ", n)] == nil; known && err != nil && !account.IsUnavailable(err) ||
							err == nil && (!known || a.Description != anAccount(n).Description) {
							t.Errorf("%s: account %d, which was created: %v, is %+v, error %v", what, n, known, a, err)
						}
					}
					if err := s.Close(); err != nil {
						t.Errorf("%s: closing: %v", what, err)
					}
				})
			}
		}
	}
	t.Logf("%d answers were right, %d unavailable; of %d changes %d were refused", served, unavailable, changes, refused)
	if unavailable == 0 || refused == 0 || served < 5*unavailable {
		t.Error("the test sees too little, or the damage touches too much")
	}
}

func (s *Store) inUse() []uint64 {
	ids, _, _ := s.file.sums.used(s.file.sums.last(), 0, 1<<20)
	return ids
}

// TestCutWhileServing cuts the file short under the store.
func TestCutWhileServing(t *testing.T) {
	d := damageable{accounts: 60, grants: 90, keys: 3, usage: true}
	content, _ := d.make(t)
	for _, size := range []int{0, 100, pageSize, 2 * pageSize, len(content) / 2, len(content) - pageSize} {
		path := filepath.Join(t.TempDir(), "accounts.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := d.ask(s)
		if err := os.Truncate(path, int64(size)); err != nil {
			t.Fatal(err)
		}
		endsIn(t, 20*time.Second, fmt.Sprint("cut to ", size), func() {
			got := d.ask(s)
			maps.DeleteFunc(got, func(question, answer string) bool {
				return answer == "unavailable" ||
					answer == want[question]
			})
			if len(got) > 0 {
				t.Errorf("cut to %d: other answers: %v", size, got)
			}
			for name, err := range d.change(context.Background(), s) {
				if !account.IsUnavailable(err) {
					t.Errorf("cut to %d: %s: error %v", size, name, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFullDiskOfDamaged lets a commit fail for want of room while a page is damaged, whether that has been noticed or
// not, or the list of free pages is: bbolt looks for free pages then.
func TestFullDiskOfDamaged(t *testing.T) {
	for _, tc := range []struct {
		name       string
		noticed    bool
		freeList   bool
		wantDamage bool
	}{
		{"a page", false, false, false},
		{"a page, noticed", true, false, false},
		{"the list of free pages", false, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "accounts.db")
			fill(t, path, 600)
			s := open(t, path)
			page := s.inUse()[len(s.inUse())/2]
			content, at := bytes.Repeat([]byte{0xfe}, 200), int64(page)*pageSize
			if tc.freeList {
				if err := s.db.View(func(tx *bbolt.Tx) error {
					raw, err := mapped(tx).FreeList(uint64(tx.ID()))
					if binary.NativeEndian.Uint16(raw[10:]) == 0 {
						t.Fatal("no page is free")
					}
					at = int64(binary.NativeEndian.Uint64(raw))*pageSize + 16
					content = binary.NativeEndian.AppendUint64(nil, page) // which is in use
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			file, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			if _, err := file.WriteAt(content, at); err != nil {
				t.Fatal(err)
			}
			if tc.noticed {
				s.damage.see(damaged("noticed"))
			}
			s.db.MaxSize = 1 << 15
			for range 3 {
				err := s.Probe(t.Context())
				if err == nil || errors.Is(err, account.ErrDamaged) != tc.wantDamage {
					t.Errorf("the error is %v", err)
				}
			}
		})
	}
}
