package extract

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"time"

	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmxml"
)

// xmlFile is an extract in XML, perhaps compressed. Going through XML again and again would take long, so the first pass
// keeps what it reads: nodes without tags in sixteen bytes each, references of ways in eight.
type xmlFile struct {
	f    io.Closer
	size int64 // of the file, in bytes
	text io.Reader
	time time.Time
	cost *Budget
	read bool
	// maxElement is the longest single element in bytes that is read.
	maxElement int

	plainIDs  []int64 // nodes without tags
	plainLats []int32
	plainLons []int32
	tagged    []*osm.Node
	wayList   []*osm.Way // without Nodes
	refs      []int64    // the nodes of all ways
	refEnds   []int      // for each way the end of its part of refs
	relList   []*osm.Relation
}

func newXML(f io.Closer, size int64, text io.Reader, root *xml.StartElement, cost *Budget) *xmlFile {
	x := &xmlFile{f: f, size: size, text: text, cost: cost, maxElement: maxElement}
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

// remaining is nothing after the first stage, in which all is read.
func (x *xmlFile) remaining(string) int64 {
	if x.read {
		return 0
	}
	return x.size
}

func (x *xmlFile) close() error { return x.f.Close() }

func (x *xmlFile) relations(ctx context.Context, each func(*osm.Relation) error) error {
	if err := x.load(ctx); err != nil {
		return err
	}
	for _, r := range x.relList {
		if err := each(r); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (x *xmlFile) ways(ctx context.Context, want func(*osm.Way) bool, each func(*osm.Way) error) error {
	if err := x.load(ctx); err != nil {
		return err
	}
	start := 0
	var nodes osm.WayNodes // shared by all, one at a time
	for i, w := range x.wayList {
		nodes = nodes[:0]
		for _, ref := range x.refs[start:x.refEnds[i]] {
			nodes = append(nodes, osm.WayNode{ID: osm.NodeID(ref)})
		}
		w.Nodes = nodes
		if want(w) {
			if err := each(w); err != nil {
				return err
			}
		}
		start, w.Nodes = x.refEnds[i], nil
	}
	return ctx.Err()
}

func (x *xmlFile) nodes(ctx context.Context, want func(*osm.Node) bool, each func(*osm.Node) error) error {
	if err := x.load(ctx); err != nil {
		return err
	}
	plain := new(osm.Node) // stands for all of them, one at a time
	for i, id := range x.plainIDs {
		p := toPoint(x.plainLats[i], x.plainLons[i])
		*plain = osm.Node{ID: osm.NodeID(id), Lat: p[1], Lon: p[0]}
		if want(plain) {
			if err := each(plain); err != nil {
				return err
			}
		}
	}
	for _, n := range x.tagged {
		if want(n) {
			if err := each(n); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// load reads the file on the first call.
func (x *xmlFile) load(ctx context.Context) error {
	if x.read {
		return nil
	}
	limit := &limiter{r: x.text, max: x.maxElement, left: x.maxElement}
	s := osmxml.New(ctx, limit)
	defer s.Close()
	var newest time.Time
	for s.Scan() {
		limit.left = limit.max
		if err := x.cost.TakeMemory(costObject(s.Object())); err != nil {
			return err
		}
		switch o := s.Object().(type) {
		case *osm.Node:
			newest = later(newest, o.Timestamp)
			x.addNode(o)
		case *osm.Way:
			newest = later(newest, o.Timestamp)
			for _, n := range o.Nodes {
				x.refs = append(x.refs, int64(n.ID))
			}
			o.Nodes = nil
			x.refEnds = append(x.refEnds, len(x.refs))
			x.wayList = append(x.wayList, o)
		case *osm.Relation:
			newest = later(newest, o.Timestamp)
			x.relList = append(x.relList, o)
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

// costObject is what is kept of an object in memory, in bytes.
func costObject(o osm.Object) int64 {
	switch o := o.(type) {
	case *osm.Node:
		if len(o.Tags) == 0 {
			return costPlainNode
		}
		return costTagged + costTag*int64(len(o.Tags))
	case *osm.Way:
		return costTagged + costTag*int64(len(o.Tags)) + 8*int64(len(o.Nodes))
	case *osm.Relation:
		return costTagged + costTag*int64(len(o.Tags)) + weightMember*int64(len(o.Members))
	default:
		return 0
	}
}

func (x *xmlFile) addNode(n *osm.Node) {
	if len(n.Tags) > 0 {
		x.tagged = append(x.tagged, n)
		return
	}
	if lat, lon, ok := toFixed(n.Lat, n.Lon); ok {
		x.plainIDs = append(x.plainIDs, int64(n.ID))
		x.plainLats = append(x.plainLats, lat)
		x.plainLons = append(x.plainLons, lon)
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
	if syntax, ok := err.(*xml.SyntaxError); ok {
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
