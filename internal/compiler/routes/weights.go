package routes

import (
	"context"
	"errors"
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

// writeWeights writes the matrices of a mode, and where those of its cells begin.
func (b *builder) writeWeights(ctx context.Context, mode region.Modes, cells []routing.Cell) (err error) {
	draft, err := b.w.Draft("ro") // roads and routes
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
	costs := scratch.NewArray[routing.Cost](b.dir, "route-costs")
	defer func() { err = errors.Join(err, costs.Free()) }()
	m, err := routing.CustomizeIn(ctx, o, routing.NewModel(routing.Costs{Profile: mode}), costs.Extend)
	if err != nil {
		return err
	}
	out := b.w.Direct(routing.SectionsOf(mode).Weights, 1)
	var matrix []byte
	for i := range cells[:len(cells)-1] {
		c := &cells[i]
		if out.Len() > math.MaxUint32 {
			return errTooLarge
		}
		c.Weights = uint32(out.Len())
		width := 0
		matrix, width = routing.Pack(matrix[:0], m.Of(i))
		c.Form = routing.NewForm(c.Entries(), width)
		if err := region.Append(out, matrix...); err != nil {
			return err
		}
	}
	return errors.Join(region.Append(out, make([]byte, routing.WeightsEnd)...), out.Close())
}

var errTooLarge = errors.New("the extract has too many roads for routes")
