package bolt

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Keys of the indexes are parts in a row. Every part of changing length but the last begins with its length, so that no
// choice of names makes one organization's keys look like another's.

func appendPart(key []byte, part string) []byte {
	return append(binary.AppendUvarint(key, uint64(len(part))), part...)
}

// orgPrefix begins the keys of one organization's accounts; the id follows, which sorts by time.
func orgPrefix(organization string) []byte { return appendPart(nil, organization) }

func orgStatusPrefix(organization string, status account.Status) []byte {
	return appendPart(orgPrefix(organization), string(status))
}

// pairKey begins the keys of the grants of a pair of accounts. Under the key itself stands how many they are.
func pairKey(client, server string) []byte { return appendPart(appendPart(nil, client), server) }

func pairGrantKey(g *account.Grant) []byte {
	return append(appendTime(pairKey(g.ClientAccount, g.ServerAccount), g.CreatedAt), g.ID...)
}

func expiryKey(g *account.Grant) []byte { return append(appendTime(nil, g.ExpiresAt), g.ID...) }

func rotatedPrefix(grant string) []byte { return appendPart(nil, grant) }

func rotatedKey(grant string, number uint64) []byte {
	return binary.BigEndian.AppendUint64(rotatedPrefix(grant), number)
}

// timeLen is the length of a time in a key.
const timeLen = 12

// appendTime appends a time so that keys sort by it, also before 1970.
func appendTime(key []byte, t time.Time) []byte {
	key = binary.BigEndian.AppendUint64(key, uint64(t.Unix())^1<<63)
	return binary.BigEndian.AppendUint32(key, uint32(t.Nanosecond()))
}

// after returns the first key that sorts after all with the prefix. Prefixes begin with a length, so they are never all
// 0xFF.
func after(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return end
}
