package roads

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// turn is a restriction relation as it was read. It is not known yet which of its members exist.
type turn struct {
	id                int64
	rule              profile.Turn
	from, to, viaWays []int64
	viaNode           int64  // if there are no viaWays
	text              []byte // details that apply at certain times
}

// addTurn keeps a restriction that is understood or applies at certain times, and counts others that apply to a mode.
func (b *batch) addTurn(r *osm.Relation) {
	rule, ok := profile.TurnOf(r.Tags)
	t := turn{id: r.ID, rule: rule}
	profile.Details(r.Tags, func(key tags.Key, value string) {
		t.text = roadgraph.AppendDetail(t.text, key.String(), value)
	})
	if except := r.Tags.Get(tags.Except); except != "" && len(t.text) > 0 {
		t.text = roadgraph.AppendDetail(t.text, "except", tags.Valid(except))
	}
	if !ok && len(t.text) == 0 {
		return
	}
	viaNodes := 0
	for _, m := range r.Members {
		switch isWay := m.Kind == region.KindWay; {
		case m.Role == "from" && isWay:
			t.from = append(t.from, m.ID)
		case m.Role == "to" && isWay:
			t.to = append(t.to, m.ID)
		case m.Role == "via" && isWay:
			t.viaWays = append(t.viaWays, m.ID)
		case m.Role == "via" && m.Kind == region.KindNode:
			t.viaNode = m.ID
			viaNodes++
		}
	}
	if !rule.Understood && len(t.text) == 0 || viaNodes > 1 || (viaNodes == 1) == (len(t.viaWays) > 0) {
		b.skipped++
		return
	}
	b.turns = append(b.turns, t)
}

// keepText adds a restriction that applies at certain times to the details of its from ways: its tags, the position of
// its via node or the ids of its via ways, and the ids of its to ways.
func (c *Consumer) keepText(t *turn) {
	if len(t.text) == 0 {
		return
	}
	ids := func(ways []int64) string { return strings.Trim(fmt.Sprint(ways), "[]") }
	via := ids(t.viaWays)
	if number, ok := c.nodes.Find(t.viaNode); ok && len(t.viaWays) == 0 {
		at := c.nodes.At(number)
		via = fmt.Sprintf("%.7f,%.7f", float64(at.Lat)/1e7, float64(at.Lon)/1e7)
	}
	text := roadgraph.AppendDetail(t.text, "restriction:via", via)
	text = roadgraph.AppendDetail(text, "restriction:to", ids(t.to))
	for _, way := range t.from {
		c.conditional[way] = append(c.conditional[way], text...)
	}
}

// placeTurns fills data.Restrictions with the restrictions whose members are roads that meet end to end. Each of
// several from members of no_entry, and to members of no_exit, makes a restriction. Others must have one of each that
// meets the via members, as OpenStreetMap requires.
func (c *Consumer) placeTurns() {
	slices.SortFunc(c.turns, func(a, b turn) int { return cmp.Compare(a.id, b.id) })
	for _, t := range c.turns {
		if !t.rule.Understood {
			continue
		}
		r := network.Restriction{ViaNode: network.NoNode, ViaWays: t.viaWays, Only: t.rule.Only, Modes: t.rule.Modes}
		if len(t.viaWays) == 0 {
			r.ViaNode = c.rankOf(t.viaNode)
		}
		from, to := c.arms(&t, r.ViaNode)
		if len(from) == 0 || len(from) > 1 && !t.rule.ManyFrom || len(to) > 1 && !t.rule.ManyTo {
			c.SkippedRestrictions++
			continue
		}
		for _, r.From = range from {
			for _, r.To = range to {
				c.data.Restrictions = append(c.data.Restrictions, r)
			}
		}
	}
}

// arms returns the from and to members that end at the via members, or neither if one of them is missing. When a way is
// split, editors make both halves members; the half that does not touch the via is ignored. So is a way that passes its
// via node unsplit, because the side of the turn is ambiguous.
func (c *Consumer) arms(t *turn, via uint32) (from, to []int64) {
	add := func(start, end uint32) {
		f, l := c.endingAt(t.from, start), c.endingAt(t.to, end)
		if len(f) > 0 && len(l) > 0 {
			from, to = append(from, f...), append(to, l...)
		}
	}
	if via != network.NoNode {
		add(via, via)
	} else if len(t.viaWays) > 0 {
		for _, start := range slices.Compact(c.ends(t.viaWays[0])) {
			if end, ok := c.follow(t.viaWays, start); ok {
				add(start, end)
			}
		}
	}
	slices.Sort(from)
	slices.Sort(to)
	return slices.Compact(from), slices.Compact(to)
}

// follow returns the node at which consecutive ways end that begin at a node.
func (c *Consumer) follow(ways []int64, node uint32) (end uint32, ok bool) {
	for _, way := range ways {
		ends := c.ends(way)
		i := slices.Index(ends, node)
		if i < 0 || len(ends) > 2 {
			return 0, false
		}
		node = ends[1-i]
	}
	return node, true
}

// endingAt returns the ways that begin or end at a node.
func (c *Consumer) endingAt(ways []int64, node uint32) []int64 {
	return slices.DeleteFunc(slices.Clone(ways), func(way int64) bool { return !slices.Contains(c.ends(way), node) })
}

// ends returns the first and last node of a way, or of each of its parts if the extract lacks nodes.
func (c *Consumer) ends(way int64) (ends []uint32) {
	roads := c.data.Roads.Slice()
	for road := c.data.FirstOf(way); int(road) < len(roads) && roads[road].Way == way; road++ {
		nodes := c.data.NodesOf(road)
		ends = append(ends, nodes[0], nodes[len(nodes)-1])
	}
	return ends
}
