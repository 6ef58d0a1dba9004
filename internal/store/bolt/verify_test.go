package bolt

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// TestVerify looks through files of all kinds, none of which may be changed by it.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	d := damageable{accounts: 60, grants: 90, keys: 3}
	good := filepath.Join(dir, "good.db")
	d.fill(t, good)
	backup := filepath.Join(dir, "backup.db")
	s := open(t, good)
	if _, err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	all := account.Counts{Accounts: 60, Grants: 90, Keys: 3}
	raw := func(change func([]byte) []byte) string {
		f, err := os.CreateTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(change(bytes.Clone(content))); err != nil {
			t.Fatal(err)
		}
		return f.Name()
	}
	edited := func(change func(*bbolt.Tx) error) string {
		path := raw(func(b []byte) []byte { return b })
		edit(t, path, change)
		return path
	}
	account7 := []byte(anAccount(7).ID)
	for _, test := range []struct {
		name, path string
		counts     account.Counts
		fault, err string
	}{
		{"good", good, all, "", ""},
		{"backup", backup, all, "", ""},
		{"missing", filepath.Join(dir, "none.db"), account.Counts{}, "", "no such file"},
		{"directory", dir, account.Counts{}, "", "not a file"},
		{"empty", raw(func([]byte) []byte { return nil }), account.Counts{}, "", "it is empty"},
		{"text", raw(func([]byte) []byte { return []byte("hello") }), account.Counts{}, "", "not a database of caddy-maps"},
		{"cut", raw(func(b []byte) []byte { return b[:len(b)/2] }), account.Counts{}, "", "a part of the file is missing"},
		{"head", raw(func(b []byte) []byte { clear(b[:pageSize]); return b }), account.Counts{}, "one of the two heads", ""},
		{"other head", raw(func(b []byte) []byte { b[pageSize+40]++; return b }), account.Counts{}, "one of the two heads",
			""},
		{"account gone", edited(func(tx *bbolt.Tx) error { return tx.Bucket(accountsBucket).Delete(account7) }),
			account.Counts{Accounts: 59, Grants: 90, Keys: 3}, "accounts has 59 records and should have 60", ""},
		{"account exchanged", edited(func(tx *bbolt.Tx) error {
			b := tx.Bucket(accountsBucket)
			return b.Put(account7, bytes.Clone(b.Get([]byte(anAccount(8).ID))))
		}), account.Counts{Accounts: 59, Grants: 90, Keys: 3}, "a record of accounts is not what was written", ""},
		{"account of before", edited(func(tx *bbolt.Tx) error {
			a := anAccount(7)
			a.Status = account.StatusActive
			a.Version = 9
			value, _ := seal(accountsBucket, account7, encodeAccount(&a))
			return tx.Bucket(accountsBucket).Put(account7, value)
		}), all, "accounts has 60 records and should have 60, or other ones", ""},
		{"index gone", edited(func(tx *bbolt.Tx) error {
			g := aGrant(5)
			return tx.Bucket(expiryBucket).
				Delete(expiryKey(&g))
		}),
			all, "grants_by_expiry has 89 records and should have 90", ""},
		{"numbers gone", edited(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(talliesKey) }), all,
			"should have 0", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, _ := os.ReadFile(test.path)
			r, err := Verify(test.path, 20)
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if (len(r.Faults) > 0) != (test.fault != "") || test.fault != "" &&
				!strings.Contains(r.Faults[0].Error(), test.fault) {
				t.Errorf("faults %v, want %q", r.Faults, test.fault)
			}
			if r.Counts != test.counts {
				t.Errorf("it holds %v, want %v", r.Counts, test.counts)
			}
			if after, _ := os.ReadFile(test.path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// TestVerifyBounds finds many faults, of which some are told.
func TestVerifyBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	damageable{accounts: 60}.fill(t, path)
	edit(t, path, func(tx *bbolt.Tx) error {
		for n := range 50 {
			if err := tx.Bucket(accountsBucket).Put([]byte(anAccount(n).ID), []byte("x")); err != nil {
				return err
			}
		}
		return nil
	})
	r, err := Verify(path, 20)
	if err != nil || len(r.Faults) != 20 || r.More != 30 {
		t.Errorf("%d faults and %d more, error %v", len(r.Faults), r.More, err)
	}
}

// TestVerifyLocked looks into a file that a server has open.
func TestVerifyLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	_, lines := startChild(t, "hold", path)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child said %q", lines.Text())
	}
	if _, err := Verify(path, 20); err == nil || !strings.Contains(err.Error(),
		"another process has it open; make a backup") {
		t.Errorf("error %v", err)
	}
}

// TestUnsealedDamage damages records of a file of the format of before, which has no checksums: what belongs
// together tells.
func TestUnsealedDamage(t *testing.T) {
	content := readGzip(t, "testdata/format1.db.gz")
	for name, change := range map[string]func(*bbolt.Tx) error{
		"account gone": func(tx *bbolt.Tx) error { return tx.Bucket(accountsBucket).Delete([]byte("sa_00003")) },
		"token gone": func(tx *bbolt.Tx) error {
			h := anAccount(3).ClientHash
			return tx.Bucket(clientsBucket).
				Delete(h[:])
		},
		"grant gone":    func(tx *bbolt.Tx) error { return tx.Bucket(grantsBucket).Delete([]byte(aGrant(9).ID)) },
		"expiry gone":   func(tx *bbolt.Tx) error { g := aGrant(9); return tx.Bucket(expiryBucket).Delete(expiryKey(&g)) },
		"rotation gone": func(tx *bbolt.Tx) error { return tx.Bucket(rotatedBucket).Delete(rotatedKey(aGrant(8).ID, 1)) },
		"pair gone":     func(tx *bbolt.Tx) error { g := aGrant(9); return tx.Bucket(pairsBucket).Delete(pairGrantKey(&g)) },
		"wrong number": func(tx *bbolt.Tx) error {
			return tx.Bucket(pairsBucket).Put(pairKey("sa_00002", "sa_00004"), binary.BigEndian.AppendUint64(nil, 7))
		},
		"of another key": func(tx *bbolt.Tx) error {
			b := tx.Bucket(signingKeyBucket)
			return b.Put([]byte("key1"), bytes.Clone(b.Get([]byte("key2"))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "accounts.db")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			edit(t, path, change)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := Verify(path, 20); err != nil || len(r.Faults) == 0 || r.Format != unsealed {
				t.Errorf("%+v, error %v", r, err)
			}
			if s, err := Open(path, nil); err == nil {
				s.Close()
				t.Error("it was opened")
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}
