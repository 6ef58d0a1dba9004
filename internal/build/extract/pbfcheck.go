package extract

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

var errMalformed = errors.New("malformed data")

// fields calls f for every field of a protocol buffer message: with v for a number, with b for bytes.
func fields(msg []byte, f func(num protowire.Number, v uint64, b []byte) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return errMalformed
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(msg)
			if n >= 0 && b == nil {
				b = msg[:0]
			}
		default: // the format has no fields of other types
			return errMalformed
		}
		if n < 0 {
			return errMalformed
		}
		if err := f(num, v, b); err != nil {
			return err
		}
		msg = msg[n:]
	}
	return nil
}

// blockChecker checks blocks of objects (PrimitiveBlock) for everything that their decoder takes for granted: indexes
// within the string table, and lists of the same length where they belong together.
type blockChecker struct {
	strings uint64
	// weight is how many bytes the decoder makes at most of the objects that were checked.
	weight int64
}

// The limits of one block and of one object. OpenStreetMap has at most 2,000 nodes to a way, 32,000 members to a
// relation, and 255 characters to a text; the programs that write blocks put 8,000 objects into one.
const (
	maxStrings = 1 << 20
	maxText    = 1 << 16 // bytes
	maxRefs    = 1 << 16
	maxMembers = 1 << 17
	maxAllTags = 1 << 14 // of one object
)

// What the decoder makes of things, in bytes.
const (
	weightNode   = 192 // with tags: of others nothing stays
	weightObject = 256
	weightTag    = 32
	weightRef    = 40
	weightMember = 128
)

// Field numbers of the format (osmformat.proto).
const (
	fieldStringTable, fieldGroup                                   = 1, 2
	groupNodes, groupDense, groupWays, groupRelations              = 1, 2, 3, 4
	denseIDs, denseInfo, denseLats, denseLons, denseTags           = 1, 5, 8, 9, 10
	objectKeys, objectValues, objectInfo                           = 2, 3, 4
	wayRefs, wayLats, wayLons                                      = 8, 9, 10
	memberRoles, memberIDs, memberTypes                            = 8, 9, 10
	infoUser                                                       = 5
	infoVersion, infoTimestamp, infoChangeset, infoUID, infoHidden = 1, 2, 3, 4, 6
)

// block returns the kinds of objects in a block.
func (c *blockChecker) block(raw []byte) (kinds blockKinds, err error) {
	tables := 0
	c.strings, c.weight = 0, 0
	err = fields(raw, func(num protowire.Number, _ uint64, b []byte) error {
		if num != fieldStringTable {
			return nil
		}
		if b == nil {
			return errMalformed
		}
		tables++
		return fields(b, func(num protowire.Number, _ uint64, s []byte) error {
			switch {
			case num != 1 || s == nil:
				return errMalformed
			case len(s) > maxText:
				return fmt.Errorf("a text of %d bytes", len(s))
			case c.strings == maxStrings:
				return fmt.Errorf("more than %d texts", maxStrings)
			}
			c.strings++
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	if tables != 1 {
		return 0, errMalformed
	}
	err = fields(raw, func(num protowire.Number, _ uint64, b []byte) error {
		switch num {
		case fieldGroup:
			if b == nil {
				return errMalformed
			}
			k, err := c.group(b)
			kinds |= k
			return err
		case 17, 18, 19, 20: // granularities and offsets: numbers
			if b != nil {
				return errMalformed
			}
		}
		return nil
	})
	return kinds, err
}

func (c *blockChecker) group(group []byte) (kinds blockKinds, err error) {
	err = fields(group, func(num protowire.Number, _ uint64, b []byte) error {
		if num >= groupNodes && num <= groupRelations && b == nil {
			return errMalformed
		}
		switch num {
		case groupNodes:
			return errors.New("nodes that are not dense: rewrite the file with osmium cat")
		case groupDense:
			kinds |= nodeBlock
			return c.dense(b)
		case groupWays:
			kinds |= wayBlock
			return c.way(b)
		case groupRelations:
			kinds |= relationBlock
			return c.relation(b)
		}
		return nil
	})
	return kinds, err
}

// parts are the lists and messages within a message, by field number.
type parts [11][]byte

// read collects the lists and messages of a message, none of which may come twice, and no number in their place.
func (p *parts) read(msg []byte, lists ...protowire.Number) error {
	return fields(msg, func(num protowire.Number, _ uint64, b []byte) error {
		if isList := slices.Contains(lists, num); isList != (b != nil) {
			return errMalformed
		} else if !isList {
			return nil
		}
		if p[num] != nil {
			return errMalformed
		}
		p[num] = b
		return nil
	})
}

func (c *blockChecker) dense(msg []byte) error {
	var f, info parts
	if err := f.read(msg, denseIDs, denseInfo, denseLats, denseLons, denseTags); err != nil {
		return err
	}
	n, err := count(f[denseIDs])
	if err != nil {
		return err
	}
	if err := sameLength(n, f[denseLats], f[denseLons]); err != nil {
		return err
	}
	if tags := f[denseTags]; len(tags) > 0 {
		if err := c.denseTags(tags, n); err != nil {
			return err
		}
	}
	if f[denseInfo] == nil {
		return nil
	}
	all := []protowire.Number{infoVersion, infoTimestamp, infoChangeset, infoUID, infoUser, infoHidden}
	if err := info.read(f[denseInfo], all...); err != nil {
		return err
	}
	for _, num := range all {
		if info[num] != nil {
			if err := sameLength(n, info[num]); err != nil {
				return err
			}
		}
	}
	var user int64
	return each(info[infoUser], func(v uint64) error {
		// Delta coded, in 32 bits as the decoder adds them up.
		user = int64(int32(user) + int32(protowire.DecodeZigZag(v)))
		if user < 0 {
			return errMalformed
		}
		return c.stringIndex(uint64(user))
	})
}

// denseTags checks the tags of n dense nodes: pairs of indexes, with a 0 after those of each node.
func (c *blockChecker) denseTags(list []byte, n int) error {
	ends, pending := 0, false
	tags := 0 // of the node
	err := each(list, func(v uint64) error {
		switch {
		case pending:
			pending = false
			tags++
		case v == 0:
			ends++
			if tags > 0 {
				c.weight += weightNode + weightTag*int64(tags)
			}
			if tags > maxAllTags {
				return fmt.Errorf("a node of %d tags", tags)
			}
			tags = 0
			return nil
		default:
			pending = true
		}
		return c.stringIndex(v)
	})
	if err == nil && (pending || ends != n) {
		err = errMalformed
	}
	return err
}

func (c *blockChecker) way(msg []byte) error {
	var f parts
	if err := f.read(msg, objectKeys, objectValues, objectInfo, wayRefs, wayLats, wayLons); err != nil {
		return err
	}
	n, err := count(f[wayRefs])
	if err != nil {
		return err
	}
	if n > maxRefs {
		return fmt.Errorf("a way of %d nodes, where OpenStreetMap has 2,000 at most", n)
	}
	c.weight += weightRef * int64(n)
	for _, list := range [][]byte{f[wayLats], f[wayLons]} {
		if list != nil {
			if err := sameLength(n, list); err != nil {
				return err
			}
		}
	}
	return c.object(&f)
}

func (c *blockChecker) relation(msg []byte) error {
	var f parts
	if err := f.read(msg, objectKeys, objectValues, objectInfo, memberRoles, memberIDs, memberTypes); err != nil {
		return err
	}
	n, err := count(f[memberTypes])
	if err != nil {
		return err
	}
	if n > maxMembers {
		return fmt.Errorf("a relation of %d members, where OpenStreetMap has 32,000 at most", n)
	}
	c.weight += weightMember * int64(n)
	if err := sameLength(n, f[memberIDs], f[memberRoles]); err != nil {
		return err
	}
	if err := each(f[memberRoles], c.stringIndex); err != nil {
		return err
	}
	return c.object(&f)
}

// object checks what ways and relations have in common: tags and the name of who changed it last.
func (c *blockChecker) object(f *parts) error {
	n, err := count(f[objectKeys])
	if err != nil {
		return err
	}
	if n > maxAllTags {
		return fmt.Errorf("an object of %d tags", n)
	}
	c.weight += weightObject + weightTag*int64(n)
	if err := sameLength(n, f[objectValues]); err != nil {
		return err
	}
	for _, list := range [][]byte{f[objectKeys], f[objectValues]} {
		if err := each(list, c.stringIndex); err != nil {
			return err
		}
	}
	return fields(f[objectInfo], func(num protowire.Number, v uint64, b []byte) error {
		if b != nil {
			return errMalformed
		}
		if num == infoUser {
			return c.stringIndex(v)
		}
		return nil
	})
}

func (c *blockChecker) stringIndex(v uint64) error {
	if v >= c.strings {
		return fmt.Errorf("%w: string %d of %d", errMalformed, v, c.strings)
	}
	return nil
}

// each calls f for the numbers of a packed list.
func each(list []byte, f func(uint64) error) error {
	for len(list) > 0 {
		v, n := protowire.ConsumeVarint(list)
		if n < 0 {
			return errMalformed
		}
		if err := f(v); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// count returns how many numbers a packed list holds.
func count(list []byte) (int, error) {
	n, run := 0, 0
	for _, b := range list {
		run++
		if b < 0x80 {
			n++
			run = 0
		} else if run == 10 {
			return 0, errMalformed
		}
	}
	if run != 0 {
		return 0, errMalformed
	}
	return n, nil
}

func sameLength(n int, lists ...[]byte) error {
	for _, list := range lists {
		if m, err := count(list); err != nil || m != n {
			return errMalformed
		}
	}
	return nil
}
