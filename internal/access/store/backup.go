package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/files"
)

// ErrNoBackup means that the store is a PostgreSQL database, which has its own tools for backups.
var ErrNoBackup = errors.New("the store is not a file of this server")

// Backup writes a consistent copy of an SQLite store to a file with mode 0600, and returns its size in bytes. Requests
// are served meanwhile. The file appears when it is complete. It replaces an earlier backup, but no other file.
func (s *Store) Backup(ctx context.Context, path string) (size int64, err error) {
	db, ok := s.db.(*sqlite)
	if !ok {
		return 0, ErrNoBackup
	}
	if err := replaceable(path, db.path); err != nil {
		return 0, err
	}
	f, err := files.CreateTemp(path)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			files.Discard(f)
		}
	}()
	if err := db.present(); err != nil {
		return 0, err
	}
	if err := vacuumInto(ctx, db.path, f.Name()); err != nil {
		return 0, err
	}
	sum, _, size, err := checksum(f)
	if err != nil {
		return 0, err
	}
	if _, err := f.WriteAt(binary.BigEndian.AppendUint32(nil, sum), sumOffset); err != nil {
		return 0, err
	}
	return size, files.Rename(f, path, fileMode)
}

// Offsets in the header of an SQLite file: https://www.sqlite.org/fileformat.html#the_database_header
const (
	headerSize = 100
	idOffset   = 68
	// sumOffset is the offset of the "user version". A backup has its checksum there, and a store 0.
	sumOffset = 60
)

// checksum returns the CRC-32 of a file without the checksum itself, never 0, and the checksum that the file contains.
func checksum(f *os.File) (sum, found uint32, size int64, err error) {
	head := make([]byte, headerSize)
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, 0, 0, err
	}
	found = binary.BigEndian.Uint32(head[sumOffset:])
	clear(head[sumOffset : sumOffset+4])
	digest := crc32.NewIEEE()
	digest.Write(head)
	n, err := io.Copy(digest, io.NewSectionReader(f, headerSize, math.MaxInt64-headerSize))
	return max(digest.Sum32(), 1), found, headerSize + n, err
}

// checkBackup compares the bytes of a backup with its checksum.
func checkBackup(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if sum, found, _, err := checksum(f); err != nil || found == 0 || found == sum {
		return err
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return nil // it was restored, and a server is changing it
	}
	return errors.New("its content does not match the checksum of the backup")
}

// vacuumInto uses a separate connection: SQLite counts VACUUM as a change, which the readers do not allow.
func vacuumInto(ctx context.Context, from, to string) error {
	db, err := connect(from, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return sqliteError(err)
}

// replaceable returns an error unless the path is free or has a backup.
func replaceable(path, live string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	}
	if store, err := os.Stat(live); err == nil && os.SameFile(info, store) {
		return errors.New("it is the store itself")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(f, head); err != nil || binary.BigEndian.Uint32(head[idOffset:]) != applicationID {
		return errors.New("there is a file that is not a backup")
	}
	return nil
}

// Verify checks the file of an SQLite store or of a backup, which may be in use: the checksum of a backup, SQLite's
// pages, indexes and references, and whether all rows can be read. It returns the number of rows of each table, and up
// to limit faults.
func Verify(ctx context.Context, path string, limit int) (counts Counts, faults []string, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if info.Size() == 0 {
		return nil, nil, fmt.Errorf("%s is empty", path)
	}
	if err := checkHeader(path); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	db, err := connect(path, 1, "query_only=on")
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	counts = make(Counts)
	t := &tx{ctx: ctx, querier: &pool{DB: db}}
	for _, check := range []func() error{
		func() error { return checkBackup(path) },
		func() error { return checkFile(t, fmt.Sprintf("PRAGMA integrity_check(%d)", limit)) },
		func() error { return checkReferences(t) },
		func() error { return readAll(t, counts, "maps_accounts", accountColumns, accountFields) },
		func() error {
			return readAll(t, counts, "maps_publishable_keys", publishableKeyColumns, publishableKeyFields)
		},
		func() error { return readAll(t, counts, "maps_grants", grantColumns, grantFields) },
		func() error { return readAll(t, counts, "maps_keys", keyColumns, keyFields) },
		func() error {
			return readAll(t, counts, "maps_organizations", "quotas",
				func(q *account.Quotas) []any { return []any{object(q)} })
		},
		func() error {
			return readAll(t, counts, "maps_usage", "requests", func(n *int64) []any { return []any{number(n)} })
		},
	} {
		if err := check(); err != nil && len(faults) < limit {
			faults = append(faults, err.Error())
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	return counts, faults, nil
}

func checkReferences(t *tx) error {
	lost, err := list(t, func(table *string) []any { return []any{text(table)} },
		`SELECT "table" FROM pragma_foreign_key_check`)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("%d rows of %s refer to rows that are missing", len(lost), lost[0])
	}
	return err
}

// readAll decodes every row of a table, and counts them.
func readAll[T any](t *tx, counts Counts, table, columns string, fields func(*T) []any) error {
	var one T
	err := t.each(fields(&one), func() error {
		counts[table]++
		return nil
	}, "SELECT "+columns+" FROM "+table)
	if err != nil {
		return fmt.Errorf("%s, row %d: %w", table, counts[table]+1, err)
	}
	return nil
}
