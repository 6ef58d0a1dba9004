package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// ErrNotEmpty: a store that is to be filled holds accounts, grants, signing keys, quotas or usage.
var ErrNotEmpty = errors.New("it is not empty: it holds accounts, grants, signing keys, quotas or usage")

// Counts is how many rows each table of a store has.
type Counts map[string]int64

// Total is the number of all rows.
func (c Counts) Total() (n int64) {
	for _, rows := range c {
		n += rows
	}
	return n
}

// String names what operators know.
func (c Counts) String() string {
	return fmt.Sprintf("%d accounts, %d grants, %d signing keys, quotas of %d organizations and %d rows of usage",
		c["maps_accounts"], c["maps_grants"], c["maps_keys"], c["maps_organizations"], c["maps_usage"])
}

// copyBatch is how many rows are added by one statement.
const copyBatch = 200

// Copy copies everything from one store to another that is empty, reads it back, and compares count and content before
// it commits. progress is told how many rows were copied or compared, of how many.
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
			// A server that starts meanwhile waits with its signing keys, and finds those that were copied.
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

// dump calls a function for every row of so many columns, and returns a checksum of all.
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
