package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// field reads a column into a variable, and writes the variable to a column, so that one list of fields is enough to
// insert, update and select rows.
type field struct {
	read  func(from any) error
	write func() driver.Value
}

// Scan implements sql.Scanner.
func (f *field) Scan(from any) error { return f.read(from) }

// Value implements driver.Valuer.
func (f *field) Value() (driver.Value, error) { return f.write(), nil }

// column makes a field of a column with type D.
func column[D driver.Value](write func() D, read func(D) error) *field {
	return &field{
		write: func() driver.Value { return write() },
		read: func(from any) error {
			value, ok := from.(D)
			if !ok {
				return fmt.Errorf("%w: a column holds %T, not %T", account.ErrDamaged, from, value)
			}
			return read(value)
		},
	}
}

func text[T ~string](v *T) *field {
	return column(func() string { return string(*v) }, func(s string) error {
		*v = T(s)
		return nil
	})
}

func number[T ~int64 | ~uint64 | ~int](v *T) *field {
	return column(func() int64 { return int64(*v) }, func(n int64) error {
		*v = T(n)
		return nil
	})
}

func flag(v *bool) *field {
	return column(func() int64 {
		if *v {
			return 1
		}
		return 0
	}, func(n int64) error {
		*v = n != 0
		return nil
	})
}

// instant is a time in microseconds since 1970.
func instant(v *time.Time) *field {
	return column(func() int64 { return v.UnixMicro() }, func(n int64) error {
		*v = time.UnixMicro(n).UTC()
		return nil
	})
}

func hash(v *account.Hash) *field {
	return column(func() []byte { return v[:] }, func(b []byte) error {
		if len(b) != len(v) {
			return fmt.Errorf("%w: a hash has %d bytes", account.ErrDamaged, len(b))
		}
		copy(v[:], b)
		return nil
	})
}

func blob(v *[]byte) *field {
	return column(func() []byte { return *v }, func(b []byte) error {
		*v = append([]byte(nil), b...)
		return nil
	})
}

// scopes are separated by spaces, in the order of the list.
func scopes(v *account.Scopes) *field {
	return column(v.String, func(s string) error {
		*v = nil
		for word := range strings.FieldsSeq(s) {
			*v = append(*v, account.Scope(word))
		}
		return nil
	})
}

func scopeSet(v *account.ScopeSet) *field {
	return column(func() string { return v.String() }, func(s string) error {
		*v = account.ParseScopeSet(s)
		return nil
	})
}

// object is stored as JSON.
func object[T any](v *T) *field {
	return column(func() string {
		encoded, err := json.Marshal(*v)
		if err != nil {
			panic(err) // lists and structs of strings and numbers
		}
		return string(encoded)
	}, func(s string) error {
		var decoded T
		if err := json.Unmarshal([]byte(s), &decoded); err != nil {
			return fmt.Errorf("%w: %w", account.ErrDamaged, err)
		}
		*v = decoded
		return nil
	})
}

// The columns of tables, in the order of their fields.
const (
	accountColumns = "id, organization, platform, is_admin, description, scopes, status, created_by, client_hint, " +
		"server_hint, created_at, updated_at, client_hash, server_hash, generation, held_suspended, held_scopes, " +
		"dropped_scopes, quotas, restrictions"
	publishableKeyColumns = "id, organization, account, key_text, description, scopes, origins, created_by, created_at"
	grantColumns          = "id, organization, client_account, server_account, client_generation, " +
		"server_generation, scopes, created_at, expires_at"
	keyColumns          = "id, key_use, algorithm, private, sealed, created_at"
	refreshTokenColumns = "hash, grant_id, number, used_at"
	usageKeyColumns     = "organization, step, start, account, scope"
	usageColumns        = usageKeyColumns + ", requests, refused, errors, units"
	markKeyColumns      = "organization, account, scope, unit, quota_window, quota, start, level"
	markColumns         = markKeyColumns + ", ends"
)

func accountFields(a *account.Account) []any {
	return []any{text(&a.ID), text(&a.OrganizationID), text(&a.Platform), flag(&a.IsAdmin), text(&a.Description),
		scopes(&a.Scopes), text(&a.Status), text(&a.CreatedBy), text(&a.ClientHint), text(&a.ServerHint),
		instant(&a.CreatedAt), instant(&a.UpdatedAt), hash(&a.ClientHash), hash(&a.ServerHash), number(&a.Generation),
		flag(&a.Holds.Suspended), scopes(&a.Holds.Scopes), scopes(&a.Holds.Dropped), object(&a.Quotas),
		object(&a.Restrictions)}
}

func publishableKeyFields(k *account.PublishableKey) []any {
	return []any{text(&k.ID), text(&k.Organization), text(&k.Account), text(&k.Key), text(&k.Description),
		scopes(&k.Scopes), object(&k.Origins), text(&k.CreatedBy), instant(&k.CreatedAt)}
}

func grantFields(g *account.Grant) []any {
	return []any{text(&g.ID), text(&g.Organization), text(&g.ClientAccount), text(&g.ServerAccount),
		number(&g.ClientGeneration), number(&g.ServerGeneration), scopeSet(&g.Scopes), instant(&g.CreatedAt),
		instant(&g.ExpiresAt)}
}

func keyFields(k *account.Key) []any {
	return []any{text(&k.ID), text(&k.Use), text(&k.Algorithm), blob(&k.Private), flag(&k.Sealed),
		instant(&k.CreatedAt)}
}

// insert returns a statement that adds rows.
func insert(table, columns string, rows int) string {
	n := strings.Count(columns, ",") + 1
	return "INSERT INTO " + table + " (" + columns + ") VALUES " + tuples(rows, n)
}

// tuples returns the parameters of rows with n columns: ($1, $2), ($3, $4).
func tuples(rows, n int) string {
	var b strings.Builder
	for i := range rows * n {
		switch {
		case i > 0 && i%n == 0:
			b.WriteString("), (")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i+1)
	}
	return "(" + b.String() + ")"
}
