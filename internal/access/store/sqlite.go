package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// SQLite runs in WAL mode with its own locks, so that sqlite3, Litestream and backups can open the live file. A lock
// file keeps a second server out. All changes use one connection (see writer).

const (
	fileMode = 0o600
	dirMode  = 0o700
	// applicationID identifies SQLite files that are stores: "maps".
	applicationID = 0x6d617073
	// lockTimeout is how long OpenSQLite waits for another process to close the file, as during a restart.
	lockTimeout = 500 * time.Millisecond
	// busyTimeout is how long a statement waits while another program changes the file.
	busyTimeout = 5 * time.Second
	// maxReaders is the number of connections for reading.
	maxReaders = 8
	// checkEvery is the interval at which watch polls the file.
	checkEvery = 500 * time.Millisecond
	// checkTimeout is how long OpenSQLite waits for the check of the whole file, which then continues in the
	// background.
	checkTimeout = 3 * time.Second
	quickCheck   = "PRAGMA quick_check(1)"
)

var errInUse = errors.New("another server has it open; stop that server, or configure another store for this one")

// ErrMoved means that the path of a store no longer leads to the open file. Changes are refused.
var ErrMoved error = &Error{err: errors.New("its file was moved, deleted or replaced while the server runs; put it " +
	"back, or restart the server if the file at its path is the right one")}

// sqlite is the database in a file.
type sqlite struct {
	path    string
	checked bool        // the whole file was checked when it was opened
	file    fs.FileInfo // of the open file, to notice another one at the path
	lock    *flock.Flock
	readers *pool
	writer  *writer
}

// OpenSQLite opens the store in a file, or creates it. The path is absolute.
func OpenSQLite(path string, logger *zap.Logger) (*Store, error) {
	path, err := ResolvePath(path) // so that all links to a file have the same lock
	if err != nil {
		return nil, err
	}
	db, err := openFile(path)
	switch {
	case errors.Is(err, account.ErrDamaged):
		err = fmt.Errorf("it is damaged; restore a backup, or run `caddy maps verify-store` for details: %w", err)
	case errors.Is(err, sqlite3.IOERR), errors.Is(err, sqlite3.FULL), errors.Is(err, sqlite3.CANTOPEN):
		err = fmt.Errorf("it cannot be written; if its disk is full, make room: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return newStore(db, logger), nil
}

// maxLinks is the maximum number of links in a path, as on Linux.
const maxLinks = 40

// ResolvePath follows the links of an absolute path. The file and directories at its end need not exist.
func ResolvePath(path string) (string, error) {
	for range maxLinks {
		resolved, err := filepath.EvalSymlinks(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return resolved, err
		}
		target, err := os.Readlink(path)
		if err != nil { // not a link: resolve its directory
			parent := filepath.Dir(path)
			if parent == path {
				return path, nil
			}
			parent, err := ResolvePath(parent)
			return filepath.Join(parent, filepath.Base(path)), err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", errors.New("too many links")
}

func openFile(path string) (db *sqlite, err error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(fileMode))
	waiting, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if locked, err := lock.TryLockContext(waiting, lockTimeout/10); !locked {
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			err = errInUse
		}
		return nil, err
	}
	undo := []func() error{lock.Unlock}
	defer func() {
		if err == nil {
			return
		}
		for _, step := range slices.Backward(undo) {
			_ = step()
		}
	}()
	// Created here, because SQLite would apply the umask of the process.
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(f.Chmod(fileMode), f.Close()); err != nil {
			return nil, err
		}
	}
	if err := checkHeader(path); err != nil {
		return nil, err
	}
	db = &sqlite{path: path, lock: lock}
	if db.file, err = os.Stat(path); err != nil {
		return nil, err
	}
	// A checkpoint after 16 MiB instead of 4 writes pages that change often fewer times.
	changes, err := connect(path, 1, "journal_mode=wal", "synchronous=full", "journal_size_limit=67108864",
		"wal_autocheckpoint=4000", "secure_delete=fast") // overwrites deleted data, such as a key in clear
	if err != nil {
		return nil, err
	}
	undo = append(undo, changes.Close)
	session, err := newSession(context.Background(), changes)
	if err != nil {
		return nil, err
	}
	if err := session.transaction(context.Background(), "BEGIN IMMEDIATE", prepareFile); err != nil {
		return nil, err
	}
	reading, err := connect(path, maxReaders, "query_only=on")
	if err != nil {
		return nil, err
	}
	undo = append(undo, reading.Close)
	db.readers = &pool{DB: reading}
	if err := db.checkFirst(); err != nil {
		return nil, err
	}
	db.writer = newWriter(session, changes, db.present)
	return db, nil
}

// checkFirst refuses a damaged file.
func (db *sqlite) checkFirst() error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	err := db.read(ctx, func(t *tx) error { return checkFile(t, quickCheck) })
	if ctx.Err() != nil {
		return nil
	}
	db.checked = true
	return err
}

// checkHeader refuses a file that is not an SQLite file.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 100)
	n, err := io.ReadFull(f, head)
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return nil // it is new
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return nil
	case n >= 20 && bytes.Equal(head[16:20], []byte{0xed, 0xda, 0x0c, 0xed}):
		return errors.New("it is a bolt file, which this program does not support; configure another file, and create the " +
			"accounts there")
	}
	return errors.New("it is not an SQLite file; configure another file, or restore a backup")
}

// prepareFile creates or upgrades the tables, and refuses the file of another program. A backup becomes a store.
func prepareFile(t *tx) error {
	type header struct{ id, sum, tables int }
	h, err := first(t, func(h *header) []any { return []any{number(&h.id), number(&h.sum), number(&h.tables)} },
		`SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`)
	switch {
	case err != nil:
		return err
	case h.id != applicationID && h.tables > 0:
		return errors.New("it is an SQLite file of another program; configure another file")
	case h.id != applicationID || h.sum != 0:
		for _, sql := range []string{fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 0"} {
			if _, err := t.exec(sql); err != nil {
				return err
			}
		}
	}
	return migrate(t, func(sql string) string { return sql }, nil)
}

func (db *sqlite) read(ctx context.Context, run func(*tx) error) error {
	return run(&tx{ctx: ctx, querier: db.readers})
}

func (db *sqlite) snapshot(ctx context.Context, run func(*tx) error) error {
	session, err := newSession(ctx, db.readers.DB)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.transaction(ctx, "BEGIN", run)
}

func (db *sqlite) write(ctx context.Context, run func(*tx) error) error {
	return db.writer.do(ctx, run)
}

func (db *sqlite) fill(ctx context.Context, run func(*tx) error) error { return db.writer.do(ctx, run) }

func (db *sqlite) now() time.Time { return time.Now() }

// present returns ErrMoved if the path no longer leads to the open file, because changes would be lost.
func (db *sqlite) present() error {
	if info, err := os.Stat(db.path); err != nil || !os.SameFile(info, db.file) {
		return ErrMoved
	}
	return nil
}

// watch polls the file with a small query. While changes fail, it tries one, so that health recovers without requests.
func (db *sqlite) watch(ctx context.Context, s *Store) {
	var check sync.WaitGroup
	defer check.Wait()
	if !db.checked {
		check.Go(func() {
			err := db.read(ctx, func(t *tx) error { return checkFile(t, quickCheck) })
			if errors.Is(err, account.ErrDamaged) {
				s.health.damaged(s.logger, err)
			}
		})
	}
	for sleep(ctx, checkEvery) {
		err := db.present()
		if err == nil {
			err = db.read(ctx, func(t *tx) error {
				_, err := list(t, func(v *int) []any { return []any{number(v)} }, "SELECT version FROM maps_schema")
				return err
			})
		} else {
			s.health.wrote(s.logger, err)
			err = nil // it responds; only changes are refused
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.health.failed(s.logger, err)
		default:
			s.health.answered(s.logger)
		}
		if s.Health().Write != nil {
			_ = s.write(ctx, func(t *tx) error { // SQLite skips an update that leaves a row as it was
				// After an error SQLite may have ended the transaction. A second statement would then be committed.
				if _, err := t.exec("UPDATE maps_schema SET version = version + 1"); err != nil {
					return err
				}
				_, err := t.exec("UPDATE maps_schema SET version = version - 1")
				return err
			})
		}
	}
}

// sleep reports whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (db *sqlite) close() error {
	db.writer.close()
	_ = db.readers.Close()
	return db.lock.Unlock()
}

// checkFile runs one of SQLite's checks, which return "ok" or the faults.
func checkFile(t *tx, pragma string) error {
	found, err := list(t, func(line *string) []any { return []any{text(line)} }, pragma)
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0] == "ok" {
		return nil
	}
	return &Error{err: errors.New(strings.Join(found, "; ")), damaged: true}
}

// connect opens n connections to the file at once, because the path may later lead to another file.
func connect(path string, n int, pragmas ...string) (*sql.DB, error) {
	// modeof gives files that SQLite creates beside this one the same mode. In its URIs, a space is %20 and not +.
	query := strings.ReplaceAll(url.Values{"modeof": {path}}.Encode(), "+", "%20")
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: query}
	pragmas = append([]string{fmt.Sprintf("busy_timeout=%d", busyTimeout.Milliseconds()), "foreign_keys=on"}, pragmas...)
	pragmas = append(pragmas, "schema_version") // reads the file, which opens the write-ahead log too
	db, err := driver.Open(dsn.String(), func(c *sqlite3.Conn) error {
		return c.Exec("PRAGMA " + strings.Join(pragmas, "; PRAGMA "))
	})
	if err != nil {
		return nil, sqliteError(err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	for range n {
		conn, failed := db.Conn(context.Background())
		if failed != nil {
			return nil, sqliteError(errors.Join(failed, db.Close()))
		}
		defer conn.Close() // returns it to the pool
	}
	return db, nil
}

// maxPrepared is the length of the longest statement that is kept prepared. Longer ones depend on the number of rows.
const maxPrepared = 1 << 10

// sqliteText writes the first parameter as ?1.
func sqliteText(text string) string { return strings.ReplaceAll(text, "$", "?") }

// pool runs single statements that only read, on any connection.
type pool struct {
	*sql.DB
	prepared sync.Map // *sql.Stmt by text
}

func (p *pool) exec(context.Context, string, []any) (int64, error) {
	panic("changes need a transaction")
}

func (p *pool) query(ctx context.Context, text string, args []any) (rows, error) {
	if len(text) > maxPrepared {
		return found(p.QueryContext(ctx, sqliteText(text), args...))
	}
	known, ok := p.prepared.Load(text)
	if !ok {
		made, err := p.PrepareContext(context.WithoutCancel(ctx), sqliteText(text))
		if err != nil {
			return nil, sqliteError(err)
		}
		if known, ok = p.prepared.LoadOrStore(text, made); ok {
			_ = made.Close() //nolint:sqlclosecheck // another call was faster
		}
	}
	return found(known.(*sql.Stmt).QueryContext(ctx, args...))
}

func (p *pool) lock(context.Context, string) error { return nil }

type sqliteRows struct{ *sql.Rows }

func found(r *sql.Rows, err error) (rows, error) { return sqliteRows{r}, sqliteError(err) }

func (r sqliteRows) Err() error { return sqliteError(r.Rows.Err()) }
func (r sqliteRows) Close()     { _ = r.Rows.Close() }

// sqliteError converts an error of the driver. Errors of SQLite contain neither paths nor values.
func sqliteError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone):
		return &Error{err: errClosed}
	case errors.Is(err, sqlite3.CONSTRAINT_PRIMARYKEY), errors.Is(err, sqlite3.CONSTRAINT_UNIQUE):
		return account.ErrExists
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return &Error{err: err, damaged: true}
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return &Error{err: err}
}
