package extract

import (
	"context"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/maptile/schema"

	"github.com/paulmach/osm"
)

// classify adds to a batch what the map shows of an object, if anybody asks for a map.
func (c *collector) classify(kind mapdata.Kind, tags osm.Tags, area bool, b *batch) span {
	if !c.withMap {
		return span{}
	}
	from := len(b.classes)
	for _, class := range schema.Classify(kind, tags, area) {
		encoded := class.Encode()
		b.classes, b.encoded = append(b.classes, encoded), b.encoded+len(encoded)
	}
	return span{from, len(b.classes)}
}

// mapFlags says what a way is on the map, if anybody asks for one. What the map shows of it is added to the batch.
func (c *collector) mapFlags(w *foundWay, tags osm.Tags, area, isMember bool, b *batch) (flags recordFlags) {
	if !c.withMap {
		return 0
	}
	w.classes = c.classify(mapdata.KindWay, tags, area, b)
	if !w.classes.empty() {
		flags |= wayIsDrawn
	}
	if tags.Find("natural") == "coastline" {
		return flags | wayIsCoast // and no border, which is at sea where there is one
	}
	if isMember && c.levelOf(w.id) != 0 && tags.Find("maritime") != "yes" {
		flags |= wayIsBorder
	}
	return flags
}

// appendDrawn writes the numbers of the classes of an object. It takes what these cost, since a few texts of a file can
// make many classes.
func (c *collector) appendDrawn(row []byte, b *batch, classes span) ([]byte, error) {
	numbers, cost := make([]uint32, 0, 4), int64(costDrawing)
	for _, class := range b.classes[classes.from:classes.to] {
		cost += 2 * int64(len(class))
		n, err := c.texts.Add(class)
		if err != nil {
			return row, err
		}
		numbers = append(numbers, n)
	}
	return appendClasses(row, numbers), c.cost.TakeMemory(cost)
}

// readNode returns the tags of a node that is a feature, and the classes of one that is on the map.
func (c *collector) readNode(i int, tags []TagNumbers) ([]TagNumbers, []uint32) {
	d := c.nodeFeatures.read(i)
	tags = d.tags(tags)
	if c.nodeFeatures.flags(i)&nodeIsDrawn == 0 {
		return tags, nil
	}
	return tags, d.numbers(nil)
}

// draughtsman fills Drawings and Coast.
type draughtsman struct {
	c       *collector
	to      *Drawings
	coast   *Coast
	texts   textCache
	isName  map[uint32]bool // keys
	names   []TagNumbers
	borders [16]uint32 // the numbers of their classes by admin_level
}

// newDraughtsman returns nil, which draws nothing, where no map is asked for.
func newDraughtsman(c *collector, data *Data) (*draughtsman, error) {
	if !c.withMap {
		return nil, nil
	}
	m := &draughtsman{c: c, to: data.Drawings, coast: data.Coast, texts: textCache{texts: c.texts},
		isName: make(map[uint32]bool)}
	for level := range m.borders {
		if class, ok := schema.Boundary(level); ok {
			var err error
			if m.borders[level], err = c.texts.Add(class.Encode()); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// namesOf returns those of the tags that are names.
func (m *draughtsman) namesOf(tags []TagNumbers) []TagNumbers {
	m.names = m.names[:0]
	for _, t := range tags {
		is, known := m.isName[t.Key]
		if !known {
			key := m.texts.text(t.Key)
			is = key == "name" || strings.HasPrefix(key, "name:")
			m.isName[t.Key] = is
		}
		if is {
			m.names = append(m.names, t)
		}
	}
	return m.names
}

// nodesAndWays draws nodes and ways. Nothing may be added to the texts meanwhile.
func (m *draughtsman) nodesAndWays(ctx context.Context, outlines *outlines) error {
	if m == nil {
		return nil
	}
	if err := loop(ctx, nil, m.c.nodeFeatures.len(), m.node); err != nil {
		return err
	}
	var w way
	return loop(ctx, nil, m.c.ways.len(), func(i int) error {
		if m.c.ways.flags(i)&(wayIsDrawn|wayIsCoast|wayIsBorder) == 0 {
			return nil
		}
		m.c.readWay(i, &w)
		return m.way(&w, outlines)
	})
}

func (m *draughtsman) node(i int) error {
	if m.c.nodeFeatures.flags(i)&nodeIsDrawn == 0 {
		return nil
	}
	id := m.c.nodeFeatures.id(i)
	number, _ := m.c.locations.find(id, 0) // it was added with the tags
	tags, classes := m.c.readNode(i, nil)
	p := m.to.begin(mapdata.KindNode, id, classes, m.namesOf(tags))
	p.row = append(p.row, byte(Point))
	p.coord(m.c.coord(number))
	return m.to.end(&p)
}

func (m *draughtsman) way(w *way, outlines *outlines) error {
	if w.is(wayIsCoast) {
		for nodes := range w.parts {
			line := make([]Coord, len(nodes))
			for i, n := range nodes {
				line[i] = m.c.coord(n)
			}
			if err := m.coast.Add(line); err != nil {
				return err
			}
		}
	}
	if w.is(wayIsBorder) {
		if err := m.lines(w, []uint32{m.borders[m.c.levelOf(w.id)]}, nil); err != nil {
			return err
		}
	}
	if !w.is(wayIsDrawn) {
		return nil
	}
	names := m.namesOf(w.tags)
	if !w.is(wayIsAreal) || !w.is(wayIsClosed) {
		return m.lines(w, w.classes, names)
	}
	p := m.to.begin(mapdata.KindWay, w.id, w.classes, names)
	if g, ok := outlines.of(w.id); ok {
		p.geometry(g)
	} else if ring := m.c.ring(w); ring != nil {
		m.c.line(&p, Polygon, ring)
	} else {
		return nil
	}
	return m.to.end(&p)
}

func (m *draughtsman) lines(w *way, classes []uint32, names []TagNumbers) error {
	for nodes := range w.parts {
		p := m.to.begin(mapdata.KindWay, w.id, classes, names)
		m.c.line(&p, Line, nodes)
		if err := m.to.end(&p); err != nil {
			return err
		}
	}
	return nil
}

// area draws a relation, if it became an area.
func (m *draughtsman) area(a *area) error {
	switch {
	case m == nil:
		return nil
	case a.relation.oldStyle:
		return m.oldStyle(a)
	case len(a.polygons) == 0 || len(a.relation.classes) == 0:
		return nil
	}
	p := m.to.begin(mapdata.KindRelation, a.relation.id, a.relation.classes, m.namesOf(a.relation.tags))
	p.geometry(a.polygons)
	return m.to.end(&p)
}

// oldStyle draws the polygons of a relation in the old style that several ways enclose. Those of one way alone are that
// way's.
func (m *draughtsman) oldStyle(a *area) error {
	for i, ways := range a.outer {
		if len(ways) < 2 {
			continue
		}
		tags := m.c.outlineTags(a, ways)
		var classes []uint32
		for _, class := range schema.Classify(mapdata.KindRelation, tags.osm(), true) {
			n, err := m.c.texts.Add(class.Encode())
			if err != nil {
				return err
			}
			classes = append(classes, n)
		}
		if len(classes) == 0 {
			continue
		}
		numbers, err := numberTags(nil, m.c.texts, tags)
		if err != nil {
			return err
		}
		p := m.to.begin(mapdata.KindRelation, a.relation.id, classes, m.namesOf(numbers))
		p.geometry(a.polygons[i])
		if err := m.to.end(&p); err != nil {
			return err
		}
	}
	return nil
}

// outline keeps the outlines with their holes that ways have on the map as the only outer ways of relations in the old
// style.
func (m *draughtsman) outline(a *area, to *outlines) error {
	var w way
	for i, ways := range a.outer {
		if len(ways) != 1 || !m.c.findWay(ways[0], &w) || !w.is(wayIsDrawn) || !w.is(wayIsAreal) {
			continue
		}
		if err := to.add(w.id, a.polygons[i]); err != nil {
			return err
		}
	}
	return nil
}

// finish gives back what memory is not needed.
func (m *draughtsman) finish() error {
	if m == nil {
		return nil
	}
	return trimAll(m.to.bytes, m.coast.bytes)
}
