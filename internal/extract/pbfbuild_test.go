package extract

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// message builds a protocol buffer message, well formed or not.
type message []byte

func (m message) number(field protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func (m message) bytes(field protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func (m message) list(field protowire.Number, values ...uint64) message {
	var b []byte
	for _, v := range values {
		b = protowire.AppendVarint(b, v)
	}
	return m.bytes(field, b)
}

// deltas is a list of signed numbers, each as the difference to the one before.
func (m message) deltas(field protowire.Number, values ...int64) message {
	var coded []uint64
	before := int64(0)
	for _, v := range values {
		coded = append(coded, protowire.EncodeZigZag(v-before))
		before = v
	}
	return m.list(field, coded...)
}

// pbfBlock is a block of a PBF file, uncompressed or with zlib.
func pbfBlock(kind string, data []byte, compressed bool) []byte {
	var blob message
	if compressed {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(data)
		w.Close()
		blob = blob.number(2, uint64(len(data))).bytes(3, z.Bytes())
	} else {
		blob = blob.bytes(1, data)
	}
	return pbfFrame(kind, blob)
}

func pbfFrame(kind string, blob message) []byte {
	head := message(nil).bytes(1, []byte(kind)).number(3, uint64(len(blob)))
	out := binary.BigEndian.AppendUint32(nil, uint32(len(head)))
	return append(append(out, head...), blob...)
}

// pbfHeader is the first block; timestamp 0 is none.
func pbfHeader(timestamp uint64, features ...string) []byte {
	var m message
	for _, f := range features {
		m = m.bytes(4, []byte(f))
	}
	if timestamp != 0 {
		m = m.number(32, timestamp)
	}
	return pbfBlock("OSMHeader", m, false)
}

func stringTable(strings ...string) message {
	var m message
	for _, s := range strings {
		m = m.bytes(1, []byte(s))
	}
	return m
}

// primitive is a block's content: string table and one group.
func primitive(table, group message) message {
	return message(nil).bytes(1, table).bytes(2, group)
}

// samplePBF is a small extract: a road of three nodes, the first with a name, and a restriction.
func samplePBF(compressed bool) []byte {
	table := stringTable("", "name", "Corner", "amenity", "cafe", "highway", "residential", "type", "restriction", "no_u_turn",
		"from", "via", "to", "Sample Street")
	nodes := message(nil).bytes(2, message(nil).deltas(1, 1, 2, 3).deltas(8, 10000000, 10010000, 10020000).deltas(9, 20000000, 20000000, 20010000).
		list(10, 1, 2, 3, 4, 0, 0, 0))
	way := message(nil).bytes(3, message(nil).number(1, 7).list(2, 5, 1).list(3, 6, 13).deltas(8, 1, 2, 3))
	relation := message(nil).bytes(4, message(nil).number(1, 9).list(2, 7, 8).list(3, 8, 9).list(8, 10, 11, 12).deltas(9, 7, 2, 7).list(10, 1, 0, 1))
	out := pbfHeader(1500000000, "OsmSchema-V0.6", "DenseNodes")
	for _, group := range []message{nodes, way, relation} {
		out = append(out, pbfBlock("OSMData", primitive(table, group), compressed)...)
	}
	return out
}
