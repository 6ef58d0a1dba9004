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
	version  int
	from, to []int64
	viaNodes []int64
	viaWays  []int64
	only     bool
	// manyFrom and manyTo say that each of several members is meant (no_entry, no_exit).
	manyFrom, manyTo bool
	modes            mapdata.Modes
	skipped          bool // not understood
}

// restrictionKeys are the keys that hold a restriction, and to whom each applies. The ones for other vehicles (hgv, bus)
// do not concern any mode here.
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
	"motorcar": mapdata.Car, "motor_vehicle": mapdata.Car, "vehicle": mapdata.Car | mapdata.Bicycle, "bicycle": mapdata.Bicycle, "foot": mapdata.Foot,
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
func (c *collector) addTurn(r *osm.Relation) error {
	t := turnRelation{id: int64(r.ID), version: r.Version}
	var kind string
	conditional := false
	for _, k := range restrictionKeys {
		value := turnKind(r.Tags.Find(k.key))
		conditional = conditional || r.Tags.Find(k.key+":conditional") != ""
		if isTurn(value) && !isTurn(kind) {
			kind, t.modes = value, 0 // instead of one that is not understood
		}
		if value == "" || kind != "" && value != kind {
			continue
		}
		kind = value
		t.modes |= k.modes
	}
	for value := range strings.SplitSeq(r.Tags.Find("except"), ";") {
		t.modes &^= exceptions[strings.TrimSpace(value)]
	}
	if kind == "" && !conditional || kind != "" && t.modes == 0 {
		return nil // concerns none of the modes
	}
	if len(r.Members) > maxTurnMembers {
		c.turns = append(c.turns, turnRelation{id: int64(r.ID), version: r.Version, skipped: true})
		return c.cost.TakeMemory(costTurn)
	}
	for _, m := range r.Members {
		switch {
		case m.Role == "from" && m.Type == osm.TypeWay:
			t.from = append(t.from, m.Ref)
		case m.Role == "to" && m.Type == osm.TypeWay:
			t.to = append(t.to, m.Ref)
		case m.Role == "via" && m.Type == osm.TypeNode:
			t.viaNodes = append(t.viaNodes, m.Ref)
		case m.Role == "via" && m.Type == osm.TypeWay:
			t.viaWays = append(t.viaWays, m.Ref)
		}
	}
	t.only = strings.HasPrefix(kind, "only_")
	t.manyFrom, t.manyTo = kind == "no_entry", kind == "no_exit"
	t.skipped = !isTurn(kind) || isTimed(r.Tags) || len(t.viaNodes) > 1 ||
		(len(t.viaNodes) == 1) == (len(t.viaWays) > 0)
	c.turns = append(c.turns, t)
	return c.cost.TakeMemory(costTurn + costMember*int64(len(r.Members)))
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
		via := int32(-1)
		if len(t.viaNodes) > 0 {
			via = findNode(data.Nodes, t.viaNodes[0])
		}
		from, to := data.arms(t, via)
		if len(from) == 0 || len(to) == 0 || len(from) > 1 && !t.manyFrom || len(to) > 1 && !t.manyTo {
			data.Counts.SkippedRestrictions++
			continue
		}
		for _, in := range from {
			for _, out := range to {
				data.Restrictions = append(data.Restrictions, Restriction{
					Relation: t.id, From: in, To: out, ViaNode: via, ViaWays: t.viaWays, Only: t.only, Modes: t.modes,
				})
			}
		}
	}
	return nil
}

// steps is how many nodes are looked at, at most, to tell whether a restriction's members meet.
func (d *Data) steps(t *turnRelation) int64 {
	nodes, parts := 0, 1 // parts: of the way that is in most
	for _, ways := range [][]int64{t.from, t.to, t.viaWays} {
		for _, way := range ways {
			roads := d.roadsOf(way)
			parts = max(parts, len(roads))
			for i := range roads {
				nodes += len(roads[i].Nodes)
			}
		}
	}
	return 4 * int64(parts) * int64(nodes) // both ends of all parts, with the way before and the one behind
}

// arms returns the from and the to members that meet at what is between them. When a way is split, editors make both halves
// members; the half that is elsewhere drops out here.
func (d *Data) arms(t *turnRelation, via int32) (from, to []int64) {
	if t.skipped {
		return nil, nil
	}
	atStart := func(way int64) bool { return d.passes(way, via) }
	atEnd := atStart
	if via < 0 {
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

// roadsOf returns the roads of a way: one, or several if the extract lacks some of its nodes.
func (d *Data) roadsOf(way int64) []Road {
	start, ok := slices.BinarySearchFunc(d.Roads, way, func(r Road, id int64) int { return cmp.Compare(r.Way, id) })
	if !ok {
		return nil
	}
	end := start
	for end < len(d.Roads) && d.Roads[end].Way == way {
		end++
	}
	return d.Roads[start:end]
}

func (d *Data) passes(way int64, node int32) bool {
	return slices.ContainsFunc(d.roadsOf(way), func(r Road) bool { return slices.Contains(r.Nodes, node) })
}

func (d *Data) meet(a, b int64) bool {
	for _, road := range d.roadsOf(a) {
		// Ways of a restriction meet where one of them ends.
		if d.passes(b, road.Nodes[0]) || d.passes(b, road.Nodes[len(road.Nodes)-1]) {
			return true
		}
	}
	for _, road := range d.roadsOf(b) {
		if d.passes(a, road.Nodes[0]) || d.passes(a, road.Nodes[len(road.Nodes)-1]) {
			return true
		}
	}
	return false
}
