package extract

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// What a way is, as flags of its record.
const (
	wayIsRoad recordFlags = 1 << iota
	// wayIsFeature: it has a name or an address itself.
	wayIsFeature
	wayInterpolates
	// wayIsAreal: it is an area where it is closed.
	wayIsAreal
	wayIsClosed
	wayIsDrawn
	wayIsCoast
	// wayIsBorder: it is a line of administrative boundaries.
	wayIsBorder
)

// foundWay is a way that is a road, a feature, on the map, an interpolation or a part of an area; often several of
// them.
type foundWay struct {
	id      int64
	version int32
	flags   recordFlags
	road    namedRoad
	takes   int32 // seconds for all of it, where the tags tell
	step    int32 // of an interpolation
	parity  Parity
	// tags are there for features, for interpolations, and for members of areas, which may take them over.
	tags span
	// classes are what the map shows of it, apart from the coast and borders.
	classes span
	nodes   int  // how many it has
	refs    span // their numbers, as appendNodes writes them
}

// lookAtWay looks at a way.
func (c *collector) lookAtWay(o *object, b *batch) {
	b.counts.Ways++
	tags := trim(o.tags)
	if len(o.refs) < 2 {
		return
	}
	w := foundWay{id: o.id, version: o.version, nodes: len(o.refs)}
	if road, ok := roadOf(tags); ok {
		w.road, w.flags = road, wayIsRoad
	} else if road := c.outline(o.id, tags); road != nil {
		w.road, w.flags = *road, wayIsRoad
	}
	if w.flags&wayIsRoad != 0 && w.road.Ferry {
		w.takes = int32(parseDuration(tags.Find("duration")))
	}
	if isFeature(tags) {
		w.flags |= wayIsFeature
	}
	var ok bool
	if w.step, w.parity, ok = parseInterpolation(tags.Find("addr:interpolation")); ok {
		w.flags |= wayInterpolates
	}
	isMember := c.isMemberWay(o.id)
	closed := o.refs[0] == o.refs[len(o.refs)-1]
	areal := (closed || w.flags != 0 || isMember) && describesArea(tags)
	w.flags |= c.mapFlags(&w, tags, closed && areal, isMember, b)
	if w.flags == 0 && !isMember {
		return
	}
	if areal {
		w.flags |= wayIsAreal
	}
	if closed {
		w.flags |= wayIsClosed
	}
	if w.flags&(wayIsFeature|wayInterpolates) != 0 || isMember && w.flags&wayIsAreal != 0 {
		w.tags = b.addTags(tags)
	}
	from := len(b.refs)
	b.refs = c.appendNodes(b.refs, o.refs)
	w.refs = span{from, len(b.refs)}
	b.ways = append(b.ways, w)
}

func (c *collector) isMemberWay(id int64) bool {
	_, ok := slices.BinarySearch(c.memberWays.Slice(), id)
	return ok
}

// appendNodes appends the numbers of nodes: 0 for one that the extract lacks, else, and one more, the difference to the
// one before.
func (c *collector) appendNodes(row []byte, ids []int64) []byte {
	before := uint64(0)
	for _, id := range ids {
		n, ok := c.locations.find(id, before)
		if !ok {
			row = append(row, 0)
			continue
		}
		row = binary.AppendUvarint(row, zigZagOf(int64(n-before))+1)
		before = n
	}
	return row
}

// takeWays takes the ways that were found.
func (c *collector) takeWays(b *batch) error {
	c.counts.Ways += b.counts.Ways
	for i := range b.ways {
		w := &b.ways[i]
		tags := b.tags[w.tags.from:w.tags.to]
		row := c.ways.begin(w.version)
		if w.flags&wayIsRoad != 0 {
			var err error
			if row, err = c.appendRoad(row, w); err != nil {
				return err
			}
		}
		if w.flags&wayInterpolates != 0 {
			row = append(row, byte(w.step), byte(w.parity))
		}
		row, err := appendTags(row, c.texts, tags)
		if err != nil {
			return err
		}
		if w.flags&wayIsDrawn != 0 {
			if row, err = c.appendDrawn(row, b, w.classes); err != nil {
				return err
			}
		}
		row = binary.AppendUvarint(row, uint64(w.nodes))
		row = append(row, b.refs[w.refs.from:w.refs.to]...)
		if err := c.ways.end(w.id, w.flags, row); err != nil {
			return err
		}
		cost := costWay + costRef*int64(w.nodes) + tags.cost()
		if w.flags&wayIsFeature != 0 {
			cost += CostFeature
		}
		if err := c.cost.TakeMemory(cost); err != nil {
			return err
		}
	}
	return nil
}

// way is a way as it is read from its record. Its lists are valid until the next one is read into it.
type way struct {
	id     int64
	flags  recordFlags
	road   Road // without its nodes
	takes  int32
	step   int32
	parity Parity
	tags   []TagNumbers
	// classes are what the map shows of it, by the numbers of their texts.
	classes []uint32
	// nodes are the numbers of its nodes, noNode for those that the extract lacks.
	nodes   []uint64
	missing int // how many these are
	part    []uint64
}

// noNode stands for a node that the extract lacks.
const noNode = math.MaxUint64

// readWay reads the i-th way.
func (c *collector) readWay(i int, w *way) {
	d := c.ways.read(i)
	w.id, w.flags = c.ways.id(i), c.ways.flags(i)
	if w.flags&wayIsRoad != 0 {
		w.readRoad(&d)
	}
	if w.flags&wayInterpolates != 0 {
		w.step, w.parity = int32(d.byte()), Parity(d.byte())
	}
	w.tags = d.tags(w.tags[:0])
	if w.classes = w.classes[:0]; w.flags&wayIsDrawn != 0 {
		w.classes = d.numbers(w.classes)
	}
	w.nodes, w.missing = w.nodes[:0], 0
	before := uint64(0)
	for range d.uvarint() {
		v := d.uvarint()
		if v == 0 {
			w.nodes = append(w.nodes, noNode)
			w.missing++
			continue
		}
		before += uint64(zigZag(v - 1))
		w.nodes = append(w.nodes, before)
	}
}

// findWay reads a way by its id; false if it is not there.
func (c *collector) findWay(id int64, w *way) bool {
	i, ok := c.ways.find(id)
	if ok {
		c.readWay(i, w)
	}
	return ok
}

// is says whether a way is one of some.
func (w *way) is(flags recordFlags) bool { return w.flags&flags != 0 }

// known returns the nodes that the extract has, without repetitions of the same node in a row.
func (w *way) known() []uint64 {
	nodes := make([]uint64, 0, len(w.nodes)-w.missing)
	for _, n := range w.nodes {
		if n != noNode && (len(nodes) == 0 || nodes[len(nodes)-1] != n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// appendRoad writes what a road is. The order is that of readRoad.
func (c *collector) appendRoad(row []byte, w *foundWay) ([]byte, error) {
	for _, text := range [...]string{w.road.name, w.road.ref} {
		n, err := c.texts.Add(valid(text))
		if err != nil {
			return row, err
		}
		row = binary.AppendUvarint(row, uint64(n))
	}
	row = binary.AppendUvarint(row, uint64(w.takes))
	r := &w.road.Road
	flags := byte(0)
	for i, set := range [...]bool{r.Roundabout, r.Link, r.Tunnel, r.Bridge, r.Toll, r.Ferry} {
		if set {
			flags |= 1 << i
		}
	}
	return append(row, byte(r.Class), byte(r.Forward), byte(r.Backward), byte(r.DestinationForward),
		byte(r.DestinationBackward), r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed, byte(r.Layer), flags), nil
}

func (w *way) readRoad(d *spoolReader) {
	w.road = Road{Way: w.id, Name: uint32(d.uvarint()), Ref: uint32(d.uvarint())}
	w.takes = int32(d.uvarint())
	r := &w.road
	r.Class = mapdata.RoadClass(d.byte())
	r.Forward, r.Backward = mapdata.Modes(d.byte()), mapdata.Modes(d.byte())
	r.DestinationForward, r.DestinationBackward = mapdata.Modes(d.byte()), mapdata.Modes(d.byte())
	r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed = d.byte(), d.byte(), d.byte(), d.byte()
	r.Layer = int8(d.byte())
	flags := d.byte()
	for i, set := range [...]*bool{&r.Roundabout, &r.Link, &r.Tunnel, &r.Bridge, &r.Toll, &r.Ferry} {
		*set = flags>>i&1 != 0
	}
}
