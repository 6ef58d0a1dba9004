package extract

import (
	"errors"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxWeight is how many bytes the decoder may make of a block. It has two dozen of them in hand at a time; usual ones
// weigh a tenth.
const maxWeight = 16 << 20

// split yields a block that has been checked as several, of which each weighs little more than most, if it is not a
// single object. All have the string table of the one. Each is valid until the next.
func (c *blockChecker) split(raw []byte, most int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s := splitter{c: c, most: most, yield: yield}
		// First what is there once: string table, granularity and offsets.
		_ = fields(raw, func(num protowire.Number, v uint64, b []byte) error {
			if num != fieldGroup {
				s.common = appendField(s.common, num, v, b)
			}
			return nil
		})
		err := fields(raw, func(num protowire.Number, _ uint64, group []byte) error {
			if num != fieldGroup {
				return nil
			}
			return fields(group, s.object)
		})
		if err == nil {
			err = s.flush()
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// splitter puts objects together to blocks.
type splitter struct {
	c      *blockChecker
	most   int64
	yield  func([]byte, error) bool
	common []byte
	group  []byte
	weight int64 // of group
	out    []byte
}

var errStopped = errors.New("nobody wants more")

// object takes a field of a group: an object, or many dense nodes.
func (s *splitter) object(num protowire.Number, v uint64, b []byte) error {
	s.c.weight = 0
	var err error
	switch num {
	case groupDense:
		err = s.c.dense(b)
	case groupWays:
		err = s.c.way(b)
	case groupRelations:
		err = s.c.relation(b)
	}
	if err != nil {
		return err
	}
	if num == groupDense && s.c.weight > s.most {
		return s.dense(b, s.c.weight)
	}
	return s.add(s.c.weight, num, v, b)
}

func (s *splitter) add(weight int64, num protowire.Number, v uint64, b []byte) error {
	if s.weight+weight > s.most && len(s.group) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.weight += weight
	s.group = appendField(s.group, num, v, b)
	return nil
}

// flush yields what has been put together.
func (s *splitter) flush() error {
	if len(s.group) == 0 {
		return nil
	}
	s.out = append(s.out[:0], s.common...)
	s.out = appendField(s.out, fieldGroup, 0, s.group)
	s.group, s.weight = s.group[:0], 0
	if !s.yield(s.out, nil) {
		return errStopped
	}
	return nil
}

// dense divides dense nodes. Their numbers are coded as the difference to the one before, so each part begins with a
// sum.
func (s *splitter) dense(msg []byte, weight int64) error {
	var f, info parts
	if err := f.read(msg, denseIDs, denseInfo, denseLats, denseLons, denseTags); err != nil {
		return err
	}
	if f[denseInfo] != nil {
		if err := info.read(f[denseInfo], infoVersion, infoTimestamp, infoChangeset, infoUID, infoUser,
			infoHidden); err != nil {
			return err
		}
	}
	total, err := count(f[denseIDs])
	if err != nil {
		return err
	}
	n := int(max(int64(total)*s.most/weight, 1))
	ids, lats, lons := deltas{rest: f[denseIDs]}, deltas{rest: f[denseLats]}, deltas{rest: f[denseLons]}
	versions, tags := info[infoVersion], f[denseTags]
	for len(ids.rest) > 0 {
		var part []byte
		part = appendField(part, denseIDs, 0, ids.take(n))
		part = appendField(part, denseLats, 0, lats.take(n))
		part = appendField(part, denseLons, 0, lons.take(n))
		var list []byte
		if versions != nil { // of all the rest nothing is asked
			list, versions = cutNumbers(versions, n, func(uint64) bool { return true })
			part = appendField(part, denseInfo, 0, appendField(nil, infoVersion, 0, list))
		}
		if tags != nil {
			list, tags = cutNumbers(tags, n, func(v uint64) bool { return v == 0 }) // a 0 ends those of a node
			part = appendField(part, denseTags, 0, list)
		}
		s.c.weight = 0
		if err := s.c.dense(part); err != nil {
			return err
		}
		if err := s.add(s.c.weight, groupDense, 0, part); err != nil {
			return err
		}
	}
	return nil
}

// deltas is a list of numbers, each coded as the difference to the one before.
type deltas struct {
	rest []byte
	sum  int64
}

// take returns the next numbers, at most n, as a list of its own.
func (d *deltas) take(n int) []byte {
	if len(d.rest) == 0 {
		return []byte{}
	}
	v, size := protowire.ConsumeVarint(d.rest)
	first := d.sum + protowire.DecodeZigZag(v)
	d.sum = first
	list, rest := cutNumbers(d.rest[size:], n-1, func(v uint64) bool {
		d.sum += protowire.DecodeZigZag(v)
		return true
	})
	d.rest = rest
	return append(protowire.AppendVarint(nil, protowire.EncodeZigZag(first)), list...)
}

// cutNumbers cuts a packed list, that has been checked, behind the n-th of the numbers that count.
func cutNumbers(list []byte, n int, counts func(uint64) bool) (head, rest []byte) {
	at := 0
	for n > 0 && at < len(list) {
		v, size := protowire.ConsumeVarint(list[at:])
		at += size
		if counts(v) {
			n--
		}
	}
	return list[:at], list[at:]
}

func appendField(dst []byte, num protowire.Number, v uint64, b []byte) []byte {
	if b == nil {
		return protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.VarintType), v)
	}
	return protowire.AppendBytes(protowire.AppendTag(dst, num, protowire.BytesType), b)
}
