package extract

import (
	"context"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmxml"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// xmlFile is an extract in XML, perhaps compressed. Reading it again would take long, so the first pass keeps the ways
// for the second in a scratch file.
type xmlFile struct {
	f    io.Closer
	size int64 // of the file, in bytes
	text io.Reader
	time time.Time
	cost *Budget
	read bool
	// maxElement is the longest single element in bytes that is read.
	maxElement int

	ways *scratch.Array[byte]
	row  []byte
}

func newXML(f io.Closer, size int64, text io.Reader, root *xml.StartElement, dir *scratch.Dir, cost *Budget) *xmlFile {
	x := &xmlFile{f: f, size: size, text: text, cost: cost, maxElement: maxElement,
		ways: scratch.NewArray[byte](dir, "xml-ways")}
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

func (x *xmlFile) timestamp() time.Time { return x.time }

// remaining is nothing after the first pass, in which all is read.
func (x *xmlFile) remaining(kinds) int64 {
	if x.read {
		return 0
	}
	return x.size
}

func (x *xmlFile) close() error { return x.f.Close() }

// scan goes through nodes and relations at first, and then through the ways.
func (x *xmlFile) scan(ctx context.Context, wanted kinds, visit visitor, each func(*batch) error) error {
	b := new(batch)
	b.reset()
	take := func(o *object) error {
		if visit(o, b); !b.full() {
			return nil
		}
		err := each(b)
		b.reset()
		return err
	}
	var err error
	if wanted&ways == 0 {
		err = x.load(ctx, take)
	} else {
		err = x.replay(ctx, take)
	}
	if err != nil {
		return err
	}
	return each(b)
}

// load reads the file, hands over nodes and relations, and keeps the ways.
func (x *xmlFile) load(ctx context.Context, take func(*object) error) error {
	limit := &limiter{r: x.text, max: x.maxElement, left: x.maxElement}
	s := osmxml.New(ctx, limit)
	defer s.Close()
	var newest time.Time
	for s.Scan() {
		limit.left = limit.max
		if err := x.cost.TakeMemory(costObject(s.Object())); err != nil {
			return err
		}
		var err error
		switch o := s.Object().(type) {
		case *osm.Node:
			newest = later(newest, o.Timestamp)
			if lat, lon, ok := toFixed(o.Lat, o.Lon); ok {
				err = take(&object{kind: mapdata.KindNode, id: int64(o.ID), version: int32(o.Version), tags: o.Tags,
					lat: lat, lon: lon})
			}
		case *osm.Way:
			newest = later(newest, o.Timestamp)
			err = x.keep(o)
		case *osm.Relation:
			newest = later(newest, o.Timestamp)
			err = take(relationObject(o))
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
	return nil
}

func relationObject(r *osm.Relation) *object {
	o := &object{kind: mapdata.KindRelation, id: int64(r.ID), version: int32(r.Version), tags: r.Tags,
		members: make([]member, len(r.Members))}
	for i, m := range r.Members {
		o.members[i] = member{id: m.Ref, kind: kindOf(m.Type), role: m.Role}
	}
	return o
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

// keep keeps a way for the second pass.
func (x *xmlFile) keep(w *osm.Way) error {
	row := binary.AppendVarint(x.row[:0], int64(w.ID))
	row = binary.AppendVarint(row, int64(w.Version))
	row = binary.AppendUvarint(row, uint64(len(w.Tags)))
	for _, t := range w.Tags {
		row = append(binary.AppendUvarint(row, uint64(len(t.Key))), t.Key...)
		row = append(binary.AppendUvarint(row, uint64(len(t.Value))), t.Value...)
	}
	row = binary.AppendUvarint(row, uint64(len(w.Nodes)))
	last := int64(0)
	for _, n := range w.Nodes {
		row = binary.AppendVarint(row, int64(n.ID)-last)
		last = int64(n.ID)
	}
	x.row = row
	return x.ways.Append(row...)
}

// replay hands over the ways that were kept.
func (x *xmlFile) replay(ctx context.Context, take func(*object) error) error {
	o := &object{kind: mapdata.KindWay}
	for d := (spoolReader{bytes: x.ways.Slice()}); len(d.bytes) > 0; {
		o.id, o.version = d.varint(), int32(d.varint())
		o.tags = o.tags[:0]
		for range d.uvarint() {
			o.tags = append(o.tags, osm.Tag{Key: d.text(), Value: d.text()})
		}
		o.refs = o.refs[:0]
		last := int64(0)
		for range d.uvarint() {
			last += d.varint()
			o.refs = append(o.refs, last)
		}
		if err := take(o); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return x.ways.Free()
}

// costObject is what an object costs to read, and to keep if it is a way.
func costObject(o osm.Object) int64 {
	switch o := o.(type) {
	case *osm.Node:
		if len(o.Tags) == 0 {
			return 0
		}
		return costTagged + costTag*int64(len(o.Tags))
	case *osm.Way:
		return costTagged + costTag*int64(len(o.Tags)) + 8*int64(len(o.Nodes))
	case *osm.Relation:
		return costTagged + costTag*int64(len(o.Tags)) + costMember*int64(len(o.Members))
	default:
		return 0
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

// maxElement is above any element there is: a relation of 32,000 members, the most that the API takes, has 2 MB.
const maxElement = 4 << 20

// limiter ends the reading of an element without end, before it takes all memory.
type limiter struct {
	r         io.Reader
	max, left int
}

func (l *limiter) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("an element of more than %d bytes", l.max)
	}
	n, err := l.r.Read(p)
	l.left -= n
	return n, err
}
