package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"go.etcd.io/bbolt"
	"go.uber.org/zap"
)

// writeMeta writes down the format and how many records there are.
func writeMeta(tx *bbolt.Tx, t *tallies) error {
	meta := tx.Bucket(metaBucket)
	return cmp.Or(meta.Put(formatKey, binary.BigEndian.AppendUint64(nil, format)), meta.Put(talliesKey,
		t.encode(tx.ID())))
}

func formatOf(tx *bbolt.Tx) (uint64, bool) {
	value := tx.Bucket(metaBucket).Get(formatKey)
	if len(value) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(value), true
}

// upgrade brings a file of a format of before into the present one. It is one transaction, so that a process that is
// killed meanwhile leaves the file as it was.
func upgrade(tx *bbolt.Tx, path string, logger *zap.Logger) error {
	found, _ := formatOf(tx)
	var t tallies
	var err error
	for _, name := range allBuckets[len(bucketsOf(found)):] {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	if found == unsealed {
		err = sealAll(tx, &t)
	} else {
		t, _, err = decodeTallies(tx.Bucket(metaBucket).Get(talliesKey))
	}
	if err != nil {
		return err
	}
	if found != format {
		logger.Info("the accounts database gets its present form; versions of caddy-maps before this one cannot read it"+
			" any more", zap.String("path", path), zap.Uint64("accounts", t.of(accountsBucket).count), zap.Uint64("grants",
			t.of(grantsBucket).count))
	}
	return writeMeta(tx, &t)
}

// sealAll gives every value its checksum.
func sealAll(tx *bbolt.Tx, t *tallies) error {
	for i, name := range allBuckets[1:] {
		bucket := tx.Bucket(name)
		key, payload := bucket.Cursor().First()
		for key != nil {
			key = bytes.Clone(key)
			value, sum := seal(name, key, payload)
			t[i].add(sum)
			if err := bucket.Put(key, value); err != nil {
				return err
			}
			key, payload = bucket.Cursor().Seek(append(key, 0))
		}
	}
	return nil
}
