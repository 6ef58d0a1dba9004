package routing

import "testing"
import "github.com/mapsedge/caddy-maps/internal/region"

func Debug(t *testing.T, f *region.File, mode region.Modes) {
	m := customized(t, f, mode)
	t.Log("leaves", m.NumLeaves(), "boundary", m.boundary.Len(), m.first)
	for l := range Levels {
		bad, inf, all := 0, 0, 0
		for c := m.first[l]; c < m.first[l+1]; c++ {
			b := m.borderOf(c)
			for i, e := range b.entries {
				if i > 0 && b.entries[i-1] >= e { bad++ }
				a := m.boundary.At(int(e))
				if m.cellOf(l, a.To) != c || m.cellOf(l, a.From) == c { bad++ }
			}
			for i, e := range b.exits {
				if i > 0 && b.exits[i-1] >= e { bad++ }
				a := m.boundary.At(int(e))
				if m.cellOf(l, a.From) != c || m.cellOf(l, a.To) == c { bad++ }
			}
			for _, w := range m.matrices.(fullMatrices).Of(c) { all++; if w == noWay { inf++ } }
		}
		t.Log(l, "bad", bad, "inf", inf, "of", all)
	}
}
