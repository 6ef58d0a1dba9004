// Package pbfwrite writes OpenStreetMap extracts as PBF files (https://wiki.openstreetmap.org/wiki/PBF_Format), as far
// as evaluations need it: dense nodes, ways, relations with members, and versions. It does not read them. Start with
// New.
package pbfwrite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/klauspost/compress/zlib"
	"github.com/paulmach/osm"
	"google.golang.org/protobuf/encoding/protowire"
)

// perBlock is how many objects share a block, as in the extracts that are to be had.
const perBlock = 8000

// Writer writes one file. Objects come in the order of the format: nodes, ways, relations, each by id.
type Writer struct {
	out     io.Writer
	kind    osm.Type
	n       int
	strings map[string]uint64
	table   []byte // of strings
	group   []byte // messages of ways or relations
	dense   dense
	packed  bytes.Buffer
	zip     *zlib.Writer
	err     error
}

// dense are the columns of a block's nodes.
type dense struct {
	ids, versions, lats, lons, tags []byte
	id, lat, lon                    int64 // of the node before
	tagged                          bool
}

// New begins a file.
func New(out io.Writer, timestamp time.Time) *Writer {
	w := &Writer{out: out, strings: map[string]uint64{}}
	w.zip = zlib.NewWriter(&w.packed)
	var header []byte
	for _, feature := range []string{"OsmSchema-V0.6", "DenseNodes"} {
		header = appendBytes(header, 4, []byte(feature))
	}
	if !timestamp.IsZero() {
		header = appendNumber(header, 32, uint64(timestamp.Unix()))
	}
	w.block("OSMHeader", header)
	w.reset()
	return w
}

func (w *Writer) reset() {
	clear(w.strings)
	w.n, w.table, w.group = 0, appendBytes(w.table[:0], 1, nil), w.group[:0]
	d := &w.dense
	*d = dense{ids: d.ids[:0], versions: d.versions[:0], lats: d.lats[:0], lons: d.lons[:0], tags: d.tags[:0]}
}

// text returns the number of a text in the block's table.
func (w *Writer) text(s string) uint64 {
	n, ok := w.strings[s]
	if !ok {
		n = uint64(len(w.strings) + 1)
		w.strings[s] = n
		w.table = appendBytes(w.table, 1, []byte(s))
	}
	return n
}

// next makes room for an object of a kind.
func (w *Writer) next(kind osm.Type) {
	if w.n == perBlock || w.n > 0 && w.kind != kind {
		w.flush()
	}
	w.kind = kind
	w.n++
}

// Write adds an object: an *osm.Node, *osm.Way or *osm.Relation.
func (w *Writer) Write(o osm.Object) error {
	switch o := o.(type) {
	case *osm.Node:
		w.node(o)
	case *osm.Way:
		w.way(o)
	case *osm.Relation:
		w.relation(o)
	default:
		return fmt.Errorf("%T is no object of a map", o)
	}
	return w.err
}

func (w *Writer) node(n *osm.Node) {
	w.next(osm.TypeNode)
	d := &w.dense
	lat, lon := int64(math.Round(n.Lat*1e7)), int64(math.Round(n.Lon*1e7))
	d.ids = appendDelta(d.ids, int64(n.ID), d.id)
	d.lats = appendDelta(d.lats, lat, d.lat)
	d.lons = appendDelta(d.lons, lon, d.lon)
	d.versions = protowire.AppendVarint(d.versions, uint64(n.Version))
	d.id, d.lat, d.lon = int64(n.ID), lat, lon
	for _, t := range n.Tags {
		d.tags = protowire.AppendVarint(protowire.AppendVarint(d.tags, w.text(t.Key)), w.text(t.Value))
		d.tagged = true
	}
	d.tags = append(d.tags, 0)
}

// head begins the message of a way or a relation.
func (w *Writer) head(id int64, version int, tags osm.Tags) []byte {
	m := appendNumber(nil, 1, uint64(id))
	var keys, values []byte
	for _, t := range tags {
		keys = protowire.AppendVarint(keys, w.text(t.Key))
		values = protowire.AppendVarint(values, w.text(t.Value))
	}
	if len(tags) > 0 {
		m = appendBytes(appendBytes(m, 2, keys), 3, values)
	}
	return appendBytes(m, 4, appendNumber(nil, 1, uint64(version)))
}

func (w *Writer) way(o *osm.Way) {
	w.next(osm.TypeWay)
	m := w.head(int64(o.ID), o.Version, o.Tags)
	var refs []byte
	before := int64(0)
	for _, n := range o.Nodes {
		refs = appendDelta(refs, int64(n.ID), before)
		before = int64(n.ID)
	}
	w.group = appendBytes(w.group, 3, appendBytes(m, 8, refs))
}

var memberTypes = map[osm.Type]uint64{osm.TypeNode: 0, osm.TypeWay: 1, osm.TypeRelation: 2}

func (w *Writer) relation(o *osm.Relation) {
	w.next(osm.TypeRelation)
	m := w.head(int64(o.ID), o.Version, o.Tags)
	var roles, ids, types []byte
	before := int64(0)
	for _, member := range o.Members {
		roles = protowire.AppendVarint(roles, w.text(member.Role))
		ids = appendDelta(ids, member.Ref, before)
		types = protowire.AppendVarint(types, memberTypes[member.Type])
		before = member.Ref
	}
	w.group = appendBytes(w.group, 4, appendBytes(appendBytes(appendBytes(m, 8, roles), 9, ids), 10, types))
}

// flush writes the block.
func (w *Writer) flush() {
	if w.kind == osm.TypeNode {
		d := &w.dense
		m := appendBytes(appendBytes(nil, 1, d.ids), 5, appendBytes(nil, 1, d.versions))
		m = appendBytes(appendBytes(m, 8, d.lats), 9, d.lons)
		if d.tagged {
			m = appendBytes(m, 10, d.tags)
		}
		w.group = appendBytes(nil, 2, m)
	}
	w.block("OSMData", appendBytes(appendBytes(nil, 1, w.table), 2, w.group))
	w.reset()
}

// block writes a block, compressed.
func (w *Writer) block(kind string, content []byte) {
	if w.err != nil {
		return
	}
	w.packed.Reset()
	w.zip.Reset(&w.packed)
	if _, w.err = w.zip.Write(content); w.err != nil {
		return
	}
	if w.err = w.zip.Close(); w.err != nil {
		return
	}
	blob := appendBytes(appendNumber(nil, 2, uint64(len(content))), 3, w.packed.Bytes())
	head := appendNumber(appendBytes(nil, 1, []byte(kind)), 3, uint64(len(blob)))
	for _, part := range [][]byte{binary.BigEndian.AppendUint32(nil, uint32(len(head))), head, blob} {
		if _, w.err = w.out.Write(part); w.err != nil {
			return
		}
	}
}

// Close writes the last block.
func (w *Writer) Close() error {
	if w.n > 0 {
		w.flush()
	}
	return w.err
}

func appendBytes(m []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), b)
}

func appendNumber(m []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), v)
}

func appendDelta(b []byte, v, before int64) []byte {
	return protowire.AppendVarint(b, protowire.EncodeZigZag(v-before))
}
