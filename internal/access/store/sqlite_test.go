package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestFiles: everything beside the store is for the server's user only, and the directory is made.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "directory")
	path := filepath.Join(dir, "accounts.db")
	s := openSQLite(t, path)
	create(t, s, newAccount(1, "org"))
	want := map[string]os.FileMode{dir: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600}
	for name, mode := range want {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, error %v", name, info.Mode(), err)
		}
	}
	entries := must[[]os.DirEntry](t)(os.ReadDir(dir))
	if len(entries) != len(want)-1 {
		t.Errorf("the directory holds %v", entries)
	}
	// The file is complete by itself once the server has ended.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if entries := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(entries) != 2 {
		t.Errorf("closed, the directory holds %v", entries)
	}
}

// TestRefusedFiles: what is no store is refused with the reason, and is left as it is.
func TestRefusedFiles(t *testing.T) {
	dir := t.TempDir()
	bolt := make([]byte, 32<<10)
	copy(bolt[16:], []byte{0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0})
	foreign := filepath.Join(dir, "foreign.db")
	db, err := driver.Open("file:" + foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE t (x)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	newer := filepath.Join(dir, "newer.db")
	s, err := OpenSQLite(newer, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, "UPDATE maps_schema SET version = 99")
	s.Close()
	for name, want := range map[string]string{
		"a bolt file": "bolt file", "text": "not an SQLite file", "foreign.db": "another program", "newer.db": "newer caddy-maps",
	} {
		path := filepath.Join(dir, name)
		switch name {
		case "a bolt file":
			err = os.WriteFile(path, bolt, 0o600)
		case "text":
			err = os.WriteFile(path, []byte("accounts = none\n"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before := must[[]byte](t)(os.ReadFile(path))
		if _, err := OpenSQLite(path, zap.NewNop()); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
		if after := must[[]byte](t)(os.ReadFile(path)); name != "newer.db" && !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
	}
}

// TestSecondServer: a second process gets a clear error within a second, by whatever path, and the file is free again
// after a kill.
func TestSecondServer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "accounts.db")
	other := startCrasher(t, path)
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links here")
	}
	for _, path := range []string{path, link} {
		began := time.Now()
		_, err := OpenSQLite(path, zap.NewNop())
		if took := time.Since(began); !errors.Is(err, errInUse) || took > time.Second {
			t.Errorf("%s: error %v after %v", path, err, took)
		}
	}
	other.kill(t)
	openSQLite(t, link)
}

// TestOtherPrograms: sqlite3 and the like can read, change and checkpoint the live file.
func TestOtherPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := openSQLite(t, path)
	create(t, s, newAccount(1, "org"))
	other, err := driver.Open("file:" + path + "?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, sql := range []string{
		"UPDATE maps_accounts SET description = 'by hand'", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM",
	} {
		if _, err := other.Exec(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if a := must[account.Account](t)(s.Account(t.Context(), "sa_000001")); a.Description != "by hand" {
		t.Errorf("the description is %q", a.Description)
	}
	create(t, s, newAccount(2, "org"))
	if cli, err := exec.LookPath("sqlite3"); err == nil {
		out, err := exec.Command(cli, path, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA integrity_check; SELECT count(*) FROM maps_accounts").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "ok\n2\n") {
			t.Errorf("sqlite3: %s, %v", out, err)
		}
		create(t, s, newAccount(3, "org"))
	}
	is(t, "integrity", nil, s.db.read(t.Context(), func(t *tx) error { return checkFile(t, "PRAGMA integrity_check") }))
}

// TestMovedFile: while the path leads to no file or to another one, changes are refused, health says so, and nothing that
// was acknowledged is lost. When the file is back, the server goes on.
func TestMovedFile(t *testing.T) {
	for what, move := range map[string]func(path string) error{
		"moved": func(path string) error { return os.Rename(path, path+".away") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "accounts.db")
			s := openSQLite(t, path)
			create(t, s, newAccount(1, "org"))
			if err := move(path); err != nil {
				t.Fatal(err)
			}
			is(t, "a change", ErrMoved, s.CreateAccount(t.Context(), newAccount(2, "org"), many))
			is(t, "health", ErrMoved, s.Health().Write)
			var readers sync.WaitGroup // enough of them to use several connections
			for range 100 {
				readers.Go(func() {
					if _, err := s.Account(t.Context(), "sa_000001"); err != nil {
						t.Error(err)
					}
				})
			}
			readers.Wait()
			if _, err := s.Backup(t.Context(), path+".backup"); err == nil {
				t.Error("a backup was made")
			}
			if err := os.Rename(path+".away", path); err != nil {
				t.Fatal(err)
			}
			eventually(t, "health", func() bool { return s.Health().Write == nil })
			create(t, s, newAccount(2, "org"))
		})
	}
	t.Run("deleted while idle", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "accounts.db")
		s := openSQLite(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		eventually(t, "health", func() bool { return errors.Is(s.Health().Write, ErrMoved) })
	})
}

// TestDamagedFile: a store with a damaged page is refused at the start. Verify finds it, and nothing in a whole one.
func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "accounts.db")
	s, err := OpenSQLite(path, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	for n := range 300 {
		create(t, s, newAccount(n, "org"))
		addGrant(t, s, n, newAccount(n, "org").ID, newAccount(n, "org").ID, 5)
	}
	s.Close()
	whole := must[[]byte](t)(os.ReadFile(path))
	counts, faults, err := Verify(t.Context(), path, 5)
	if err != nil || len(faults) > 0 || counts["maps_accounts"] != 300 || counts["maps_grants"] != 300 {
		t.Fatalf("of the whole file: %v, %q, %v", counts, faults, err)
	}
	const page = 4096
	refused := 0
	for offset := page; offset < len(whole); offset += 7 * page {
		damaged := bytes.Clone(whole)
		for i := range page {
			damaged[offset+i] ^= byte(i*31 + 7)
		}
		broken := filepath.Join(dir, fmt.Sprintf("broken-%d.db", offset))
		if err := os.WriteFile(broken, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, faults, err := Verify(t.Context(), broken, 5); err == nil && len(faults) == 0 {
			t.Errorf("no damage was found at %d", offset)
		}
		s, err := OpenSQLite(broken, zap.NewNop())
		if err == nil {
			s.Close()
			continue
		}
		refused++
		if !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "verify-store") {
			t.Errorf("damage at %d: %v", offset, err)
		}
	}
	if refused == 0 {
		t.Error("no damaged file was refused")
	}
	if _, _, err := Verify(t.Context(), filepath.Join(dir, "none.db"), 5); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestDamageWhileServing: a page that is damaged under a running server ends in errors that match ErrDamaged, and in the
// health; other pages go on.
func TestDamageWhileServing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := openSQLite(t, path)
	for n := range 200 {
		create(t, s, newAccount(n, "org"))
	}
	run(t, s, "UPDATE maps_schema SET version = version")
	is(t, "checkpoint", nil, s.db.(*sqlite).readers.PingContext(t.Context()))
	checkpoint(t, path)
	f := must[*os.File](t)(os.OpenFile(path, os.O_RDWR, 0))
	defer f.Close()
	info := must[os.FileInfo](t)(f.Stat())
	for offset := int64(8 * 4096); offset < info.Size(); offset += 4096 {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 4096), offset); err != nil {
			t.Fatal(err)
		}
	}
	damaged := 0
	for n := range 200 {
		if _, err := s.Account(t.Context(), newAccount(n, "org").ID); errors.Is(err, account.ErrDamaged) {
			damaged++
		}
	}
	if damaged == 0 {
		t.Error("no damage was met")
	}
	if s.Health().Damage == nil {
		t.Error("the health does not tell of damage")
	}
}

func checkpoint(t *testing.T, path string) {
	t.Helper()
	db, err := driver.Open("file:" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
}

// TestBackup: a backup is a store of its own, is replaced by the next one, and replaces nothing else.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s := openSQLite(t, filepath.Join(dir, "accounts.db"))
	create(t, s, newAccount(1, "org"))
	path := filepath.Join(dir, "backup.db")
	for n := range 2 {
		size, err := s.Backup(t.Context(), path)
		info := must[os.FileInfo](t)(os.Stat(path))
		if err != nil || size != info.Size() || info.Mode().Perm() != 0o600 {
			t.Fatalf("backup %d: %d bytes, mode %v, error %v", n, size, info.Mode(), err)
		}
		create(t, s, newAccount(2+n, "org"))
	}
	if counts, faults, err := Verify(t.Context(), path, 5); err != nil || len(faults) > 0 || counts["maps_accounts"] != 2 {
		t.Errorf("the backup: %v, %q, %v", counts, faults, err)
	}
	verifyDamaged(t, path)
	restored := openSQLite(t, path)
	same(t, "an account", newAccount(1, "org"), must[account.Account](t)(restored.Account(t.Context(), "sa_000001")))
	for _, state := range []string{"open", "changed", "closed"} {
		if counts, faults, err := Verify(t.Context(), path, 5); err != nil || len(faults) > 0 {
			t.Errorf("restored and %s: %v, %q, %v", state, counts, faults, err)
		}
		if state == "open" {
			create(t, restored, newAccount(9, "org"))
		} else {
			restored.Close()
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	for _, refused := range []string{text, link, dir, filepath.Join(dir, "none", "backup.db")} {
		if _, err := s.Backup(t.Context(), refused); err == nil {
			t.Errorf("a backup to %s was made", refused)
		}
	}
	left := must[[]string](t)(filepath.Glob(filepath.Join(dir, ".*")))
	if content := must[[]byte](t)(os.ReadFile(text)); string(content) != "mine" || len(left) > 0 {
		t.Errorf("a file holds %q now, and there are %q", content, left)
	}
}

// verifyDamaged flips bits all over a backup, in values and in free space too: Verify finds each.
func verifyDamaged(t *testing.T, path string) {
	t.Helper()
	whole := must[[]byte](t)(os.ReadFile(path))
	broken := path + ".broken"
	for offset := 0; offset < len(whole); offset += 997 {
		damaged := bytes.Clone(whole)
		damaged[offset] ^= 1 << (offset % 8)
		if err := os.WriteFile(broken, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, faults, err := Verify(t.Context(), broken, 5); err == nil && len(faults) == 0 {
			t.Errorf("a bit that was flipped at %d is not found", offset)
		}
	}
}

// TestBackupUnderLoad: every account that was acknowledged before a backup began is in it.
func TestBackupUnderLoad(t *testing.T) {
	dir := t.TempDir()
	s := openSQLite(t, filepath.Join(dir, "accounts.db"))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		n := 0
		for ctx.Err() == nil && s.CreateAccount(context.Background(), newAccount(n, "org"), many) == nil {
			n++
		}
		done <- n
	}()
	for range 5 {
		there := len(must[[]account.Account](t)(s.Accounts(t.Context(), "org", account.Page{Limit: many})))
		must[int64](t)(s.Backup(t.Context(), filepath.Join(dir, "backup.db")))
		if counts, faults, err := Verify(t.Context(), filepath.Join(dir, "backup.db"), 5); err != nil || len(faults) > 0 ||
			counts["maps_accounts"] < int64(there) {
			t.Errorf("of %d accounts the backup has %v, %q, %v", there, counts, faults, err)
		}
	}
	stop()
	if n := <-done; n == 0 {
		t.Error("nothing was written meanwhile")
	}
}

// TestPanic: a change that panics fails by itself, and the next ones go on.
func TestPanic(t *testing.T) {
	s := openSQLite(t, filepath.Join(t.TempDir(), "accounts.db"))
	create(t, s, newAccount(1, "org"))
	_, _, err := s.UpdateAccount(t.Context(), "sa_000001", func(*account.Account) (bool, error) { panic("oops") })
	if err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("error %v", err)
	}
	create(t, s, newAccount(2, "org"))
}

// TestFailedChangesLeaveOthersAlone: of changes that share a commit, those that fail take nothing with them.
func TestFailedChangesLeaveOthersAlone(t *testing.T) {
	s := openSQLite(t, filepath.Join(t.TempDir(), "accounts.db"))
	create(t, s, newAccount(0, "org"))
	errs := together(200, func(i int) error {
		a := newAccount(i+1, "org")
		if i%4 == 0 {
			a.ServerHash = hashOf("server", 0)
		}
		return s.CreateAccount(context.Background(), a, many)
	})
	list := must[[]account.Account](t)(s.Accounts(t.Context(), "org", account.Page{Limit: 300}))
	if count(errs, nil) != 150 || count(errs, account.ErrExists) != 50 || len(list) != 151 {
		t.Errorf("%d succeeded, %d failed, %d are there", count(errs, nil), count(errs, account.ErrExists), len(list))
	}
}

// TestOverwritten: a key that was kept in clear is not in the file any more after it was encrypted.
func TestOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := openSQLite(t, path)
	clear := bytes.Repeat([]byte("in clear"), 8)
	encrypted := bytes.Repeat([]byte("encrypted"), 20)
	for _, private := range [][]byte{clear, encrypted} {
		_, err := s.UpdateKeys(t.Context(), func(keys []account.Key) ([]account.Key, error) {
			if len(keys) == 0 {
				keys = append(keys, newKey("first", account.KeyAccess, 1), newKey("second", account.KeyUser, 2))
			}
			keys[0].Private, keys[0].Sealed = private, len(private) == len(encrypted)
			return keys, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content := must[[]byte](t)(os.ReadFile(path))
	if bytes.Contains(content, clear) || !bytes.Contains(content, encrypted) {
		t.Error("the key is still in the file")
	}
}
