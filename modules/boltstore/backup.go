package boltstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Backup implements account.Backuper. The copy is of one moment; changes go on meanwhile. It is written beside the target, synced
// and renamed into place, readable by this user alone.
func (s *Store) Backup(ctx context.Context, path string) (size int64, err error) {
	if same, err := sameFile(path, s.db.Path()); err != nil {
		return 0, err
	} else if same {
		return 0, errors.New("it is the store itself; name another file")
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
	if err := os.Rename(temp.Name(), path); err != nil {
		return 0, err
	}
	return size, syncDir(dir)
}

// sameFile reports whether two paths lead to one file. The first need not exist.
func sameFile(path, other string) (bool, error) {
	a, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if a.IsDir() {
		return false, errors.New("it is a directory; name a file in it")
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b), err
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
