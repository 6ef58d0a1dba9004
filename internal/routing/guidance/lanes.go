package guidance

import (
	"bytes"
	"math"
	"math/bits"
	"slices"
)

// signs is the lanes of the last road that was read: edges that follow one another often belong to the same one.
type signs struct {
	road  uint32
	along bool
	known bool
	lanes []Lane
}

// indications are the values of turn:lanes.
var indications = map[string]direction{"reverse": uTurn, "sharp_left": sharpLeft, "left": left,
	"slight_left": slightLeft, "through": straightOn, "slight_right": slightRight, "right": right,
	"sharp_right": sharpRight}

// lanesAt returns the lanes of the road by which the path comes to a junction, nil if they are not known.
func (d *describer) lanesAt(i int) []Lane {
	if d.Mode != Driving || i == 0 {
		return nil
	}
	j := &d.at[i]
	road, along := d.RoadAt(j.from().Arc^1, true)
	if s := &d.signs; !s.known || s.road != road || s.along != along {
		*s = signs{road, along, true, d.readLanes(road, along, !j.from().leaves())}
	}
	if len(d.signs.lanes) == 0 {
		return nil
	}
	lanes := slices.Clone(d.signs.lanes)
	j.allow(lanes)
	return lanes
}

// readLanes reads the lanes of a road in one direction of its way.
func (d *describer) readLanes(road uint32, along, oneWay bool) (lanes []Lane) {
	own := "turn:lanes:backward"
	if along {
		own = "turn:lanes:forward"
	}
	for key, value := range d.RawDetails(road) {
		if string(key) != own && (string(key) != "turn:lanes" || !oneWay) {
			continue
		}
		lanes = lanes[:0]
		for lane := range bytes.SplitSeq(value, []byte("|")) {
			l := Lane{}
			for one := range bytes.SplitSeq(lane, []byte(";")) {
				if direction, ok := indications[string(bytes.TrimSpace(one))]; ok {
					l.Indications = append(l.Indications, directions[direction])
				}
			}
			if l.Indications == nil {
				l.Indications = anywhere
			}
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// anywhere is a lane without arrows.
var anywhere = []string{"none"}

// allow marks the lanes that lead to where the path goes. If there are as many arrows as roads, they belong
// together from left to right; otherwise the one nearest to the direction of the path counts.
func (j *junction) allow(lanes []Lane) {
	var arrows uint16
	for i := range lanes {
		for _, name := range lanes[i].Indications {
			arrows |= 1 << arrowOf(name)
		}
	}
	arrow := uTurn
	if plain := arrows &^ (1 << uTurn); plain != 0 && j.in != j.out {
		roads, before := 0, 0
		for i := range j.roads {
			if r := &j.roads[i]; r.allowed && i != j.in {
				if roads++; r.angle < j.to().angle {
					before++
				}
			}
		}
		if roads == bits.OnesCount16(plain) {
			for range before {
				plain &= plain - 1
			}
			arrow = direction(bits.TrailingZeros16(plain))
		} else {
			arrow = nearest(plain, j.to().angle)
		}
	}
	for i := range lanes {
		lanes[i].Valid = slices.ContainsFunc(lanes[i].Indications, func(s string) bool { return arrowOf(s) == arrow })
	}
}

// arrowOf returns the direction of an indication. A lane without arrows goes straight on.
func arrowOf(name string) direction {
	if i := slices.Index(directions[:], name); i >= 0 {
		return direction(i)
	}
	return straightOn
}

// nearest returns the one of some directions that is nearest to an angle.
func nearest(of uint16, angle float64) (best direction) {
	least := math.Inf(1)
	for i := sharpLeft; i <= sharpRight; i++ {
		if by := math.Abs(float64(i-straightOn)*45 - angle); of>>i&1 == 1 && by < least {
			best, least = i, by
		}
	}
	return best
}
