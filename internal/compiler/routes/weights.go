package routes

import (
	"context"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

// writeWeights writes the matrices of a mode, and where those of its cells begin.
func (b *builder) writeWeights(ctx context.Context, mode region.Modes, cells []routing.Cell) error {
	draft, err := b.w.Draft("ro")
	if err != nil {
		return err
	}
	defer draft.Release()
	g, err := roadgraph.OpenMode(draft, mode)
	if err != nil {
		return err
	}
	o, err := routing.OpenOverlay(draft, g, mode)
	if err != nil {
		return err
	}
	m, err := routing.Customize(ctx, o, routing.NewModel(routing.Costs{Profile: mode}))
	if err != nil {
		return err
	}
	out := b.w.Direct(routing.SectionsOf(mode).Weights, sizeOf[uint16]())
	var words []uint16
	for i := range cells {
		c := &cells[i]
		c.Weights = uint64(out.Len() / 2)
		if i == len(cells)-1 {
			break
		}
		isWide := false
		if words, isWide = routing.Pack(words[:0], m.Of(i)); isWide {
			c.Wide = 1
		}
		if err := region.Append(out, words...); err != nil {
			return err
		}
	}
	return out.Close()
}
