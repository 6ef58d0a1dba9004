// Package bolt keeps accounts, grants, signing keys and usage in one bbolt file, the embedded default of the maps
// app. Changes of all requests that wait at the same time share one commit, so that the number of exchanges in a
// second is not bound by the number of times a disk can sync.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/store"
)

const (
	// lockTimeout is how long Open waits for another process to let go of the file.
	lockTimeout = time.Second
	// format is the layout that this version writes and reads. It rises when an older version could no longer read a file.
	format = 4
	// unsealed is the format in which values had no checksums, and undated the one in which the numbers of records did not
	// tell the transaction that wrote them.
	unsealed = 1
	undated  = 2
	// uncounted is the format in which there was no usage, and organizations had no quotas.
	uncounted = 3

	fileMode = 0o600
	dirMode  = 0o700
)

// Formats returns the oldest and the newest format of files that this program reads. It writes the newest.
func Formats() (oldest, newest int) { return unsealed, format }

// Buckets of the file. Keys are made in keys.go, values in records.go.
var (
	metaBucket       = []byte("meta")
	accountsBucket   = []byte("accounts")      // account id → account
	clientsBucket    = []byte("client_tokens") // token hash → account id
	serversBucket    = []byte("server_tokens") // token hash → account id
	orgBucket        = []byte("by_organization")
	orgStatusBucket  = []byte("by_organization_and_status")
	grantsBucket     = []byte("grants")         // grant id → grant
	refreshBucket    = []byte("refresh_tokens") // hash of a refresh token, present or rotated → grant id
	rotatedBucket    = []byte("rotated_tokens") // grant id, number of the rotation → hash
	pairsBucket      = []byte("grants_by_pair")
	expiryBucket     = []byte("grants_by_expiry")
	signingKeyBucket = []byte("signing_keys") // key id → key
	quotasBucket     = []byte("organization_quotas")
	recentBucket     = []byte("usage_recent")  // hours of which nothing was folded yet
	minutesBucket    = []byte("usage_minutes") // of those who have quotas for minutes
	keptBucket       = []byte("usage_kept")    // hours, days and months
	nodesBucket      = []byte("usage_nodes")   // node → its last flush
	marksBucket      = []byte("quota_marks")

	allBuckets = [][]byte{
		metaBucket, accountsBucket, clientsBucket, serversBucket, orgBucket, orgStatusBucket, grantsBucket, refreshBucket,
		rotatedBucket, pairsBucket, expiryBucket, signingKeyBucket,
		quotasBucket, recentBucket, minutesBucket, keptBucket, nodesBucket, marksBucket,
	}

	formatKey  = []byte("format")
	talliesKey = []byte("tallies")
)

var (
	errClosed = errors.New("the accounts database is closed")
	errInUse  = errors.New("another process has it open; stop that process, or give each server a store of its own")
)

// bucketsOf are the buckets of a format. Later ones have more.
func bucketsOf(format uint64) [][]byte {
	if format <= uncounted {
		return allBuckets[:1+uncountedTallied]
	}
	return allBuckets
}

// Store is a store.Store in one file. It holds the file's lock until Close.
type Store struct {
	db     *bbolt.DB
	file   *handle
	group  *group
	damage *damageLog
	stop   chan struct{}
	tasks  sync.WaitGroup
	once   sync.Once
	fold   folding
}

// Open opens the file, or makes it with its directory. A file that another process holds is an error after one
// second, as is one that is damaged, of a newer format or of another program, which is left as it is. The logger hears
// of upgrades, and of damage that is found later; nil logs nothing.
func Open(path string, logger *zap.Logger) (*Store, error) {
	if logger == nil {
		logger = zap.NewNop()
	}
	db, err := openFile(path, logger)
	if err != nil {
		return nil, fmt.Errorf("accounts database %s: %w", path, err)
	}
	s := &Store{db: db, damage: &damageLog{path: path, logger: logger}, stop: make(chan struct{})}
	if s.file, err = newHandle(db); err != nil {
		return nil, errors.Join(fmt.Errorf("accounts database %s: %w", path, err), db.Close())
	}
	if err := s.learn(); err != nil {
		return nil, errors.Join(fmt.Errorf("accounts database %s: %w", path, whatToDo(err)), s.file.close())
	}
	s.group = newGroup(s.file, s.damage)
	s.tasks.Go(func() { s.watch(checkEvery) })
	return s, nil
}

// learn makes the checksums of all pages, of a file that was just found to be whole.
func (s *Store) learn() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer asError(&err)
	return s.db.View(func(tx *bbolt.Tx) error { return s.file.sums.learn(mapped(tx), tx.ID()) })
}

func openFile(path string, logger *zap.Logger) (*bbolt.DB, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("making its directory: %w", err)
	}
	info, err := os.Stat(path)
	created := errors.Is(err, fs.ErrNotExist)
	switch {
	case created:
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a directory; name a file")
	case info.Size() > 0:
		if err := inspect(path); err != nil {
			return nil, err
		}
	}
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{
		Timeout:        lockTimeout,
		NoFreelistSync: true, // opening alone writes nothing: the disk may be full
		FreelistType:   bbolt.FreelistMapType,
		NoStatistics:   true,
	})
	if err != nil {
		return nil, openError(err)
	}
	// Each commit lists the free pages: where one fails, bbolt would otherwise look for them in the whole file, in a
	// goroutine of its own, in which a damaged page ends the process.
	db.NoFreelistSync = false
	if err := prepare(db, path, created, logger); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openError says what to do about the faults of a file that an operator can meet.
func openError(err error) error {
	if errors.Is(err, bolterrors.ErrTimeout) {
		return errInUse
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return err // no permission, say
	}
	return errForeign
}

// prepare makes the buckets of a new file, and keeps others from reading it.
func prepare(db *bbolt.DB, path string, created bool, logger *zap.Logger) error {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&^fileMode != 0 {
		if err := os.Chmod(path, fileMode); err != nil {
			return fmt.Errorf("it holds signing keys, and others may read it: %w", err)
		}
	}
	if created {
		if err := syncDir(filepath.Dir(path)); err != nil {
			return err
		}
	}
	err := db.Update(func(tx *bbolt.Tx) error {
		probed := tx.Bucket(probeBucket) != nil
		if _, err := tx.CreateBucketIfNotExists(probeBucket); err != nil {
			return err
		}
		if tx.Bucket(metaBucket) != nil {
			if found, _ := formatOf(tx); found == format && probed {
				return errNothing
			}
			return upgrade(tx, path, logger)
		}
		for _, name := range allBuckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return writeMeta(tx, &tallies{})
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// Close waits for the changes that were begun, and releases the file. Calls that come later fail.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		close(s.stop)
		s.tasks.Wait()
		s.group.close()
		err = s.file.close()
	})
	return err
}

// read runs a function on a consistent view of the file.
func (s *Store) read(ctx context.Context, fn func(tx *bbolt.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() { s.damage.see(err) }()
	defer asError(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a mapped file may be cut short
	tx, err := s.file.begin(false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, s.file.end(tx)) }()
	return fn(tx)
}

// view is read for what is kept in buckets.
func (s *Store) view(ctx context.Context, fn func(v *view) error) error {
	return s.read(ctx, func(tx *bbolt.Tx) error { return fn(newView(tx, s.file.sums)) })
}

// write runs a function in the next commit, and returns when that is on the disk.
func (s *Store) write(ctx context.Context, fn func(tx *writeTx) error) error {
	return s.group.do(ctx, fn)
}

// asError turns a panic, with which bbolt answers damaged pages, into an error.
func asError(err *error) {
	if p := recover(); p != nil {
		*err = damaged("a part of it cannot be read, or an internal fault was met: %v", p)
	}
}

var _ store.Store = (*Store)(nil)
