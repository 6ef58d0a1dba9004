package bolt

import (
	"encoding/binary"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func encodeUsage(u account.Usage) []byte {
	b := append(make([]byte, 0, 24), recordVersion)
	for _, n := range [...]int64{u.Requests, u.Refused, u.Errors, u.Units} {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func decodeUsage(record []byte) (account.Usage, error) {
	r := reader{rest: record}
	r.version()
	u := account.Usage{Requests: r.signed(), Refused: r.signed(), Errors: r.signed(), Units: r.signed()}
	return u, r.end()
}

func checkUsage(record []byte) error {
	_, err := decodeUsage(record)
	return err
}

// nodeRecord is the last flush of a node.
type nodeRecord struct {
	number uint64
	at     time.Time
}

func encodeNode(n nodeRecord) []byte {
	return appendInstant(binary.AppendUvarint([]byte{recordVersion}, n.number), n.at)
}

func decodeNode(record []byte) (nodeRecord, error) {
	r := reader{rest: record}
	r.version()
	n := nodeRecord{number: r.number(), at: r.instant()}
	return n, r.end()
}
