package osmfile

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

var errMalformed = errors.New("malformed data")

// message is what is left of a protocol buffer message.
type message []byte

// next takes the next field: v for a number, b, which is not nil then, for a list, a text or another message.
func (m *message) next() (num protowire.Number, v uint64, b []byte, err error) {
	num, typ, n := protowire.ConsumeTag(*m)
	if n < 0 {
		return 0, 0, nil, errMalformed
	}
	rest := (*m)[n:]
	switch typ {
	case protowire.VarintType:
		v, n = protowire.ConsumeVarint(rest)
	case protowire.BytesType:
		if b, n = protowire.ConsumeBytes(rest); n >= 0 && b == nil {
			b = rest[:0]
		}
	default: // the format has no fields of other types
		return 0, 0, nil, errMalformed
	}
	if n < 0 {
		return 0, 0, nil, errMalformed
	}
	*m = rest[n:]
	return num, v, b, nil
}

// maxField is the greatest number of a field that is read of an object.
const maxField = 10

// parts are the fields of an object by their numbers.
type parts struct {
	lists   [maxField + 1]list // nil where there is none
	numbers [maxField + 1]uint64
}

// read collects the fields of a message. Those in lists are lists and messages, of which none may come twice, and all
// others numbers.
func (p *parts) read(msg message, lists fieldSet) error {
	*p = parts{}
	for len(msg) > 0 {
		num, v, b, err := msg.next()
		if err != nil {
			return err
		}
		if lists.has(num) != (b != nil) {
			return errMalformed
		}
		switch {
		case num > maxField:
		case b == nil:
			p.numbers[num] = v
		case p.lists[num] != nil:
			return errMalformed
		default:
			p.lists[num] = b
		}
	}
	return nil
}

// fieldSet is a set of numbers of fields.
type fieldSet uint16

func (s fieldSet) has(num protowire.Number) bool { return num <= maxField && s>>num&1 != 0 }

// list is what is left of a packed list of numbers.
type list []byte

// next takes the next number; false where there is none.
func (l *list) next() (uint64, bool) {
	if b := *l; len(b) > 0 && b[0] < 0x80 {
		*l = b[1:]
		return uint64(b[0]), true
	}
	return l.nextLong()
}

func (l *list) nextLong() (uint64, bool) {
	v, n := protowire.ConsumeVarint(*l)
	if n < 0 {
		return 0, false
	}
	*l = (*l)[n:]
	return v, true
}

// nextSigned takes the next number of a list of signed ones.
func (l *list) nextSigned() (int64, bool) {
	v, ok := l.next()
	return zigZag(v), ok
}

func zigZag(v uint64) int64 { return protowire.DecodeZigZag(v) }

// count is how many numbers a list holds, for lists that are not gone through.
func (l list) count() (n int, err error) {
	if len(l) > 0 && l[len(l)-1] >= 0x80 {
		return 0, errMalformed
	}
	const ends = 0x8080808080808080 // the bits that say whether a number goes on
	for ; len(l) >= 8; l = l[8:] {
		n += bits.OnesCount64(^binary.LittleEndian.Uint64(l) & ends)
	}
	for _, b := range l {
		n += int(^b >> 7)
	}
	return n, nil
}
