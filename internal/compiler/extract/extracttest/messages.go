package extracttest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// What extracts that were made to hurt consist of.

// mostRaw is nearly as much as a block may hold.
const mostRaw = 30 << 20

// pbf is a file of blocks.
func pbf(blocks ...[]byte) []byte {
	return slices.Concat(append([][]byte{Header(0, "OsmSchema-V0.6", "DenseNodes")}, blocks...)...)
}

// block is a block of one group, and of texts behind the empty one.
func block(group Message, texts ...string) []byte {
	return Block("OSMData", Primitive(StringTable(append([]string{""}, texts...)...), group), true)
}

// same is a list of n equal numbers.
func same(n int, v int64) []byte {
	return bytes.Repeat(protowire.AppendVarint(nil, protowire.EncodeZigZag(v)), n)
}

// dense is n nodes, the first at some place, each as far from the one before. tags are indexes of keys and values in
// turn.
func dense(n int, firstID, firstLat, firstLon, lat, lon int64, tags ...uint64) Message {
	from := func(first, step int64) []byte { return append(same(1, first), same(n-1, step)...) }
	m := Message(nil).Bytes(1, from(firstID, 1)).Bytes(8, from(firstLat, lat)).Bytes(9, from(firstLon, lon))
	if len(tags) > 0 {
		var each []byte
		for _, v := range append(tags, 0) {
			each = protowire.AppendVarint(each, v)
		}
		m = m.Bytes(10, bytes.Repeat(each, n))
	}
	return Message(nil).Bytes(2, m)
}

// placed is nodes at some places, with the ids from first on.
func placed(first int64, lats, lons []int64) Message {
	ids := append(same(1, first), same(len(lats)-1, 1)...)
	return Message(nil).Bytes(2, Message(nil).Bytes(1, ids).Deltas(8, lats...).Deltas(9, lons...))
}

func tagged(m Message, tags []uint64) Message {
	var keys, values []uint64
	for i := 0; i < len(tags); i += 2 {
		keys, values = append(keys, tags[i]), append(values, tags[i+1])
	}
	return m.List(2, keys...).List(3, values...)
}

func way(id int, refs []int64, tags ...uint64) Message {
	return Message(nil).Bytes(3, tagged(Message(nil).Number(1, uint64(id)), tags).Deltas(8, refs...))
}

// counted are n references from an id on.
func counted(first, n int) []int64 {
	refs := make([]int64, n)
	for i := range refs {
		refs[i] = int64(first + i)
	}
	return refs
}

// The kinds of members.
const (
	memberNode = iota
	memberWay
	memberRelation
)

// relMember is a member of a relation; its role is an index.
type relMember struct {
	kind, role uint64
	id         int64
}

func relation(id int, tags []uint64, members ...relMember) Message {
	m := tagged(Message(nil).Number(1, uint64(id)), tags)
	var roles, kinds []uint64
	var ids []int64
	for _, x := range members {
		roles, kinds, ids = append(roles, x.role), append(kinds, x.kind), append(ids, x.id)
	}
	return Message(nil).Bytes(4, m.List(8, roles...).Deltas(9, ids...).List(10, kinds...))
}

// repeat puts what each call makes one behind the other.
func repeat(n int, each func(i int) Message) (all Message) {
	for i := range n {
		all = append(all, each(i)...)
	}
	return all
}

// area is a relation whose area is a park, with ways as its members, in a block of its own.
func areaOf(n int, way func(i int) int64) []byte {
	members := make([]relMember, n)
	for i := range members {
		members[i] = relMember{kind: memberWay, id: way(i)}
	}
	return block(relation(1, []uint64{1, 2, 3, 4, 5, 6}, members...), areaTexts...)
}

var areaTexts = []string{"type", "multipolygon", "name", "A", "leisure", "park"}

// star is n two-node ways that meet at node 1.
func star(n int, tags ...uint64) Message {
	return repeat(n, func(i int) Message { return way(i+1, []int64{1, int64(i + 2)}, tags...) })
}

// xml is an extract in XML that repeats something.
func xml(n int, head, repeated, tail string) []byte {
	return []byte("<osm>" + head + strings.Repeat(repeated, n) + tail + "</osm>")
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func decoded(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// The beginning of an extract, and 45 million spaces, in bzip2.
var (
	bzip2Head   = decoded("QlpoOTFBWSZTWUEmx44AAAAJgAAFAAKIACAAIYNBmglMcXckU4UJBBJseOA=")
	bzip2Spaces = decoded("QlpoOTFBWSZTWUYu4qMBWKsQIMAAEAAACCAAMMwFKaZSSFJsVJIUni7kinChIIxdxUY=")
)
