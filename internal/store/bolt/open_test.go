package bolt

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func hashOf(parts ...string) account.Hash { return sha256.Sum256([]byte(strings.Join(parts, "\x00"))) }

// fill makes a file with enough in it to have several levels of pages.
func fill(t *testing.T, path string, accounts int) {
	t.Helper()
	s := open(t, path)
	// In one commit: hundreds of them take their time.
	if err := s.write(t.Context(), func(tx *writeTx) error {
		for n := range accounts {
			a := account.Account{ID: fmt.Sprintf("sa_%05d", n), OrganizationID: "org", Description: strings.Repeat("x", 300),
				Status:     account.StatusActive,
				ClientHash: hashOf("c", fmt.Sprint(n)), ServerHash: hashOf("s", fmt.Sprint(n)), Version: 1}
			if err := createAccount(tx, &a); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	fill(t, path, 3)
	for range 3 {
		s := open(t, path)
		list, err := s.Accounts(t.Context(), "org", account.Page{Limit: 10})
		if err != nil || len(list) != 3 {
			t.Fatalf("%d accounts, error %v, want 3", len(list), err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFileModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "deep")
	path := filepath.Join(dir, "accounts.db")
	open(t, path)
	checkMode(t, dir, 0o700)
	checkMode(t, filepath.Dir(dir), 0o700)
	checkMode(t, path, 0o600)

	// A file that others could read, such as one restored from a backup, is closed to them.
	restored := filepath.Join(t.TempDir(), "accounts.db")
	fill(t, restored, 1)
	if err := os.Chmod(restored, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, restored)
	checkMode(t, restored, 0o600)
}

func checkMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %v, want %v", path, got, want)
	}
}

// TestRefusedFiles opens files that are not this version's. Each must give one line that says what is wrong, and
// none may be changed.
func TestRefusedFiles(t *testing.T) {
	good := filepath.Join(t.TempDir(), "accounts.db")
	fill(t, good, 200)
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	raw := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, change(bytes.Clone(content)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	inside := func(change func(*bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			raw(func(b []byte) []byte { return b })(t, path)
			edit(t, path, change)
		}
	}
	for _, test := range []struct {
		name string
		make func(*testing.T, string)
		want string
	}{
		{"text", raw(func([]byte) []byte { return []byte("{\"accounts\":[]}") }), "not a database of caddy-maps"},
		{"zeros", raw(func([]byte) []byte { return make([]byte, 1<<16) }), "not a database of caddy-maps"},
		{"half", raw(func(b []byte) []byte { return b[:len(b)/2] }), "part of the file is missing"},
		{"a third", raw(func(b []byte) []byte { return b[:len(b)/3] }), "part of the file is missing"},
		{"two pages", raw(func(b []byte) []byte { return b[:8192] }), "part of the file is missing"},
		{"one page", raw(func(b []byte) []byte { return b[:4096] }), "not a database of caddy-maps, or it is damaged"},
		{"holes", raw(func(b []byte) []byte { clear(b[16384 : len(b)-4096]); return b }), "it is damaged"},
		{"newer", inside(func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(formatKey, binary.BigEndian.AppendUint64(nil, format+1))
		}), "it has format 5, and this version of caddy-maps knows format 4 and those before only"},
		{"no format", inside(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(formatKey) }),
			"not a database of caddy-maps"},
		{"bucket gone", inside(func(tx *bbolt.Tx) error { return tx.DeleteBucket(grantsBucket) }),
			"not a database of caddy-maps"},
		{"another program's", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("widgets"))
				return err
			})
		}, "not a database of caddy-maps"},
		{"directory", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "it is a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "accounts.db")
			test.make(t, path)
			before, _ := os.ReadFile(path)
			s, err := Open(path, nil)
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with the path and %q", err, test.want)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// edit changes a file behind the store's back.
func edit(t *testing.T, path string, change func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEmptyFile opens what a process leaves that was killed before its first write.
func TestEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(t.TempDir(), "bare.db")
	edit(t, bare, func(*bbolt.Tx) error { return nil })
	open(t, bare)
}

// TestDamagedRecords puts every record through every cut and some changed bytes: an error or an answer, never a panic.
func TestDamagedRecords(t *testing.T) {
	quotas := []account.Quota{{Scope: account.EveryScope, Unit: account.UnitUnits, Window: account.WindowDay, Limit: 5}}
	a := account.Account{ID: "sa_1", Scopes: account.Scopes{account.ScopeTile}, Description: "text", Version: 1 << 50,
		Quotas: quotas, Restrictions: account.Restrictions{Origins: []string{"https://a.example"}}}
	o := account.OrganizationQuotas{Organization: "org", Quotas: quotas, Version: 1 << 50}
	g := grantRecord{Grant: account.Grant{ID: "gr_1", Scopes: account.ScopeTile.Set()}}
	k := account.Key{ID: "kid", Private: []byte("secret")}
	for name, kind := range map[string]struct {
		record []byte
		decode func([]byte) error
	}{
		"account":      {encodeAccount(&a), func(b []byte) error { _, err := decodeAccount(b); return err }},
		"grant":        {encodeGrant(&g), func(b []byte) error { _, err := decodeGrant(b); return err }},
		"key":          {encodeKey(&k), func(b []byte) error { _, err := decodeKey(b); return err }},
		"organization": {encodeOrganization(&o), func(b []byte) error { _, err := decodeOrganization(b); return err }},
		"usage":        {encodeUsage(account.Usage{Requests: 1 << 40, Units: -1}), checkUsage},
		"node": {encodeNode(nodeRecord{number: 1 << 50}), func(b []byte) error {
			_, err := decodeNode(b)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := kind.decode(kind.record); err != nil {
				t.Fatalf("whole: %v", err)
			}
			for n := range kind.record {
				if kind.decode(kind.record[:n]) == nil {
					t.Errorf("cut to %d bytes, and no error", n)
				}
				for _, b := range []byte{0, 0x7F, 0x80, 0xFF} {
					changed := bytes.Clone(kind.record)
					changed[n] = b
					_ = kind.decode(changed) // many of them are good records
				}
			}
			if kind.decode(append(bytes.Clone(kind.record), 0)) == nil {
				t.Error("a byte more, and no error")
			}
			newer := bytes.Clone(kind.record)
			newer[0]++
			if err := kind.decode(newer); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d", newer[0])) {
				t.Errorf("newer version: error %v", err)
			}
		})
	}
}

// TestAccountsOfBefore reads accounts that a version wrote which did not write down who narrowed them: people
// did. Whatever is changed is written in the new form.
func TestAccountsOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := open(t, path)
	for id, status := range map[string]account.Status{"sa_1": account.StatusActive, "sa_2": account.StatusSuspended,
		"sa_3": account.StatusSuspended} {
		a := account.Account{ID: id, OrganizationID: "org", Scopes: account.Scopes{account.ScopeTile}, Status: status,
			Version: 1}
		copy(a.ClientHash[:], id)
		copy(a.ServerHash[:], id)
		if err := s.CreateAccount(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.write(t.Context(), func(tx *writeTx) error {
		for id, form := range map[string]struct{ version, more int }{"sa_1": {1, 6}, "sa_2": {1, 6}, "sa_3": {2, 3}} {
			record, err := tx.get(accountsBucket, []byte(id))
			if err != nil {
				return err
			}
			record = bytes.Clone(record)
			record[0] = byte(form.version)
			record = record[:len(record)-form.more] // no flag, and two lengths of 0; before, three numbers of 0
			if err := tx.put(accountsBucket, []byte(id), record); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	for id, suspended := range map[string]bool{"sa_1": false, "sa_2": true} {
		a, err := s.Account(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if want := account.UnknownHolds(&a); a.Holds != want || a.Holds.Suspended != suspended || a.Holds.Scopes == 0 ||
			a.Version != 1 || len(a.Quotas) > 0 || !a.Restrictions.Empty() {
			t.Errorf("%s is %+v, want the holds %+v", id, a, want)
		}
	}
	if a, err := s.Account(t.Context(), "sa_3"); err != nil || a.Holds != (account.Holds{}) || len(a.Quotas) > 0 ||
		!a.Restrictions.Empty() {
		t.Errorf("an account with holds, and without quotas, is %+v, error %v", a, err)
	}
	for _, id := range []string{"sa_1", "sa_2", "sa_3"} {
		want := account.Holds{Dropped: account.ScopeONM.Set()}
		if _, _, err := s.UpdateAccount(t.Context(), id, func(a *account.Account) (bool, error) {
			a.Holds, a.Quotas = want, account.Quotas{{Scope: account.EveryScope, Limit: 5}}
			return true, nil
		}); err != nil {
			t.Fatal(err)
		}
		if a, err := s.Account(t.Context(), id); err != nil || a.Holds != want || a.Quotas[0].Limit != 5 {
			t.Errorf("after a change, %s is %+v, error %v", id, a, err)
		}
	}
}

// Opening a store writes nothing: its disk may be full.
func TestOpeningWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	fill(t, path, 20)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file has changed, error %v", err)
	}
}
