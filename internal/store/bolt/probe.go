package bolt

import (
	"context"
	"crypto/rand"
)

// probeSize is more than a request's change takes. A smaller one would fit into pages that are free in the file, and
// would succeed on a disk on which the changes of requests do not. What one probe wrote is free for them after the
// next.
const probeSize = 64 << 10

// probeBucket has pages of its own, so that no other change has to write them again.
var (
	probeBucket = []byte("probe")
	probeKey    = []byte("probe")
)

// Probe implements account.Store. What it writes is random: nothing for a file system to compress or leave out.
func (s *Store) Probe(ctx context.Context) error {
	value := make([]byte, probeSize)
	rand.Read(value) // never fails
	return s.write(ctx, func(t *writeTx) error {
		if err := t.check(probeBucket, probeKey, false); err != nil {
			return err
		}
		t.wrote = true
		return t.tx.Bucket(probeBucket).Put(probeKey, value)
	})
}
