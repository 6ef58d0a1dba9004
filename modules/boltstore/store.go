// Package boltstore keeps accounts, grants and signing keys in one bbolt file, the embedded default of the maps app.
// Changes of all requests that wait at the same time share one commit, so that the number of exchanges in a second is not
// bound by the number of times a disk can sync.
package boltstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// lockTimeout is how long Open waits for another process to let go of the file.
	lockTimeout = time.Second
	// format is the layout that this version writes and reads. It rises when an older version could no longer read a file.
	format = 1

	fileMode = 0o600
	dirMode  = 0o700
)

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

	allBuckets = [][]byte{
		metaBucket, accountsBucket, clientsBucket, serversBucket, orgBucket, orgStatusBucket, grantsBucket, refreshBucket,
		rotatedBucket, pairsBucket, expiryBucket, signingKeyBucket,
	}

	formatKey = []byte("format")
)

var errClosed = errors.New("the accounts database is closed")

// Store is an account.Store in one file. It holds the file's lock until Close.
type Store struct {
	db    *bbolt.DB
	group *group
	once  sync.Once
}

// Open opens the file, or makes it with its directory. A file that another process holds is an error after one second, as
// is one of a newer format or of another program.
func Open(path string) (*Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return nil, fmt.Errorf("accounts database %s: making its directory: %w", path, err)
	}
	_, statErr := os.Stat(path)
	db, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("accounts database %s: %w", path, err)
	}
	if err := prepare(db, path, errors.Is(statErr, fs.ErrNotExist)); err != nil {
		return nil, errors.Join(fmt.Errorf("accounts database %s: %w", path, err), db.Close())
	}
	return &Store{db: db, group: newGroup(db)}, nil
}

func openFile(path string) (db *bbolt.DB, err error) {
	defer asError(&err) // bbolt panics on some damaged files
	db, err = bbolt.Open(path, fileMode, &bbolt.Options{
		Timeout: lockTimeout,
		// The list of free pages is rebuilt at opening instead of being written with each commit.
		NoFreelistSync: true,
		FreelistType:   bbolt.FreelistMapType,
		NoStatistics:   true,
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, errors.New("another process has it open; stop that process, or give each server a store of its own")
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, errors.New("it is not a database of caddy-maps, or it is damaged; name another path, or restore a backup")
	}
	return db, err
}

// prepare checks the format of the file, and makes the buckets of a new one.
func prepare(db *bbolt.DB, path string, created bool) (err error) {
	defer asError(&err)
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
	found, empty, err := readFormat(db)
	switch {
	case err != nil:
		return err
	case found == format:
		return nil
	case found > format:
		return fmt.Errorf("it has format %d, written by a newer version of caddy-maps than this one, which reads format %d; "+
			"use the newer version, or a backup that this one made", found, format)
	case !empty:
		return errors.New("it is a database of another program; name another path")
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for _, name := range allBuckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put(formatKey, binary.BigEndian.AppendUint64(nil, format))
	})
}

// readFormat returns 0 where the file does not say, and whether it has nothing at all in it.
func readFormat(db *bbolt.DB) (found uint64, empty bool, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		first, _ := tx.Cursor().First()
		empty = first == nil
		if meta := tx.Bucket(metaBucket); meta != nil {
			if v := meta.Get(formatKey); len(v) == 8 {
				found = binary.BigEndian.Uint64(v)
			}
		}
		return nil
	})
	return found, empty, err
}

// Close waits for the changes that were begun, and releases the file. Calls that come later fail.
func (s *Store) Close() error {
	var err error
	s.once.Do(func() {
		s.group.close()
		err = s.db.Close()
	})
	return err
}

// read runs a function on a consistent view of the file.
func (s *Store) read(ctx context.Context, fn func(tx *bbolt.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer asError(&err)
	err = s.db.View(fn)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return errClosed
	}
	return err
}

// write runs a function in the next commit, and returns when that is on the disk.
func (s *Store) write(ctx context.Context, fn func(tx *writeTx) error) error {
	return s.group.do(ctx, fn)
}

// asError turns a panic, with which bbolt answers damaged pages, into an error.
func asError(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the accounts database is damaged, or met an internal fault: %v", p)
	}
}

var _ account.Store = (*Store)(nil)
