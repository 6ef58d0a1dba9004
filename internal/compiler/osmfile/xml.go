package osmfile

import (
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

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// xmlFile is an extract in XML, perhaps compressed. Reading it takes long, so the first scan keeps its objects in a
// scratch file, from which all scans take them.
type xmlFile struct {
	f       io.Closer
	size    int64 // of the file, in bytes
	text    io.Reader
	time    time.Time
	read    bool
	objects *scratch.Records // by kind, in the order of the file
	row     []byte
}

func newXML(f io.Closer, size int64, text io.Reader, root *xml.StartElement, dir *scratch.Dir) *xmlFile {
	x := &xmlFile{f: f, size: size, text: text, objects: scratch.NewRecords(dir, "xml")}
	for _, a := range root.Attr {
		if a.Name.Local == "timestamp" || a.Name.Local == "osm_base" {
			// Not all programs write one, so a bad one is as good as none.
			if t, err := time.Parse(time.RFC3339, a.Value); err == nil {
				x.time = t.UTC()
			}
		}
	}
	return x
}

func (x *xmlFile) Timestamp() time.Time { return x.time }

// Remaining is nothing after the first scan, in which all is read.
func (x *xmlFile) Remaining(Kinds) int64 {
	if x.read {
		return 0
	}
	return x.size
}

func (x *xmlFile) Close() error { return errors.Join(x.f.Close(), x.objects.Free()) }

func (x *xmlFile) Scan(ctx context.Context, wanted Kinds, fresh func() Batch, each func(Batch) error) error {
	if !x.read {
		if err := x.load(ctx); err != nil {
			return err
		}
	}
	b := fresh()
	var o Object
	for i := range x.objects.Len() {
		kind := mapdata.Kind(x.objects.Key(i))
		if wanted>>kind&1 == 0 {
			continue
		}
		r := x.objects.Read(i)
		o.reset(kind)
		if o.decode(&r); !b.Add(&o) {
			continue
		}
		if err := each(b); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return each(b)
}

// load reads the file.
func (x *xmlFile) load(ctx context.Context) error {
	limit := &limiter{r: x.text, left: maxElement}
	s := osmxml.New(ctx, limit)
	defer s.Close()
	var newest time.Time
	for s.Scan() {
		limit.left = maxElement
		var err error
		switch o := s.Object().(type) {
		case *osm.Node:
			newest = later(newest, o.Timestamp)
			err = x.keepNode(o)
		case *osm.Way:
			newest = later(newest, o.Timestamp)
			err = x.keepWay(o)
		case *osm.Relation:
			newest = later(newest, o.Timestamp)
			err = x.keepRelation(o)
		}
		if err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return xmlError(err)
	}
	if x.time.IsZero() {
		x.time = newest
	}
	x.read = true
	return x.objects.Sort(ctx)
}

// begin begins the record of an object. Object.decode reads what the keep functions write.
func (x *xmlFile) begin(id int64, version int, all osm.Tags) {
	row := binary.AppendVarint(x.row[:0], id)
	row = binary.AppendVarint(row, int64(int32(version)))
	row = binary.AppendUvarint(row, uint64(len(all)))
	for _, t := range all {
		row = scratch.AppendText(scratch.AppendText(row, t.Key), t.Value)
	}
	x.row = row
}

func (x *xmlFile) end(kind mapdata.Kind) error { return x.objects.Add(uint64(kind), x.row) }

func (x *xmlFile) keepNode(n *osm.Node) error {
	if !(n.Lat >= -90 && n.Lat <= 90 && n.Lon >= -180 && n.Lon <= 180) {
		return nil
	}
	x.begin(int64(n.ID), n.Version, n.Tags)
	x.row = binary.AppendVarint(x.row, int64(math.Round(n.Lat*1e7)))
	x.row = binary.AppendVarint(x.row, int64(math.Round(n.Lon*1e7)))
	return x.end(mapdata.KindNode)
}

func (x *xmlFile) keepWay(w *osm.Way) error {
	x.begin(int64(w.ID), w.Version, w.Tags)
	x.row = binary.AppendUvarint(x.row, uint64(len(w.Nodes)))
	last := int64(0)
	for _, n := range w.Nodes {
		x.row = binary.AppendVarint(x.row, int64(n.ID)-last)
		last = int64(n.ID)
	}
	return x.end(mapdata.KindWay)
}

func (x *xmlFile) keepRelation(r *osm.Relation) error {
	x.begin(int64(r.ID), r.Version, r.Tags)
	x.row = binary.AppendUvarint(x.row, uint64(len(r.Members)))
	for _, m := range r.Members {
		x.row = binary.AppendVarint(append(x.row, byte(kindOf(m.Type))), m.Ref)
		x.row = scratch.AppendText(x.row, m.Role)
	}
	return x.end(mapdata.KindRelation)
}

// decode reads an object of a kind that is known.
func (o *Object) decode(r *scratch.Reader) {
	o.ID, o.Version = r.Varint(), int32(r.Varint())
	for range r.Uvarint() {
		key, value := string(r.Text()), string(r.Text())
		o.Tags.Add(tags.KeyOf(key), key, value)
	}
	switch o.Kind {
	case mapdata.KindNode:
		o.Lat, o.Lon = int32(r.Varint()), int32(r.Varint())
	case mapdata.KindWay:
		n := r.Uvarint()
		o.TooLarge = n > maxRefs
		last := int64(0)
		for range n {
			last += r.Varint()
			o.Refs = append(o.Refs, last)
		}
	case mapdata.KindRelation:
		n := r.Uvarint()
		o.TooLarge = n > maxMembers
		for range n {
			o.Members = append(o.Members, Member{Kind: mapdata.Kind(r.Byte()), ID: r.Varint(), Role: string(r.Text())})
		}
	}
	if o.TooLarge {
		o.Refs, o.Members = o.Refs[:0], o.Members[:0]
	}
}

func kindOf(t osm.Type) mapdata.Kind {
	switch t {
	case osm.TypeNode:
		return mapdata.KindNode
	case osm.TypeWay:
		return mapdata.KindWay
	default:
		return mapdata.KindRelation
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b.UTC()
	}
	return a
}

// xmlError tells a file that breaks off from one that is malformed.
func xmlError(err error) error {
	if syntax, ok := errors.AsType[*xml.SyntaxError](err); ok {
		if syntax.Msg == "unexpected EOF" {
			return truncated(io.ErrUnexpectedEOF)
		}
		return fmt.Errorf("XML, line %d: %s", syntax.Line, syntax.Msg)
	}
	return truncated(err)
}

// maxElement is above any element there is, in bytes: a relation of 32,000 members, the most that the API takes, has
// 2 MB.
const maxElement = 16 << 20

// limiter ends the reading of an element without end, before it takes all memory.
type limiter struct {
	r    io.Reader
	left int
}

func (l *limiter) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("an element of more than %d bytes", maxElement)
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
