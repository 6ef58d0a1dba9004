package osmtest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message builds a protocol buffer message, well formed or not.
type Message []byte

// Number adds a number.
func (m Message) Number(field protowire.Number, v uint64) Message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

// Bytes adds a text, a list, or another message.
func (m Message) Bytes(field protowire.Number, b []byte) Message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

// List adds a list of numbers.
func (m Message) List(field protowire.Number, values ...uint64) Message {
	var b []byte
	for _, v := range values {
		b = protowire.AppendVarint(b, v)
	}
	return m.Bytes(field, b)
}

// Deltas adds a list of signed numbers, each as the difference to the one before.
func (m Message) Deltas(field protowire.Number, values ...int64) Message {
	var coded []uint64
	before := int64(0)
	for _, v := range values {
		coded = append(coded, protowire.EncodeZigZag(v-before))
		before = v
	}
	return m.List(field, coded...)
}

// Block is a block of a PBF file, uncompressed or with zlib.
func Block(kind string, data []byte, compressed bool) []byte {
	var blob Message
	if compressed {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(data)
		w.Close()
		blob = blob.Number(2, uint64(len(data))).Bytes(3, z.Bytes())
	} else {
		blob = blob.Bytes(1, data)
	}
	return Frame(kind, blob)
}

// Frame is a block whose blob is made elsewhere.
func Frame(kind string, blob Message) []byte {
	head := Message(nil).Bytes(1, []byte(kind)).Number(3, uint64(len(blob)))
	out := binary.BigEndian.AppendUint32(nil, uint32(len(head)))
	return append(append(out, head...), blob...)
}

// Header is the first block; timestamp 0 is none.
func Header(timestamp uint64, features ...string) []byte {
	var m Message
	for _, f := range features {
		m = m.Bytes(4, []byte(f))
	}
	if timestamp != 0 {
		m = m.Number(32, timestamp)
	}
	return Block("OSMHeader", m, false)
}

// StringTable is what the tags and roles of a block are indexes into.
func StringTable(strings ...string) Message {
	var m Message
	for _, s := range strings {
		m = m.Bytes(1, []byte(s))
	}
	return m
}

// Primitive is a block's content: string table and one group.
func Primitive(table, group Message) Message {
	return Message(nil).Bytes(1, table).Bytes(2, group)
}

// Nodes is a group of nodes of a block.
type Nodes func(ids, lats, lons []int64, tags [][]uint64) Message

// DenseNodes is what all programs write: one list for each property.
func DenseNodes(ids, lats, lons []int64, tags [][]uint64) Message {
	var all []uint64
	for _, own := range tags {
		all = append(append(all, own...), 0)
	}
	return Message(nil).Bytes(2, Message(nil).Deltas(1, ids...).Deltas(8, lats...).Deltas(9, lons...).List(10, all...))
}

// PlainNodes is a message for each node.
func PlainNodes(ids, lats, lons []int64, tags [][]uint64) (group Message) {
	for i := range ids {
		var keys, values []uint64
		for k := 0; k < len(tags[i]); k += 2 {
			keys, values = append(keys, tags[i][k]), append(values, tags[i][k+1])
		}
		group = group.Bytes(1, Message(nil).Number(1, protowire.EncodeZigZag(ids[i])).List(2, keys...).List(3, values...).
			Number(8, protowire.EncodeZigZag(lats[i])).Number(9, protowire.EncodeZigZag(lons[i])))
	}
	return group
}

// Sample is a small extract: a road of three nodes, the first with a name, and a restriction.
func Sample(compressed bool) []byte {
	return SampleOf(DenseNodes, func(data []byte) []byte { return Block("OSMData", data, compressed) })
}

// SampleOf is Sample with its nodes in a form, and its blocks made by a function.
func SampleOf(nodes Nodes, block func(data []byte) []byte) []byte {
	table := StringTable("", "name", "Corner", "amenity", "cafe", "highway", "residential", "type", "restriction",
		"no_u_turn",
		"from", "via", "to", "Sample Street")
	corners := nodes([]int64{1, 2, 3}, []int64{10000000, 10010000, 10020000}, []int64{20000000, 20000000, 20010000},
		[][]uint64{{1, 2, 3, 4}, nil, nil})
	way := Message(nil).Bytes(3, Message(nil).Number(1, 7).List(2, 5, 1).List(3, 6, 13).Deltas(8, 1, 2, 3))
	relation := Message(nil).Bytes(4, Message(nil).Number(1, 9).List(2, 7, 8).List(3, 8, 9).List(8, 10, 11, 12).
		Deltas(9, 7, 2, 7).List(10, 1, 0, 1))
	out := Header(1500000000, "OsmSchema-V0.6", "DenseNodes")
	for _, group := range []Message{corners, way, relation} {
		out = append(out, block(Primitive(table, group))...)
	}
	return out
}
