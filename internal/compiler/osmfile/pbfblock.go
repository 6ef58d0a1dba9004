package osmfile

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of the format (osmformat.proto), apart from those of objects.
const (
	fieldStringTable, fieldGroup                     = 1, 2
	fieldGranularity, fieldDateGranularity           = 17, 18
	fieldLatOffset, fieldLonOffset                   = 19, 20
	groupNodes, groupDense, groupWays, groupRelation = 1, 2, 3, 4
)

// The limits of a block. The programs that write blocks put 8,000 objects into one, whose texts have 255 characters.
const (
	maxStrings = 1 << 20
	maxText    = 1 << 16 // bytes
)

// blockDecoder hands over the objects of blocks (PrimitiveBlock) one at a time. What is looked at is checked before:
// indexes lie within the string table, and lists that belong together have the same length.
type blockDecoder struct {
	want  Kinds
	visit func(o *Object) error

	found                Kinds // of the block
	strings              []string
	keys                 []uint16 // one more than the number of each as a key, 0 where nobody has asked yet
	granularity          int64
	latOffset, lonOffset int64
	object               Object
}

// decode goes through a block. Its objects of the kinds that are not wanted are told in d.found alone.
func (d *blockDecoder) decode(raw message) error {
	d.found, d.granularity, d.latOffset, d.lonOffset = 0, 100, 0, 0
	var table []byte
	for rest := raw; len(rest) > 0; {
		num, v, b, err := rest.next()
		if err != nil {
			return err
		}
		isList := num == fieldStringTable || num == fieldGroup
		isNumber := num >= fieldGranularity && num <= fieldLonOffset
		if isList && b == nil || isNumber && b != nil || num == fieldStringTable && table != nil {
			return errMalformed
		}
		switch num {
		case fieldStringTable:
			table = b
		case fieldGranularity:
			d.granularity = int64(int32(v))
		case fieldLatOffset:
			d.latOffset = int64(v)
		case fieldLonOffset:
			d.lonOffset = int64(v)
		}
	}
	if table == nil {
		return errMalformed
	}
	if err := d.stringTable(table); err != nil {
		return err
	}
	for rest := raw; len(rest) > 0; {
		num, _, b, err := rest.next()
		if err == nil && num == fieldGroup {
			err = d.group(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keptStrings is how many texts a string table may have for its memory to be kept for the next one.
const keptStrings = 1 << 16

// stringTable reads the texts of a block. They are one string, of which the texts of objects are parts.
func (d *blockDecoder) stringTable(table message) error {
	if d.strings = d.strings[:0]; cap(d.strings) > keptStrings {
		d.strings = nil
	}
	all := string(table)
	for len(table) > 0 {
		num, _, b, err := table.next()
		switch {
		case err != nil:
			return err
		case num != 1 || b == nil:
			return errMalformed
		case len(b) > maxText:
			return fmt.Errorf("a text of %d bytes", len(b))
		case len(d.strings) == maxStrings:
			return fmt.Errorf("more than %d texts", maxStrings)
		}
		end := len(all) - len(table)
		d.strings = append(d.strings, all[end-len(b):end])
	}
	d.keys = slices.Grow(d.keys[:0], len(d.strings))[:len(d.strings)]
	clear(d.keys)
	return nil
}

func (d *blockDecoder) checkString(i uint64) error {
	if i >= uint64(len(d.strings)) {
		return fmt.Errorf("%w: string %d of %d", errMalformed, i, len(d.strings))
	}
	return nil
}

func (d *blockDecoder) group(group message) error {
	for len(group) > 0 {
		num, _, b, err := group.next()
		if err != nil {
			return err
		}
		if num < groupNodes || num > groupRelation {
			continue
		}
		if b == nil {
			return errMalformed
		}
		kind := [...]Kinds{groupNodes: Nodes, groupDense: Nodes, groupWays: Ways, groupRelation: Relations}[num]
		d.found |= kind
		if d.want&kind == 0 && !(kind == Ways && d.want&Located != 0) {
			continue
		}
		if err := d.objects(num, b); err != nil {
			return err
		}
	}
	return nil
}

// objects hands over an object, or many dense nodes.
func (d *blockDecoder) objects(num protowire.Number, msg []byte) error {
	switch num {
	case groupNodes:
		return d.node(msg)
	case groupDense:
		return d.dense(msg)
	case groupWays:
		return d.way(msg)
	default:
		return d.relation(msg)
	}
}

// locate sets where the object is, which is given in units of the block; false where that is nowhere on Earth.
func (d *blockDecoder) locate(lat, lon int64) bool {
	lat7, lon7 := nanoToFixed(d.latOffset+d.granularity*lat), nanoToFixed(d.lonOffset+d.granularity*lon)
	if lat7 < -maxLat7 || lat7 > maxLat7 || lon7 < -maxLon7 || lon7 > maxLon7 {
		return false
	}
	d.object.Lat, d.object.Lon = int32(lat7), int32(lon7)
	return true
}

// nanoToFixed rounds 1e-9 degrees to 1e-7.
func nanoToFixed(nano int64) int64 {
	if rest := nano % 100; rest >= 50 {
		return nano/100 + 1
	} else if rest <= -50 {
		return nano/100 - 1
	}
	return nano / 100
}
