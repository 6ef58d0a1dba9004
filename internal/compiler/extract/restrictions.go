package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// turnRelation is a restriction relation as it was read: which of its members exist is not known yet.
type turnRelation struct {
	id       int64
	version  int32
	from, to []int64
	viaNodes []int64
	viaWays  []int64
	via      uint32 // of viaNodes, the index of the first that a road uses in Data.Nodes, or NoNode
	only     bool
	// manyFrom and manyTo say that each of several members is meant (no_entry, no_exit).
	manyFrom, manyTo bool
	modes            mapdata.Modes
	skipped          bool // not understood
}

// restrictionKeys are the keys that hold a restriction, and to whom each applies. The ones for other vehicles (hgv,
// bus) do not concern any mode here.
var restrictionKeys = []struct {
	key   string
	modes mapdata.Modes
}{
	{"restriction", mapdata.Car | mapdata.Bicycle},
	{"restriction:vehicle", mapdata.Car | mapdata.Bicycle},
	{"restriction:motor_vehicle", mapdata.Car},
	{"restriction:motorcar", mapdata.Car},
	{"restriction:bicycle", mapdata.Bicycle},
	{"restriction:foot", mapdata.Foot},
}

// exceptions are the values of except=* that take a mode out of a restriction.
var exceptions = map[string]mapdata.Modes{
	"motorcar": mapdata.Car, "motor_vehicle": mapdata.Car, "vehicle": mapdata.Car | mapdata.Bicycle,
	"bicycle": mapdata.Bicycle, "foot": mapdata.Foot,
}

// turnKinds are the values of restriction=* that the field knows.
var turnKinds = valueSet("no_left_turn", "no_right_turn", "no_straight_on", "no_u_turn", "no_entry", "no_exit",
	"only_left_turn", "only_right_turn", "only_straight_on", "only_u_turn")

// isTurn says whether a value forbids or prescribes a turn. The geometry says which one, so that the rest of the value
// need not be known. What ends in _on_red is about a light, and says nothing when it is green.
func isTurn(value string) bool {
	return (strings.HasPrefix(value, "no_") || strings.HasPrefix(value, "only_")) && !strings.HasSuffix(value, "_on_red")
}

// turnKind returns the first of the values of a tag that is known, else the first that forbids or prescribes a turn,
// else the first that might mean to.
func turnKind(value string) (kind string) {
	for one := range strings.SplitSeq(value, ";") {
		one = strings.TrimSpace(one)
		switch {
		case turnKinds[one]:
			return one
		case kind == "" && !strings.HasSuffix(one, "_on_red"), !isTurn(kind) && isTurn(one):
			kind = one
		}
	}
	return kind
}

// addTurn notes a restriction. Those that hold at certain times only are left out: nobody knows when a trace was made.
func (c *collector) addTurn(r *foundRelation, members []member) error {
	t := turnRelation{id: r.id, version: r.version}
	var kind string
	conditional := false
	for _, k := range restrictionKeys {
		value := turnKind(r.tags.Find(k.key))
		conditional = conditional || r.tags.Find(k.key+":conditional") != ""
		if isTurn(value) && !isTurn(kind) {
			kind, t.modes = value, 0 // instead of one that is not understood
		}
		if value == "" || kind != "" && value != kind {
			continue
		}
		kind = value
		t.modes |= k.modes
	}
	for value := range strings.SplitSeq(r.tags.Find("except"), ";") {
		t.modes &^= exceptions[strings.TrimSpace(value)]
	}
	if kind == "" && !conditional || kind != "" && t.modes == 0 {
		return nil // concerns none of the modes
	}
	if len(members) > maxTurnMembers {
		c.turns = append(c.turns, turnRelation{id: r.id, version: r.version, skipped: true})
		return c.cost.TakeMemory(costTurn)
	}
	for _, m := range members {
		switch {
		case m.role == "from" && m.kind == mapdata.KindWay:
			t.from = append(t.from, m.id)
		case m.role == "to" && m.kind == mapdata.KindWay:
			t.to = append(t.to, m.id)
		case m.role == "via" && m.kind == mapdata.KindNode:
			t.viaNodes = append(t.viaNodes, m.id)
		case m.role == "via" && m.kind == mapdata.KindWay:
			t.viaWays = append(t.viaWays, m.id)
		}
	}
	t.only = strings.HasPrefix(kind, "only_")
	t.manyFrom, t.manyTo = kind == "no_entry", kind == "no_exit"
	t.skipped = !isTurn(kind) || isTimed(r.tags) || len(t.viaNodes) > 1 ||
		(len(t.viaNodes) == 1) == (len(t.viaWays) > 0)
	c.turns = append(c.turns, t)
	return c.cost.TakeMemory(costTurn + costMember*int64(len(members)))
}

// maxTurnMembers is how many members a restriction may have that is understood. OpenStreetMap's have three, and some
// a dozen.
const maxTurnMembers = 64

// isTimed says whether a restriction has its hours in the older keys, which change what the value means.
func isTimed(tags osm.Tags) bool {
	return slices.ContainsFunc([]string{"day_on", "day_off", "hour_on", "hour_off"}, tags.HasTag)
}

// assembleRestrictions fills Restrictions: those whose members are roads that meet.
func (c *collector) assembleRestrictions(data *Data) error {
	for i := range c.turns {
		t := &c.turns[i]
		if err := c.cost.Work(data.steps(t)); err != nil {
			return err
		}
		from, to := data.arms(t)
		if len(from) == 0 || len(to) == 0 || len(from) > 1 && !t.manyFrom || len(to) > 1 && !t.manyTo {
			data.Counts.SkippedRestrictions++
			continue
		}
		for _, in := range from {
			for _, out := range to {
				data.Restrictions = append(data.Restrictions, Restriction{
					Relation: t.id, From: in, To: out, ViaNode: t.via, ViaWays: t.viaWays, Only: t.only, Modes: t.modes,
				})
			}
		}
	}
	c.turns = nil
	return nil
}

// steps is how many nodes are looked at, at most, to tell whether a restriction's members meet.
func (d *Data) steps(t *turnRelation) int64 {
	nodes, parts := 0, 1 // parts: of the way that is in most
	for _, ways := range [][]int64{t.from, t.to, t.viaWays} {
		for _, way := range ways {
			from, to := d.roadsOf(way)
			parts = max(parts, to-from)
			for i := from; i < to; i++ {
				nodes += len(d.NodesOf(i))
			}
		}
	}
	return 4 * int64(parts) * int64(nodes) // both ends of all parts, with the way before and the one behind
}

// arms returns the from and the to members that meet at what is between them. When a way is split, editors make both
// halves members; the half that is elsewhere drops out here.
func (d *Data) arms(t *turnRelation) (from, to []int64) {
	if t.skipped {
		return nil, nil
	}
	atStart := func(way int64) bool { return d.passes(way, t.via) }
	atEnd := atStart
	if t.via == NoNode {
		if len(t.viaWays) == 0 {
			return nil, nil
		}
		for i := range t.viaWays[1:] {
			if !d.meet(t.viaWays[i], t.viaWays[i+1]) {
				return nil, nil
			}
		}
		atStart = func(way int64) bool { return d.meet(way, t.viaWays[0]) }
		atEnd = func(way int64) bool { return d.meet(way, t.viaWays[len(t.viaWays)-1]) }
	}
	return filter(t.from, atStart), filter(t.to, atEnd)
}

func filter(ways []int64, keep func(int64) bool) []int64 {
	var kept []int64
	for _, w := range ways {
		if keep(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

// roadsOf returns the range of the roads of a way: one, or several if the extract lacks some of its nodes.
func (d *Data) roadsOf(way int64) (from, to int) {
	roads := d.Roads.Slice()
	from, _ = slices.BinarySearchFunc(roads, way, func(r Road, id int64) int { return cmp.Compare(r.Way, id) })
	for to = from; to < len(roads) && roads[to].Way == way; {
		to++
	}
	return from, to
}

func (d *Data) passes(way int64, node uint32) bool {
	from, to := d.roadsOf(way)
	for i := from; i < to; i++ {
		if slices.Contains(d.NodesOf(i), node) {
			return true
		}
	}
	return false
}

// meet says whether two ways meet where one of them ends, as those of a restriction do.
func (d *Data) meet(a, b int64) bool { return d.endsAt(a, b) || d.endsAt(b, a) }

// endsAt says whether an end of a way's roads is a node of another way.
func (d *Data) endsAt(way, other int64) bool {
	from, to := d.roadsOf(way)
	for i := from; i < to; i++ {
		nodes := d.NodesOf(i)
		if d.passes(other, nodes[0]) || d.passes(other, nodes[len(nodes)-1]) {
			return true
		}
	}
	return false
}
