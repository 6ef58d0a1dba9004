package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// ErrNotEmpty means that the target of Copy holds data.
var ErrNotEmpty = errors.New("it is not empty: it holds accounts, grants, signing keys, quotas or usage")

// Counts is the number of rows of each table.
type Counts map[string]int64

// Total is the number of all rows.
func (c Counts) Total() (n int64) {
	for _, rows := range c {
		n += rows
	}
	return n
}

// String describes the counts for operators.
func (c Counts) String() string {
	return fmt.Sprintf(
		"%d accounts, %d grants, %d signing keys, %d publishable keys, quotas of %d organizations and %d rows of usage",
		c["maps_accounts"], c["maps_grants"], c["maps_keys"], c["maps_publishable_keys"],
		c["maps_organizations"], c["maps_usage"])
}

// copyBatch is the number of rows that one statement adds.
const copyBatch = 200

// Copy copies everything from one store to another, which must be empty. It reads the copy back and compares it before
// it commits. It reports the progress in rows.
func Copy(ctx context.Context, from, to *Store, progress func(stage string, done, total int64)) (Counts, error) {
	counts := make(Counts)
	err := from.db.snapshot(ctx, func(source *tx) error {
		for _, table := range tables {
			n, err := first(source, func(n *int64) []any { return []any{number(n)} }, "SELECT count(*) FROM "+table.name)
			if err != nil {
				return err
			}
			counts[table.name] = n
		}
		return to.db.fill(ctx, func(target *tx) error {
			// A server that starts meanwhile waits here, and then uses the copied signing keys.
			if err := target.lock(target.ctx, "keys"); err != nil {
				return err
			}
			return copyTables(source, target, counts, progress)
		})
	})
	return counts, err
}

func copyTables(source, target *tx, counts Counts, progress func(stage string, done, total int64)) error {
	for _, table := range tables {
		n, err := first(target, func(n *int64) []any { return []any{number(n)} }, "SELECT count(*) FROM "+table.name)
		if err != nil {
			return err
		}
		if n > 0 {
			return ErrNotEmpty
		}
	}
	var copied, compared int64
	for _, table := range tables {
		width := strings.Count(table.columns, ",") + 1
		var batch []any
		add := func() error {
			if len(batch) == 0 {
				return nil
			}
			_, err := target.exec(insert(table.name, table.columns, len(batch)/width), batch...)
			batch = batch[:0]
			return err
		}
		selected := "SELECT " + table.columns + " FROM " + table.name + " ORDER BY " + table.key
		want, err := source.dump(selected, width, func(row []any) error {
			batch = append(batch, row...)
			copied++
			progress("copying", copied, counts.Total())
			if len(batch) >= copyBatch*width {
				return add()
			}
			return nil
		})
		if err == nil {
			err = add()
		}
		if err != nil {
			return fmt.Errorf("copying %s: %w", table.name, err)
		}
		got, err := target.dump(selected, width, func([]any) error {
			compared++
			progress("comparing", compared, counts.Total())
			return nil
		})
		switch {
		case err != nil:
			return fmt.Errorf("reading %s back: %w", table.name, err)
		case got != want:
			return fmt.Errorf("the copy of %s has other rows than the source", table.name)
		}
	}
	return nil
}

// dump calls a function for each row of width columns, and returns a checksum of all rows.
func (t *tx) dump(sql string, width int, each func(row []any) error) (sum [sha256.Size]byte, err error) {
	row, fields := make([]any, width), make([]any, width)
	for i := range row {
		fields[i] = &field{read: func(from any) error {
			if b, ok := from.([]byte); ok {
				from = append([]byte{}, b...)
			}
			row[i] = from
			return nil
		}}
	}
	digest := sha256.New()
	err = t.each(fields, func() error {
		_, _ = fmt.Fprintf(digest, "%#v\n", row)
		return each(row)
	}, sql)
	digest.Sum(sum[:0])
	return sum, err
}
