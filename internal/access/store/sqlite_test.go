package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// otherProgram runs statements on a file as another program does.
func otherProgram(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := must(driver.Open("file:" + path + "?_pragma=busy_timeout(5000)"))
	defer db.Close()
	for _, sql := range statements {
		if _, err := db.Exec(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	is(t, "WriteFile", nil, os.WriteFile(path, content, 0o600))
}

// verified checks that Verify finds no fault, and returns what it counts.
func verified(t *testing.T, what, path string) Counts {
	t.Helper()
	counts, faults, err := Verify(t.Context(), path, 5)
	if err != nil || len(faults) > 0 {
		t.Errorf("%s: faults %q, error %v", what, faults, err)
	}
	return counts
}

// foundDamaged checks that Verify finds a fault in a file of this content.
func foundDamaged(t *testing.T, path string, content []byte, offset int) {
	t.Helper()
	write(t, path, content)
	if _, faults, err := Verify(t.Context(), path, 5); err == nil && len(faults) == 0 {
		t.Errorf("no damage was found at %d", offset)
	}
}

// TestFiles: everything beside the store is for the server's user only, and the directory is made, with any name. After
// the end only the complete file and its lock are left.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "Application Support +%?#")
	path := filepath.Join(dir, "accounts.db")
	s := openSQLite(t, path)
	create(t, s, newAccount(1, "org"))
	for _, name := range []string{dir, path, path + "-wal", path + "-shm", path + ".lock"} {
		want := os.FileMode(0o600)
		if name == dir {
			want = 0o700
		}
		same(t, name, want, must(os.Stat(name)).Mode().Perm())
	}
	same(t, "files while open", 4, len(must(os.ReadDir(dir))))
	is(t, "Close", nil, s.Close())
	same(t, "files when closed", 2, len(must(os.ReadDir(dir))))
}

// TestRefusedFiles: a file that is no store is refused with the reason, and left as it is.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bolt := make([]byte, 32<<10)
	copy(bolt[16:], []byte{0xed, 0xda, 0x0c, 0xed, 2, 0, 0, 0})
	for want, make := range map[string]func(path string){
		"bolt file":          func(path string) { write(t, path, bolt) },
		"not an SQLite file": func(path string) { write(t, path, []byte("accounts = none\n")) },
		"another program":    func(path string) { otherProgram(t, path, "CREATE TABLE t (x)") },
		"newer caddy-maps": func(path string) {
			s := must(OpenSQLite(path, zap.NewNop()))
			run(t, s, "UPDATE maps_schema SET version = 99")
			s.Close()
		},
	} {
		path := filepath.Join(dir, want)
		make(path)
		before := must(os.ReadFile(path))
		if _, err := OpenSQLite(path, zap.NewNop()); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q", err, want)
		}
		if after := must(os.ReadFile(path)); want != "newer caddy-maps" && !bytes.Equal(before, after) {
			t.Errorf("%s was changed", path)
		}
	}
}

// TestSecondServer: a second server gets a clear error at once, by any path, and can open the file after the first one.
func TestSecondServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "accounts.db"), filepath.Join(dir, "link.db")
	first := openSQLite(t, path)
	is(t, "Symlink", nil, os.Symlink(path, link))
	for _, path := range []string{path, link} {
		began := time.Now()
		_, err := OpenSQLite(path, zap.NewNop())
		if is(t, path, errInUse, err); time.Since(began) > time.Second {
			t.Errorf("%s: after %v", path, time.Since(began))
		}
	}
	is(t, "Close", nil, first.Close())
	openSQLite(t, link)
}

// TestOtherPrograms: sqlite3 and the like can read, change and checkpoint the live file.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := openSQLite(t, path)
	create(t, s, newAccount(1, "org"))
	otherProgram(t, path, "UPDATE maps_accounts SET description = 'by hand'", "PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM")
	same(t, "description", "by hand", must(s.Account(t.Context(), "sa_000001")).Description)
	create(t, s, newAccount(2, "org"))
	if cli, err := exec.LookPath("sqlite3"); err == nil {
		out, err := exec.Command(cli, path, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA integrity_check").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "ok\n") {
			t.Errorf("sqlite3: %s, %v", out, err)
		}
		create(t, s, newAccount(3, "org"))
	}
	verified(t, "after it", path)
}

// TestMovedFile: while the path leads to no file or to another one, changes are refused, health says so, and nothing that
// was acknowledged is lost. When the file is back, the server goes on.
func TestMovedFile(t *testing.T) {
	for what, move := range map[string]func(path string) error{
		"moved": func(path string) error { return os.Rename(path, path+".away") },
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".away"), os.WriteFile(path, nil, 0o600))
		},
		"moved while idle": func(path string) error { return os.Rename(path, path+".away") },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "accounts.db")
			s := openSQLite(t, path)
			create(t, s, newAccount(1, "org"))
			is(t, what, nil, move(path))
			if strings.Contains(what, "idle") {
				eventually(t, "health", func() bool { return errors.Is(s.Health().Write, ErrMoved) })
			}
			is(t, "a change", ErrMoved, s.CreateAccount(t.Context(), newAccount(2, "org"), many))
			is(t, "health", ErrMoved, s.Health().Write)
			errs := together(100, func(int) error { // enough to use several connections
				_, err := s.Account(context.Background(), "sa_000001")
				return err
			})
			same(t, "reads", 100, count(errs, nil))
			if _, err := s.Backup(t.Context(), path+".backup"); err == nil {
				t.Error("a backup was made")
			}
			is(t, "move back", nil, os.Rename(path+".away", path))
			eventually(t, "health", func() bool { return s.Health().Write == nil })
			create(t, s, newAccount(2, "org"))
		})
	}
}

const pageSize = 4096

// fill adds accounts and grants to a store, and moves everything into its file.
func fill(t *testing.T, s *Store, path string, accounts int) {
	t.Helper()
	errs := together(accounts, func(n int) error {
		_, err := s.AddGrant(context.Background(), newGrant(n, "sa_1", "sa_1"), hashOf("refresh", n), many)
		return errors.Join(err, s.CreateAccount(context.Background(), newAccount(n, "org"), many))
	})
	same(t, "created", accounts, count(errs, nil))
	otherProgram(t, path, "PRAGMA wal_checkpoint(TRUNCATE)")
}

// TestDamagedFile: a store with a damaged page is refused at the start. Verify finds it, and nothing in a whole one.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := must(OpenSQLite(path, zap.NewNop()))
	fill(t, s, path, 300)
	s.Close()
	counts := verified(t, "the whole file", path)
	same(t, "accounts and grants", [2]int64{300, 300}, [2]int64{counts["maps_accounts"], counts["maps_grants"]})
	whole := must(os.ReadFile(path))
	refused := 0
	for offset := pageSize; offset < len(whole); offset += 7 * pageSize {
		damaged := bytes.Clone(whole)
		for i := range pageSize {
			damaged[offset+i] ^= byte(i*31 + 7)
		}
		broken := filepath.Join(t.TempDir(), "broken.db")
		foundDamaged(t, broken, damaged, offset)
		s, err := OpenSQLite(broken, zap.NewNop())
		if err == nil { // the page was free
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
	_, _, err := Verify(t.Context(), path+".none", 5)
	is(t, "a file that is not there", os.ErrNotExist, err)
}

// TestDamageWhileServing: reads of a page that is damaged under a running server end in errors that match ErrDamaged, and
// health reports it.
func TestDamageWhileServing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := openSQLite(t, path)
	fill(t, s, path, 200)
	f := must(os.OpenFile(path, os.O_RDWR, 0))
	defer f.Close()
	for offset := int64(8 * pageSize); offset < must(f.Stat()).Size(); offset += pageSize {
		must(f.WriteAt(bytes.Repeat([]byte{0xff}, pageSize), offset))
	}
	errs := make([]error, 200)
	for n := range errs {
		_, errs[n] = s.Account(t.Context(), newAccount(n, "org").ID)
	}
	if count(errs, account.ErrDamaged) == 0 {
		t.Error("no damage was met")
	}
	is(t, "health", account.ErrDamaged, s.Health().Damage)
}

// TestBackup: a backup is a store of its own, is replaced by the next one, and replaces nothing else. A flipped bit
// anywhere in it is found.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, text, link := filepath.Join(dir, "backup.db"), filepath.Join(dir, "text"), filepath.Join(dir, "link")
	s := openSQLite(t, filepath.Join(dir, "accounts.db"))
	for n := range 2 {
		create(t, s, newAccount(n, "org"))
		if n == 0 {
			must(addKey(s, "sa_000000", 1, many))
		}
		size := must(s.Backup(t.Context(), path))
		if info := must(os.Stat(path)); size != info.Size() || info.Mode().Perm() != 0o600 {
			t.Errorf("backup %d: %d bytes, of %d, mode %v", n, size, info.Size(), info.Mode())
		}
	}
	same(t, "accounts and keys", "2 accounts, 0 grants, 0 signing keys, 1 publishable keys, quotas of 0 organizations and 0 "+
		"rows of usage", verified(t, "the backup", path).String())
	whole := must(os.ReadFile(path))
	for offset := 0; offset < len(whole); offset += 997 { // in values and in free space too
		damaged := bytes.Clone(whole)
		damaged[offset] ^= 1 << (offset % 8)
		foundDamaged(t, path+".broken", damaged, offset)
	}
	restored := openSQLite(t, path)
	same(t, "an account", newAccount(1, "org"), must(restored.Account(t.Context(), "sa_000001")))
	verified(t, "restored and open", path)
	create(t, restored, newAccount(9, "org"))
	verified(t, "restored and changed", path)
	is(t, "Close", nil, restored.Close())
	verified(t, "restored and closed", path)

	write(t, text, []byte("mine"))
	is(t, "Symlink", nil, os.Symlink(filepath.Join(dir, "elsewhere"), link))
	for _, refused := range []string{text, link, dir, filepath.Join(dir, "none", "backup.db")} {
		if _, err := s.Backup(t.Context(), refused); err == nil {
			t.Errorf("a backup to %s was made", refused)
		}
	}
	same(t, "a file that is no backup", "mine", string(must(os.ReadFile(text))))
	same(t, "temporary files", nil, must(filepath.Glob(filepath.Join(dir, ".*"))))
}

// TestFailedChanges: of changes that share a commit, those that fail or panic undo nothing of the others.
func TestFailedChanges(t *testing.T) {
	t.Parallel()
	s := openSQLite(t, filepath.Join(t.TempDir(), "accounts.db"))
	create(t, s, newAccount(0, "org"))
	errs := together(200, func(i int) error {
		a := newAccount(i+1, "org")
		switch i % 8 {
		case 0:
			a.ServerHash = hashOf("server", 0)
		case 4:
			_, _, err := s.UpdateAccount(context.Background(), "sa_000000", func(*account.Account) (bool, error) { panic("oops") })
			return err
		}
		return s.CreateAccount(context.Background(), a, many)
	})
	panicked := slices.DeleteFunc(slices.Clone(errs), func(err error) bool {
		return err == nil || !strings.Contains(err.Error(), "oops")
	})
	list := must(s.Accounts(t.Context(), "org", account.Page{Limit: 300}))
	same(t, "succeeded, failed, panicked, there", [4]int{150, 25, 25, 151},
		[4]int{count(errs, nil), count(errs, account.ErrExists), len(panicked), len(list)})
}

// TestOverwritten: a key that was kept in clear is not in the file any more after it was encrypted.
func TestOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "accounts.db")
	s := openSQLite(t, path)
	clear, encrypted := bytes.Repeat([]byte("in clear"), 8), bytes.Repeat([]byte("encrypted"), 20)
	for _, private := range [][]byte{clear, encrypted} {
		must(s.UpdateKeys(t.Context(), func([]account.Key) ([]account.Key, error) {
			first := newKey("first", account.KeyAccess, 1)
			first.Private, first.Sealed = private, len(private) == len(encrypted)
			return []account.Key{first, newKey("second", account.KeyUser, 2)}, nil
		}))
	}
	is(t, "Close", nil, s.Close())
	if content := must(os.ReadFile(path)); bytes.Contains(content, clear) || !bytes.Contains(content, encrypted) {
		t.Error("the key is still in the file")
	}
}
