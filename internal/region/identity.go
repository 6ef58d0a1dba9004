package region

import (
	"context"
	"crypto/sha256"
)

// VerifyWhole checks every block like Verify, and that all of them belong to the file's checksum: a file mixed of two
// does not pass. The error is a *DamageError, or that of ctx.
func (f *File) VerifyWhole(ctx context.Context) error {
	if err := f.verifyIdentity(); err != nil {
		return err
	}
	return f.Verify(ctx)
}

// verifyIdentity compares the file's checksum with the checksums of the blocks and the section table.
func (f *File) verifyIdentity() (err error) {
	defer Recover(&err, FaultsPanic())
	end := f.header.table + uint64(f.header.entries)*entrySize
	f.stamp.fetch(f.header.crcs, end)
	if sha256.Sum256(f.mapped[f.header.crcs:end]) != f.header.identity {
		return &DamageError{Path: f.path, Problem: "its checksum is that of another file"}
	}
	return nil
}
