package roadgraphtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// City is a grid of streets for cars and paths for others, with one-ways, gaps, closed nodes and restrictions over
// ways.
func City(seed uint64, size int) *Town {
	random := rand.New(rand.NewPCG(seed, 1))
	var town Town
	var nodes []uint32
	for i := range size * size {
		nodes = append(nodes, town.Node(float64(i%size)*100+random.Float64()*30, float64(i/size)*100+random.Float64()*30))
		if random.IntN(30) == 0 {
			town.Data.Nodes[i].Barrier = region.Car
		}
	}
	join := func(a, b int) {
		if random.IntN(10) == 0 {
			return
		}
		r := town.Road(fmt.Sprint(random.IntN(5)), nodes[a], nodes[b])
		switch random.IntN(8) {
		case 0:
			r.Backward = region.Foot
		case 1:
			r.Forward, r.Backward = region.Foot, region.Foot
		case 2:
			r.Forward &^= region.Foot
		}
	}
	for i := range nodes {
		if i%size != size-1 {
			join(i, i+1)
		}
		if i+size < len(nodes) {
			join(i, i+size)
		}
	}
	roads, from := town.Data.Roads, map[uint32][]int{} // by their first node
	for i := range roads {
		from[roads[i].Nodes[0]] = append(from[roads[i].Nodes[0]], i)
	}
	for i := range roads {
		for _, k := range from[roads[i].Nodes[1]] {
			for _, l := range from[roads[k].Nodes[1]] {
				if random.IntN(3) == 0 {
					town.Data.Restrictions = append(town.Data.Restrictions, Restriction{From: roads[i].Way,
						ViaNode: NoNode, ViaWays: []int64{roads[k].Way}, To: roads[l].Way,
						Modes: region.Car | region.Bicycle})
				}
			}
		}
	}
	return &town
}
