package account

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Record is one thing that a store keeps. Exactly one field is set.
type Record struct {
	Account *Account
	Grant   *GrantRecord
	Key     *Key
	// Organization is one that has, or had, quotas.
	Organization *OrganizationQuotas
	// Usage is of any step but StepMinute, and not all 0. There is one record for each step, start, organization, account
	// and scope: what hours hold that were not folded yet is in those of their day and month, too. The store that takes
	// them keeps them as folded.
	Usage *UsageRecord
}

// GrantRecord is a grant with its refresh tokens of before.
type GrantRecord struct {
	Grant
	// Rotations is how often the refresh token was replaced, and so the number of the present one.
	Rotations uint64
	// Replaced are the earlier tokens that the store remembers, oldest first.
	Replaced []ReplacedToken
}

// ReplacedToken is a refresh token that was replaced. A grant's tokens are numbered from 0.
type ReplacedToken struct {
	Hash   Hash
	Number uint64
}

// Exporter is what can be copied.
type Exporter interface {
	// Export calls a function for everything that is kept, as it is at one moment, and ends with the function's first
	// error.
	Export(ctx context.Context, each func(Record) error) error
}

// Importer is implemented by a Store that can be filled with the contents of another.
type Importer interface {
	// Import calls a function that fills the store, and keeps what it did if it returns nil, and else nothing of it.
	// ErrNotEmpty if the store holds anything already.
	Import(ctx context.Context, fill func(into Filling) error) error
}

// Filling is a store that is being filled. What it exports is what has been put so far, as the store took it.
type Filling interface {
	Exporter
	Put(ctx context.Context, r Record) error
}

// ErrNotEmpty: a store that is to be filled holds records of any kind.
var ErrNotEmpty = errors.New(
	"it is not empty: it holds accounts, grants, signing keys, quotas of organizations or usage")

// Counts is how much a store holds.
type Counts struct {
	Accounts, Grants, Keys int64
	Organizations          int64 // that have, or had, quotas
	Usage                  int64 // records of usage
}

// Total is the number of records.
func (c Counts) Total() int64 { return c.Accounts + c.Grants + c.Keys + c.Organizations + c.Usage }

func (c Counts) String() string {
	return fmt.Sprintf("%d accounts, %d grants, %d signing keys, quotas of %d organizations and %d records of usage",
		c.Accounts, c.Grants, c.Keys, c.Organizations, c.Usage)
}

// Copy copies everything from one store to another that is empty, reads it back, and compares count and content before
// it is kept.
// progress hears how many records have been copied or compared, of how many.
func Copy(ctx context.Context, from Exporter, to Importer,
	progress func(stage string, done, total int64)) (Counts, error) {
	var source, target tally
	if err := from.Export(ctx, source.add); err != nil {
		return Counts{}, fmt.Errorf("reading: %w", err)
	}
	total := source.Total()
	err := to.Import(ctx, func(into Filling) error {
		var copied tally
		err := from.Export(ctx, func(r Record) error {
			if err := into.Put(ctx, r); err != nil {
				return err
			}
			err := copied.add(r)
			progress("copying", copied.Total(), total)
			return err
		})
		if err != nil {
			return fmt.Errorf("copying: %w", err)
		}
		err = into.Export(ctx, func(r Record) error {
			err := target.add(r)
			progress("comparing", target.Total(), total)
			return err
		})
		if err != nil {
			return fmt.Errorf("reading back: %w", err)
		}
		switch {
		case target.Counts != source.Counts:
			return fmt.Errorf("the copy holds %v, the source %v", target.Counts, source.Counts)
		case target.sum != source.sum:
			return errors.New("the copy has another content than the source")
		}
		return nil
	})
	return source.Counts, err
}

// tally counts records, and adds up what is in them, whatever order they come in.
type tally struct {
	Counts
	sum [sha256.Size]byte
}

func (t *tally) add(r Record) error {
	var content []byte
	switch {
	case r.Account != nil:
		t.Accounts++
		content = fmt.Appendf(nil, "account %#v", *r.Account)
	case r.Grant != nil:
		t.Grants++
		content = fmt.Appendf(nil, "grant %#v", *r.Grant)
	case r.Key != nil:
		t.Keys++
		content = fmt.Appendf(nil, "key %#v", *r.Key)
	case r.Organization != nil:
		t.Organizations++
		content = fmt.Appendf(nil, "organization %#v", *r.Organization)
	case r.Usage != nil:
		t.Usage++
		content = fmt.Appendf(nil, "usage %#v", *r.Usage)
	default:
		return errors.New("an empty record")
	}
	// A sum rather than an exclusive or, in which two that are the same would cancel each other out.
	carry := uint(0)
	for i, b := range sha256.Sum256(content) {
		carry += uint(t.sum[i]) + uint(b)
		t.sum[i] = byte(carry)
		carry >>= 8
	}
	return nil
}
