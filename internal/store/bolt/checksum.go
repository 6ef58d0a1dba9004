package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Each value of each bucket but meta ends with a checksum of the bucket's name, the key and the value, so that an
// entry under a damaged key is found, too. That something is missing cannot be told so; therefore meta holds, for
// each bucket, the number of its records and the sum of their checksums, with the number of the transaction that
// wrote them: where the disk has lost the page at the top of the tree, what was there before may lead to an earlier
// state that is whole.

const sumLen = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(bucket, key, payload []byte) uint32 {
	sum := crc32.Update(0, castagnoli, bucket)
	var length [4]byte
	binary.BigEndian.PutUint32(length[:], uint32(len(key)))
	sum = crc32.Update(sum, castagnoli, length[:])
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, payload)
}

// seal appends the checksum, which it returns too, to a copy of the payload.
func seal(bucket, key, payload []byte) (value []byte, sum uint32) {
	value, sum = make([]byte, 0, len(payload)+sumLen), checksum(bucket, key, payload)
	return binary.BigEndian.AppendUint32(append(value, payload...), sum), sum
}

// unseal returns the payload, which is never nil, if the checksum is right.
func unseal(bucket, key, value []byte) (payload []byte, sum uint32, err error) {
	n := len(value) - sumLen
	if n >= 0 {
		sum = binary.BigEndian.Uint32(value[n:])
	}
	if n < 0 || checksum(bucket, key, value[:n]) != sum {
		return nil, 0, damaged("a record of %s is not what was written", bucket)
	}
	return value[:n:n], sum, nil
}

// damage is an error of something that is damaged.
type damage struct{ error }

func (d damage) Is(target error) bool { return target == account.ErrDamaged }
func (d damage) Unwrap() error        { return d.error }

// damaged makes an error that matches account.ErrDamaged. It names no key, since keys hold hashes of tokens.
func damaged(format string, args ...any) damage { return damage{fmt.Errorf(format, args...)} }

// expected makes a fault of it that something is not there to which something else points.
func expected(err error, format string, args ...any) error {
	if errors.Is(err, account.ErrNotFound) {
		return damaged(format+" is missing", args...)
	}
	return err
}

// tally is how many records there are, and the sum of their checksums.
type tally struct{ count, sum uint64 }

func (t *tally) add(sum uint32)    { t.count, t.sum = t.count+1, t.sum+uint64(sum) }
func (t *tally) remove(sum uint32) { t.count, t.sum = t.count-1, t.sum-uint64(sum) }

// tallies are those of all buckets but meta, in the order of allBuckets.
type tallies [numTallied]tally

// numTallied is a constant, so that what meta holds cannot change its form unnoticed.
const numTallied = 17

// uncountedTallied is how many there were before usage was kept.
const uncountedTallied = 11

func (t *tallies) of(bucket []byte) *tally {
	for i, name := range allBuckets[1:] {
		if string(name) == string(bucket) {
			return &t[i]
		}
	}
	return nil
}

// encode seals the tallies as those of a transaction.
func (t *tallies) encode(txid int) []byte {
	b := make([]byte, 0, len(t)*16+8)
	for _, one := range t {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, one.count), one.sum)
	}
	value, _ := seal(metaBucket, talliesKey, binary.BigEndian.AppendUint64(b, uint64(txid)))
	return value
}

// decodeTallies returns the transaction that wrote them, too; 0 in a file that does not tell.
func decodeTallies(value []byte) (t tallies, txid int, err error) {
	b, _, err := unseal(metaBucket, talliesKey, value)
	if err != nil {
		return t, 0, err
	}
	known := len(b) / 16
	switch {
	case known != len(t) && known != uncountedTallied:
		return t, 0, damaged("the numbers of its records cannot be read")
	case len(b)%16 == 8:
		txid = int(binary.BigEndian.Uint64(b[known*16:]))
	case len(b)%16 != 0:
		return t, 0, damaged("the numbers of its records cannot be read")
	}
	for i := range known {
		t[i] = tally{binary.BigEndian.Uint64(b[i*16:]), binary.BigEndian.Uint64(b[i*16+8:])}
	}
	return t, txid, nil
}
