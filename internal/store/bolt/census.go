package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// census goes through all records of a file, and compares them with what was written down about them and with
// each other.
type census struct {
	sealed  bool
	dated   bool
	txid    int     // the transaction that the file's head says is its last
	found   tallies // what is there
	derived tallies // which entries of the indexes belong to the accounts and grants that are there
	// written is what meta says, and writtenBy the transaction that did.
	written   tallies
	writtenBy int
	// pair is the pair of accounts whose grants come next, with the number that there should be.
	pair struct {
		key  []byte
		left uint64
	}
}

// indexes are the buckets that are derived from others.
var indexes = [][]byte{clientsBucket, serversBucket, orgBucket, orgStatusBucket, refreshBucket, pairsBucket,
	expiryBucket}

func (c *census) derive(bucket, key, payload []byte) {
	c.derived.of(bucket).add(checksum(bucket, key, payload))
}

// record looks at one record.
func (c *census) record(bucket, key, value []byte) error {
	if string(bucket) == string(metaBucket) {
		return c.meta(key, value)
	}
	count := c.found.of(bucket)
	if count == nil {
		return nil // of another program, or of a later version
	}
	payload := value
	sum := uint32(0)
	if c.sealed {
		var err error
		if payload, sum, err = unseal(bucket, key, value); err != nil {
			return err
		}
	} else {
		sum = checksum(bucket, key, payload)
	}
	count.add(sum)
	if err := c.content(bucket, key, payload); err != nil {
		return fmt.Errorf("%s: %w", bucket, err)
	}
	return nil
}

func (c *census) meta(key, value []byte) (err error) {
	if string(key) == string(talliesKey) {
		c.written, c.writtenBy, err = decodeTallies(value)
	}
	return err
}

func (c *census) content(bucket, key, payload []byte) error {
	switch string(bucket) {
	case string(accountsBucket):
		a, err := decodeAccount(payload)
		if err != nil {
			return err
		}
		if a.ID != string(key) {
			return errRecord
		}
		c.derive(clientsBucket, a.ClientHash[:], key)
		c.derive(serversBucket, a.ServerHash[:], key)
		c.derive(orgBucket, append(orgPrefix(a.OrganizationID), key...), nil)
		c.derive(orgStatusBucket, append(orgStatusPrefix(a.OrganizationID, a.Status), key...), nil)
	case string(grantsBucket):
		g, err := decodeGrant(payload)
		if err != nil {
			return err
		}
		if g.ID != string(key) {
			return errRecord
		}
		c.derive(refreshBucket, g.RefreshHash[:], key)
		c.derive(pairsBucket, pairGrantKey(&g.Grant), nil)
		c.derive(expiryBucket, expiryKey(&g.Grant), nil)
	case string(rotatedBucket):
		length, n := binary.Uvarint(key)
		if n <= 0 || length+uint64(n)+8 != uint64(len(key)) || len(payload) != len(account.Hash{}) {
			return errRecord
		}
		c.derive(refreshBucket, payload, key[n:n+int(length)])
	case string(pairsBucket):
		return c.ofPair(key, payload)
	case string(signingKeyBucket):
		k, err := decodeKey(payload)
		if err == nil && k.ID != string(key) {
			err = errRecord
		}
		return err
	case string(quotasBucket):
		q, err := decodeOrganization(payload)
		if err == nil && string(orgPrefix(q.Organization)) != string(key) {
			err = errRecord
		}
		return err
	case string(recentBucket), string(minutesBucket):
		return cmp.Or(checkUsage(payload), checkPlace(key, false))
	case string(keptBucket):
		return cmp.Or(checkUsage(payload), checkPlace(key, true))
	case string(nodesBucket):
		_, err := decodeNode(payload)
		return err
	}
	return nil
}

// ofPair takes the grants of a pair of accounts, which follow their number.
func (c *census) ofPair(key, payload []byte) error {
	if len(payload) == 0 {
		if c.pair.left == 0 || !bytes.HasPrefix(key, c.pair.key) {
			return damaged("a pair of accounts has more grants than were counted")
		}
		c.pair.left--
		return nil
	}
	err := c.endPair()
	if len(payload) != 8 {
		return errRecord
	}
	c.pair.key, c.pair.left = bytes.Clone(key), binary.BigEndian.Uint64(payload)
	c.derive(pairsBucket, key, payload)
	return err
}

func (c *census) endPair() error {
	left := c.pair.left
	c.pair.key, c.pair.left = nil, 0
	if left > 0 {
		return damaged("a pair of accounts has fewer grants than were counted")
	}
	return nil
}

// end returns what is wrong with the whole. Once something was found to be damaged, the rest of it would be told
// a second time.
func (c *census) end() (faults []error) {
	if err := c.endPair(); err != nil {
		faults = append(faults, err)
	}
	for i, name := range allBuckets[1:] {
		switch {
		case c.sealed && c.found[i] != c.written[i]:
			faults = append(faults, damaged("%s has %d records and should have %d, or other ones", name, c.found[i].count,
				c.written[i].count))
		case slices.ContainsFunc(indexes, func(one []byte) bool { return string(one) == string(name) }) &&
			c.found[i] != c.derived[i]:
			faults = append(faults, damaged("%s has %d records, which are not those of the accounts and grants", name,
				c.found[i].count))
		}
	}
	if len(faults) == 0 && c.dated && c.writtenBy != c.txid {
		faults = append(faults, damaged("its records are those of an earlier change than its last one"))
	}
	return faults
}

func (c *census) counts() account.Counts {
	return account.Counts{Accounts: int64(c.found.of(accountsBucket).count), Grants: int64(c.found.of(grantsBucket).count),
		Keys:          int64(c.found.of(signingKeyBucket).count),
		Organizations: int64(c.found.of(quotasBucket).count),
		Usage:         int64(c.found.of(recentBucket).count + c.found.of(keptBucket).count)}
}
