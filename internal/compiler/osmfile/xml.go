package osmfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmxml"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// readRoot reads the <osm> element at the start of an XML extract.
func (f *File) readRoot(head []byte) error {
	for dec := xml.NewDecoder(bytes.NewReader(head)); ; {
		token, err := dec.Token()
		if err != nil {
			return errFormat
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if root.Name.Local != "osm" {
			return fmt.Errorf("%w: its root element is <%.40s>", errFormat, root.Name.Local)
		}
		for _, a := range root.Attr {
			if a.Name.Local == "timestamp" || a.Name.Local == "osm_base" {
				// Not all programs write one, so a bad one is ignored.
				if t, err := time.Parse(time.RFC3339, a.Value); err == nil {
					f.Timestamp = t.UTC()
				}
			}
		}
		return nil
	}
}

// xmlReader is an extract in XML that has not been read yet. Reading XML is slow, so the first scan converts it to
// uncompressed PBF blocks in a scratch file, which all scans read.
type xmlReader struct {
	text io.Reader
	dir  *scratch.Dir
}

// converted is the scratch file.
type converted struct {
	*bytes.Reader
	blocks *scratch.Array[byte]
}

func (c converted) Close() error { return c.blocks.Free() }

// convert converts XML to blocks.
func (f *File) convert(ctx context.Context) error {
	s := osmxml.New(ctx, f.xml.text)
	defer s.Close()
	w := &blockWriter{out: scratch.NewArray[byte](f.xml.dir, "xml"), texts: make(map[string]uint64)}
	var newest time.Time
	for s.Scan() {
		written, err := w.add(s.Object())
		if err != nil {
			return err
		}
		if written.After(newest) {
			newest = written.UTC()
		}
	}
	if err := s.Err(); err != nil {
		return xmlError(err)
	}
	if err := errors.Join(w.flush(), f.in.Close()); err != nil {
		return err
	}
	if f.Timestamp.IsZero() {
		f.Timestamp = newest
	}
	blocks := w.out.Slice()
	f.in, f.size, f.bar, f.xml = converted{bytes.NewReader(blocks), w.out}, int64(len(blocks)), nil, nil
	return nil
}

// blockWriter writes blocks of objects.
type blockWriter struct {
	out          *scratch.Array[byte]
	table, group []byte
	texts        map[string]uint64 // indexes into the table
}

var memberKinds = map[osm.Type]byte{osm.TypeNode: byte(region.KindNode), osm.TypeWay: byte(region.KindWay),
	osm.TypeRelation: byte(region.KindRelation)}

// add adds an object, and returns its timestamp.
func (w *blockWriter) add(object osm.Object) (time.Time, error) {
	switch o := object.(type) {
	case *osm.Node:
		if !(math.Abs(o.Lat) <= 90 && math.Abs(o.Lon) <= 180) { // NaN among others
			return o.Timestamp, nil
		}
		own := appendNumber(nil, nodeLat, protowire.EncodeZigZag(int64(math.Round(o.Lat*1e7))))
		own = appendNumber(own, nodeLon, protowire.EncodeZigZag(int64(math.Round(o.Lon*1e7))))
		return o.Timestamp, w.object(groupNode, protowire.EncodeZigZag(int64(o.ID)), o.Version, o.Tags, own)
	case *osm.Way:
		var refs []byte
		last := int64(0)
		for _, n := range o.Nodes {
			refs = binary.AppendVarint(refs, int64(n.ID)-last)
			last = int64(n.ID)
		}
		return o.Timestamp, w.object(groupWay, uint64(o.ID), o.Version, o.Tags, appendBytes(nil, wayRefs, refs))
	case *osm.Relation:
		var roles, ids, types []byte
		last := int64(0)
		for _, m := range o.Members {
			roles = binary.AppendUvarint(roles, w.text(m.Role))
			ids = binary.AppendVarint(ids, m.Ref-last)
			types = append(types, memberKinds[m.Type])
			last = m.Ref
		}
		own := appendBytes(appendBytes(appendBytes(nil, memberRoles, roles), memberIDs, ids), memberTypes, types)
		return o.Timestamp, w.object(groupRelation, uint64(o.ID), o.Version, o.Tags, own)
	}
	return time.Time{}, nil
}

// object adds an object; own are the fields that only its kind has.
func (w *blockWriter) object(kind protowire.Number, id uint64, version int, all osm.Tags, own []byte) error {
	var keys, values []byte
	for _, t := range all {
		keys = binary.AppendUvarint(keys, w.text(t.Key))
		values = binary.AppendUvarint(values, w.text(t.Value))
	}
	own = appendBytes(appendBytes(appendNumber(own, objectID, id), objectKeys, keys), objectValues, values)
	own = appendBytes(own, objectInfo, appendNumber(nil, infoVersion, uint64(version)))
	w.group = appendBytes(w.group, kind, own)
	const blockBytes = 1 << 18
	if len(w.table)+len(w.group) < blockBytes {
		return nil
	}
	return w.flush()
}

// text returns the index of a text.
func (w *blockWriter) text(s string) uint64 {
	i, ok := w.texts[s]
	if !ok {
		i = uint64(len(w.texts))
		w.texts[s] = i
		w.table = appendBytes(w.table, 1, []byte(s))
	}
	return i
}

// flush writes a block.
func (w *blockWriter) flush() error {
	blob := appendBytes(nil, blobRaw, appendBytes(appendBytes(nil, blockStrings, w.table), blockGroup, w.group))
	head := appendNumber(appendBytes(nil, headerType, []byte("OSMData")), headerSize, uint64(len(blob)))
	w.table, w.group = w.table[:0], w.group[:0]
	clear(w.texts)
	size := binary.BigEndian.AppendUint32(nil, uint32(len(head)))
	return cmp.Or(w.out.Append(size...), w.out.Append(head...), w.out.Append(blob...))
}

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// xmlError distinguishes truncated files from malformed ones.
func xmlError(err error) error {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		if syntax.Msg == "unexpected EOF" {
			return truncated(io.ErrUnexpectedEOF)
		}
		return fmt.Errorf("XML, line %d: %s", syntax.Line, syntax.Msg)
	}
	return truncated(err)
}
