package roads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// TestRestrictions: how the members of a restriction fit together. What its tags mean is for package profile to test.
func TestRestrictions(t *testing.T) {
	t.Parallel()
	// A crossing at node 11 with arms to the west (1), east (2), south (3) and north (4); the eastern arm goes on to 13
	// (5), where a road leads north (6). Way 7 is no road, way 8 is a road elsewhere. Way 9 leads over node 23 unsplit.
	const ways = `
		w1 10 11 highway=residential
		w2 11 12 highway=residential
		w3 1 11 highway=residential
		w4 11 21 highway=residential
		w5 12 13 highway=residential
		w6 13 23 highway=residential
		w7 11 22 building=yes name=House
		w8 88 89 highway=residential
		w9 33 23 24 highway=residential
		r7 `
	const left, noTurn = "w1:from n11:via w4:to ", "restriction=no_left_turn"
	for name, c := range map[string]struct {
		relation string
		want     string // "skipped" or restrictions: no or only, from, via, to, modes
	}{
		"no":              {left + noTurn, "no 1 n11 4 cb"},
		"only":            {"w1:from n11:via w2:to restriction=only_straight_on", "only 1 n11 2 cb"},
		"u-turn":          {"w1:from n11:via w1:to restriction=no_u_turn", "no 1 n11 1 cb"},
		"via ways":        {"w1:from w2:via w5:via w6:to restriction=no_u_turn", "no 1 [2 5] 6 cb"},
		"two modes":       {left + "restriction:motorcar=no_left_turn restriction:foot=no_left_turn", "no 1 n11 4 cf"},
		"except a mode":   {left + noTurn + " except=bicycle;psv", "no 1 n11 4 c"},
		"except both":     {left + noTurn + " except=bicycle;motorcar", ""},
		"lorries":         {left + "restriction:hgv=no_left_turn", ""},
		"entry":           {"w1:from w3:from n11:via w4:to restriction=no_entry", "no 1 n11 4 cb, no 3 n11 4 cb"},
		"exit":            {"w1:from n11:via w2:to w4:to restriction=no_exit", "no 1 n11 2 cb, no 1 n11 4 cb"},
		"exit over a way": {"w1:from w2:via w5:to w12:to restriction=no_exit", "no 1 [2] 5 cb"},
		"a split way":     {"w1:from n11:via w2:to w5:to restriction=no_right_turn", "no 1 n11 2 cb"},

		"conditional":               {left + "restriction:conditional=no_left_turn+@+(Mo-Fr)", ""},
		"conditional beside plain":  {left + noTurn + " restriction:conditional=no_u_turn", "no 1 n11 4 cb"},
		"conditional without a via": {"w1:from w4:to restriction:conditional=no_left_turn+@+(Mo-Fr)", "skipped"},
		"timed":                     {left + noTurn + " hour_on=07:00 hour_off=09:00", "skipped"},
		"unknown":                   {left + "restriction=maybe", "skipped"},
		"on red":                    {left + "restriction=no_left_turn_on_red", ""},

		"several from":            {"w1:from w3:from n11:via w4:to " + noTurn, "skipped"},
		"several to":              {"w1:from n11:via w2:to w4:to " + noTurn, "skipped"},
		"several from of an only": {"w1:from w3:from n11:via w4:to restriction=only_left_turn", "skipped"},
		"several to of an entry":  {"w1:from n11:via w2:to w4:to restriction=no_entry", "skipped"},
		"several from of an exit": {"w1:from w3:from n11:via w4:to restriction=no_exit", "skipped"},
		"from an unsplit way":     {"w9:from n23:via w6:to " + noTurn, "skipped"},
		"to an unsplit way":       {"w6:from n23:via w9:to " + noTurn, "skipped"},
		"via an unsplit way":      {"w5:from w6:via w9:to " + noTurn, "skipped"},
		"no via":                  {"w1:from w4:to " + noTurn, "skipped"},
		"two via nodes":           {"w1:from n11:via n12:via w4:to " + noTurn, "skipped"},
		"no to":                   {"w1:from n11:via " + noTurn, "skipped"},
		"no road":                 {"w1:from n11:via w7:to " + noTurn, "skipped"},
		"elsewhere":               {"w1:from n11:via w8:to " + noTurn, "skipped"},
		"unconnected via ways":    {"w1:from w2:via w8:via w6:to " + noTurn, "skipped"},
		"a missing way":           {"w1:from n11:via w99:to " + noTurn, "skipped"},
		"a missing node":          {"w1:from n999:via w2:to " + noTurn, "skipped"},
	} {
		d := read(t, osmtest.Sketch(ways+c.relation+" type=restriction"))
		var got []string
		for _, r := range d.data.Restrictions {
			rule, via := "no", fmt.Sprint(r.ViaWays)
			if r.Only {
				rule = "only"
			}
			if r.ViaNode != network.NoNode {
				via = fmt.Sprint("n", d.id(r.ViaNode))
			}
			got = append(got, fmt.Sprintf("%s %d %s %d %s", rule, r.From, via, r.To, modesOf(r.Modes)))
		}
		if d.counts.SkippedRestrictions == 1 {
			got = append(got, "skipped")
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
