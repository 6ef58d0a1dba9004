package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/regularfile"
	"github.com/mapsedge/caddy-maps/internal/store/boltfile"
)

// Backup implements account.Backuper. The copy is of one moment; changes go on meanwhile. It is written beside the
// target, synced and renamed into place, readable by this user alone. What is at the target already has to be a
// store or a copy of one.
func (s *Store) Backup(ctx context.Context, path string) (size int64, err error) {
	there, err := s.replaceable(path)
	if err != nil {
		return 0, err
	}
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*.tmp") // mode 0600
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		size, err = tx.WriteTo(untilDone{ctx, temp})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("copying the accounts database: %w", err)
	}
	if err := temp.Sync(); err != nil {
		return 0, err
	}
	if err := temp.Close(); err != nil {
		return 0, err
	}
	// bbolt copies pages as they are. A copy that could not be restored shall not take the place of one that can.
	if err := inspect(temp.Name()); err != nil {
		return 0, fmt.Errorf("the store's copy is of no use, and what was there is kept: %w", err)
	}
	if err := putInPlace(temp.Name(), path, there); err != nil {
		return 0, err
	}
	return size, syncDir(dir)
}

// replaceable returns what is at a path, nil for nothing, unless a copy may not take its place: it could be
// anything, and whoever may ask for copies shall not be able to destroy files, or to write through links.
func (s *Store) replaceable(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a directory; name a file in it")
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link; name the file itself")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file; name another")
	}
	if own, err := os.Stat(s.db.Path()); err != nil {
		return nil, err
	} else if os.SameFile(info, own) {
		return nil, errors.New("it is the store itself; name another file")
	}
	if err := recognize(path, info); err != nil {
		return nil, err
	}
	return info, nil
}

var errNoBackup = errors.New("there is a file that is no backup, and it is not replaced; name another, or remove it")

// recognize makes sure that a file is a store or a copy of one, of whatever format.
func recognize(path string, want fs.FileInfo) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil { // bbolt, over a damaged page
			err = errNoBackup
		}
	}()
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{
		ReadOnly: true, Timeout: lockTimeout, NoStatistics: true, OpenFile: openExisting(want),
	})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return errors.New("it is a store that another process has open; name another file")
	case errors.Is(err, errReplaced):
		return errReplaced
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("whether it is a backup cannot be seen, and it is not replaced: %w", fs.ErrPermission)
	case err != nil:
		return errNoBackup
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if !hasOrder(path, want) { // or bbolt might never find its way
		return errNoBackup
	}
	return db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil || len(meta.Get(formatKey)) != 8 ||
			tx.Bucket(accountsBucket) == nil || tx.Bucket(signingKeyBucket) == nil {
			return errNoBackup
		}
		return nil
	})
}

// hasOrder reports whether the pages of a file are in order.
func hasOrder(path string, want fs.FileInfo) bool {
	f, err := openExisting(want)(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	pages, err := boltfile.Open(f, want.Size())
	if err != nil {
		return false
	}
	whole, err := inOrder(pages, new(Report), 1)
	return whole && err == nil
}

var errReplaced = errors.New("the file was replaced meanwhile; try again")

// openExisting opens the file that was looked at, and no other that has taken its place.
func openExisting(want fs.FileInfo) func(string, int, fs.FileMode) (*os.File, error) {
	return func(path string, _ int, _ fs.FileMode) (*os.File, error) {
		file, info, err := regularfile.Open(path)
		if err != nil {
			return nil, err
		}
		if !os.SameFile(info, want) {
			return nil, errors.Join(errReplaced, file.Close())
		}
		return file, nil
	}
}

// putInPlace renames a file to a path where nothing is, or else what was found there. What came meanwhile is left
// alone.
func putInPlace(temp, path string, there fs.FileInfo) error {
	if there == nil {
		err := renameNew(temp, path)
		if errors.Is(err, fs.ErrExist) {
			return errReplaced
		}
		return err
	}
	if info, err := os.Lstat(path); err != nil || !os.SameFile(info, there) {
		return errors.Join(errReplaced, err)
	}
	return os.Rename(temp, path)
}

// linkNew is a rename that replaces nothing, in two steps.
func linkNew(temp, path string) error {
	if err := os.Link(temp, path); err != nil {
		return err
	}
	return os.Remove(temp)
}

// untilDone writes until a context ends.
type untilDone struct {
	ctx context.Context
	io.Writer
}

func (w untilDone) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// Interface guard
var _ account.Backuper = (*Store)(nil)
