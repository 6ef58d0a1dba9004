package extracttest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// HostileExtract is an extract that was made to take as much time or memory as it can. Most are small; some go just
// as far as the limits of reading let them.
type HostileExtract struct {
	Name string
	// Make makes the file, as large as is worth it for a share of 1, smaller for less.
	Make func(share float64) []byte
}

// HostileExtracts are extracts that were made to take as much time or memory as they can.
var HostileExtracts = []HostileExtract{
	// Blocks that hold, or claim, more than they should.
	{"a way of 31 million nodes", func(float64) []byte {
		return pbf(block(way(1, make([]int64, mostRaw), 1, 2), "highway", "service"))
	}},
	{"ways of 65536 nodes", func(share float64) []byte {
		n := int(30 * share)
		return pbf(block(dense(n*65536, 1, 0, 0, 10, 10)), block(repeat(n, func(i int) Message {
			return way(i+1, counted(i*65536+1, 65536), 1, 2)
		}), "highway", "service"))
	}},
	{"ways of two nodes", func(share float64) []byte {
		n := int(350_000 * share)
		return pbf(block(dense(n+1, 1, 0, 0, 10, 10)), block(repeat(n, func(i int) Message {
			return way(i+1, []int64{int64(i + 1), int64(i + 2)}, 1, 2)
		}), "highway", "service"))
	}},
	{"60 MB of nodes without tags", func(share float64) []byte {
		b := block(dense(int(mostRaw/3*share), 1, 0, 0, 1, 1))
		return pbf(b, b)
	}},
	{"nodes without tags, 300 MB", func(share float64) []byte {
		b := block(dense(int(mostRaw/3*share), 1, 0, 0, 1, 1))
		return pbf(slices.Repeat(b, 10))
	}},
	{"nodes with tags", func(float64) []byte {
		return pbf(block(dense(mostRaw/8, 1, 0, 0, 0, 0, 1, 2, 3, 4), "shop", "bakery", "name", "A"))
	}},
	{"16 million texts", func(float64) []byte {
		return pbf(Block("OSMData", Primitive(bytes.Repeat([]byte{0x0a, 0x00}, mostRaw/2), dense(10, 1, 0, 0, 1, 1)), true))
	}},
	{"a million texts with much to divide", func(share float64) []byte {
		texts := StringTable("", "shop", "bakery", "name", "A", "natural")
		texts = append(texts, bytes.Repeat([]byte{0x0a, 0x00}, 1_000_000)...)
		return pbf(Block("OSMData", Primitive(texts, dense(int(3_000_000*share), 1, 0, 0, 0, 0, 1, 5, 5, 2)), true))
	}},
	{"a relation of 10 million members", func(float64) []byte {
		n := mostRaw / 3
		m := Message(nil).Number(1, 1).Bytes(8, same(n, 0)).Bytes(9, same(n, 1)).Bytes(10, bytes.Repeat([]byte{1}, n))
		return pbf(block(Message(nil).Bytes(4, m)))
	}},
	{"areas of 130000 members", func(share float64) []byte {
		members := make([]relMember, 130_000)
		for i := range members {
			members[i] = relMember{kind: memberWay, id: int64(i)}
		}
		return pbf(block(repeat(int(30*share), func(i int) Message {
			return relation(i, []uint64{1, 2, 3, 4, 5, 6},
				members...)
		}), areaTexts...))
	}},
	{"small blocks", func(share float64) []byte {
		b := Block("OSMData", Primitive(Message(nil).Bytes(1, nil), dense(1, 1, 0, 0, 1, 1)), false)
		return pbf(slices.Repeat(b, int(100_000*share)))
	}},
	{"a header of 30 MB", func(float64) []byte {
		return append(Block("OSMHeader", bytes.Repeat([]byte{0x2a, 0x00}, mostRaw/2), true),
			block(dense(10, 1, 0, 0, 1, 1))...)
	}},

	// Texts and tags.
	{"a text of a megabyte", func(float64) []byte {
		return pbf(block(dense(100_000, 1, 0, 0, 0, 0, 1, 2, 3, 4), "shop", "bakery", "name", strings.Repeat("long ", 1<<18)))
	}},
	{"texts of 60 KB", func(share float64) []byte {
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = fmt.Sprint(i) + strings.Repeat("long ", 12_000)
		}
		tags := []uint64{1, 2, 3, 4}
		for i := range texts {
			tags = append(tags, uint64(i+5), uint64(i+5))
		}
		return pbf(block(dense(int(30_000*share), 1, 0, 0, 0, 0, tags...),
			append([]string{"shop", "bakery", "name", texts[0]}, texts...)...))
	}},
	{"a class for each way", func(share float64) []byte {
		texts := []string{"waterway", "river", "bridge", "tunnel"}
		for i := range 1000 {
			texts = append(texts, fmt.Sprint(i)+strings.Repeat("x", 1000))
		}
		return pbf(block(dense(2, 1, 0, 0, 10, 10)), block(repeat(int(1_000_000*share), func(i int) Message {
			return way(i+1, []int64{1, 2}, 1, 2, 3, uint64(i%1000+5), 4, uint64(i/1000+5))
		}), texts...))
	}},
	{"200000 tags", func(float64) []byte {
		tags := slices.Repeat([]uint64{1, 2}, 200_000)
		return pbf(block(dense(1, 1, 0, 0, 0, 0, tags...), "shop", "bakery"))
	}},
	{"16000 names", func(share float64) []byte {
		var texts []string
		var tags []uint64
		for i := range 8000 {
			texts = append(texts, fmt.Sprintf("name:a%c-%c%c", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26))
			tags = append(tags, uint64(i+1), uint64(i+1))
		}
		tags = append([]uint64{8001, 1, 8002, 1}, tags...)
		return pbf(block(dense(int(1000*share), 1, 0, 0, 0, 0, tags...), append(texts, "name", "shop")...))
	}},
	{"a thousand values", func(share float64) []byte {
		var values []string
		for i := range 300 {
			values = append(values, fmt.Sprint(i))
		}
		texts := []string{"shop", strings.Join(values, ";"), "name", "A", "amenity", "office", "craft", "leisure",
			"historic", "landuse"}
		return pbf(block(dense(int(50_000*share), 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 2, 6, 2, 7, 2, 8, 2, 9, 2, 10, 2), texts...))
	}},

	// Places.
	{"nodes everywhere", func(share float64) []byte {
		var blocks [][]byte
		for row := range int(60 * share) {
			n := 50_000
			lats, lons := make([]int64, n), make([]int64, n)
			for i := range n {
				lats[i], lons[i] = -850000000+int64(row)*28000000+int64(i/4096)*2000000, -1799000000+int64(i%4096)*878000
			}
			blocks = append(blocks, block(placed(int64(row*n+1), lats, lons)))
		}
		return pbf(blocks...)
	}},
	{"large features on many tiles", func(share float64) []byte {
		n := 200_000
		lats, lons := make([]int64, n), make([]int64, n)
		for i := range n {
			lats[i], lons[i] = -600000000+int64(i/4096)*2000000, -1799000000+int64(i%4096)*878000
		}
		ways := repeat(int(50_000*share), func(i int) Message { return way(i+1, []int64{1, int64(n)}, 1, 2, 3, 4) })
		return pbf(block(placed(1, lats, lons)), block(ways, "natural", "ridge", "name", "A"))
	}},
	{"features at one place", func(share float64) []byte {
		return pbf(block(dense(int(130_000*share), 1, 500000000, 80000000, 0, 0, 1, 2, 3, 4), "shop", "bakery", "name", "A"))
	}},
	{"one id again and again", func(share float64) []byte {
		n := int(150_000 * share)
		return pbf(block(dense(n, 1, 0, 0, 100, 100)),
			block(repeat(n, func(int) Message { return way(7, []int64{1, 2, 3}, 1, 2, 3, 4) }),
				"highway", "service", "name", "A"))
	}},
	{"interpolated houses", func(share float64) []byte {
		refs := make([]int64, 65_536)
		for i := range refs {
			refs[i] = int64(i%2 + 1)
		}
		nodes := Message(nil).Bytes(2, Message(nil).Deltas(1, 1, 2).Deltas(8, 0, 100000).Deltas(9, 0, 100000).
			List(10, 1, 2, 0, 1, 3, 0))
		return pbf(block(nodes, "addr:housenumber", "1", "999"),
			block(repeat(int(20*share), func(i int) Message { return way(i+1, refs, 1, 2) }), "addr:interpolation", "all"))
	}},
	{"house numbers up to a billion", func(share float64) []byte {
		nodes := Message(nil).Bytes(2, Message(nil).Deltas(1, 1, 2).Deltas(8, 0, 100000).Deltas(9, 0, 100000).
			List(10, 1, 2, 0, 1, 3, 0))
		return pbf(block(nodes, "addr:housenumber", "1", "1000000000"),
			block(repeat(int(100_000*share), func(i int) Message { return way(i+1, []int64{1, 2}, 1, 2) }),
				"addr:interpolation", "1"))
	}},
	{"across the antimeridian", func(share float64) []byte {
		refs := make([]int64, 65_000)
		for i := range refs {
			refs[i] = int64(i%2 + 1)
		}
		nodes := placed(1, []int64{0, 10}, []int64{1799000000, -1799000000})
		return pbf(block(nodes), block(repeat(int(25*share), func(i int) Message { return way(i+1, refs, 1, 2, 3, 4) }),
			"natural", "ridge", "name", "A"))
	}},

	// Areas.
	{"a star in an area", func(share float64) []byte {
		n := int(100_000 * share)
		return pbf(block(dense(n+1, 1, 0, 0, 100, 100)), block(star(n)), areaOf(n, func(i int) int64 { return int64(i + 1) }))
	}},
	{"rings beside each other", func(share float64) []byte {
		// Thin slivers along a diagonal: the box of each holds those after it, and the ring does not.
		n := int(60_000 * share)
		var lats, lons []int64
		for i := range n {
			east, length := int64(i*40), int64(400_000_000-i*1000)
			lats, lons = append(lats, 0, length, length+10), append(lons, east, length+east, length+east+10)
		}
		ways := repeat(n, func(i int) Message {
			first := int64(3*i + 1)
			return way(i+1, []int64{first, first + 1, first + 2, first})
		})
		return pbf(block(placed(1, lats, lons)), block(ways), areaOf(n, func(i int) int64 { return int64(i + 1) }))
	}},
	{"rings in each other", func(share float64) []byte {
		n := int(40_000 * share)
		var lats, lons []int64
		for i := range n {
			r := int64(400_000_000 - i*5000)
			lats, lons = append(lats, -r, -r, r, r), append(lons, -r, r, r, -r)
		}
		ways := repeat(n, func(i int) Message {
			first := int64(4*i + 1)
			return way(i+1, []int64{first, first + 1, first + 2, first + 3, first})
		})
		return pbf(block(placed(1, lats, lons)), block(ways), areaOf(n, func(i int) int64 { return int64(i + 1) }))
	}},
	{"a comb around many rings", func(share float64) []byte {
		// The teeth reach all latitudes, so that each edge has to be looked at for each ring between them.
		n, teeth := int(20_000*share), 30_000
		var lats, lons []int64
		for i := range teeth {
			lats, lons = append(lats, int64(i%2)*400_000_000), append(lons, int64(i)*20_000)
		}
		lats, lons = append(lats, -1_000_000, -1_000_000), append(lons, int64(teeth)*20_000, 0)
		for i := range n {
			lat, lon := int64(200_000_000), int64(20_000+i*30_000)
			lats, lons = append(lats, lat, lat+10, lat), append(lons, lon, lon, lon+10)
		}
		ways := way(1, append(counted(1, teeth+2), 1))
		ways = append(ways, repeat(n, func(i int) Message {
			first := int64(teeth + 3 + 3*i)
			return way(i+2, []int64{first, first + 1, first + 2, first})
		})...)
		return pbf(block(placed(1, lats, lons)), block(ways), areaOf(n+1, func(i int) int64 { return int64(i + 1) }))
	}},
	{"ways that look alike", func(share float64) []byte {
		// All have as many nodes, the same lowest, the same sum.
		n := int(40_000 * share)
		ways := repeat(n, func(i int) Message { return way(i+1, []int64{1, int64(50_000 - i), int64(50_001 + i), 1}) })
		return pbf(block(dense(100_000, 1, 0, 0, 100, 100)), block(ways),
			areaOf(n, func(i int) int64 { return int64(i + 1) }))
	}},
	{"ways of the same nodes in another order", func(share float64) []byte {
		n := int(40_000 * share)
		ways := repeat(n, func(i int) Message {
			id, refs := i+1, counted(1, 9)
			for k := range refs { // a permutation for each number, of 9! there are
				j := k + i%(len(refs)-k)
				refs[k], refs[j] = refs[j], refs[k]
				i /= len(refs) - k
			}
			return way(id, refs)
		})
		return pbf(block(dense(100, 1, 0, 0, 100, 100)), block(ways), areaOf(n, func(i int) int64 { return int64(i + 1) }))
	}},
	{"one way in many areas", func(share float64) []byte {
		n := 20_000
		areas := repeat(int(20_000*share), func(i int) Message {
			return relation(i+1, []uint64{1, 2, 3, 4, 5, 6}, relMember{kind: memberWay, id: 1})
		})
		return pbf(block(dense(n, 1, 0, 0, 1000, 100)), block(way(1, append(counted(1, n), 1))), block(areas, areaTexts...))
	}},
	{"relations in each other", func(share float64) []byte {
		n := int(100_000 * share)
		relations := repeat(n, func(i int) Message {
			return relation(i+1, []uint64{1, 2, 3, 4, 5, 6}, relMember{kind: memberRelation, id: int64((i+1)%n + 1)},
				relMember{kind: memberRelation, id: int64(i + 1)})
		})
		return pbf(block(dense(10, 1, 0, 0, 100, 100)), block(relations, areaTexts...))
	}},
	{"areas over settlements", func(share float64) []byte {
		n := 10_000
		var lats, lons []int64
		for i := range n { // a comb
			lats, lons = append(lats, int64(i%2)*100_000), append(lons, int64(i)*10)
		}
		ways := repeat(int(150*share), func(i int) Message { return way(i+1, append(counted(1, n), 1), 1, 2, 3, 4, 5, 6) })
		return pbf(block(placed(1, lats, lons)), block(dense(20_000, 100_000, 50_000, 0, 0, 5, 1, 2, 3, 4), "place", "town",
			"name", "A"),
			block(ways, "boundary", "administrative", "name", "A", "admin_level", "8"))
	}},

	// Roads.
	{"a star of roads", func(share float64) []byte {
		n := int(30_000 * share)
		return pbf(block(dense(n+1, 1, 0, 0, 100, 100)), block(star(n, 1, 2), "highway", "service"))
	}},
	{"restrictions over a long way", func(share float64) []byte {
		n := 60_000
		relations := repeat(int(20_000*share), func(i int) Message {
			return relation(i+1, []uint64{1, 2, 2, 3}, relMember{memberWay, 4, 1}, relMember{memberNode, 5, int64(n)},
				relMember{memberWay, 6, 1})
		})
		return pbf(block(dense(n, 1, 0, 0, 1000, 100)), block(way(1, counted(1, n), 1, 2), "highway", "service"),
			block(relations, "type", "restriction", "no_u_turn", "from", "via", "to"))
	}},
	{"restrictions of many members", func(share float64) []byte {
		n := 60_000
		members := []relMember{{memberNode, 5, int64(n)}, {memberWay, 6, 1}}
		for range 60 {
			members = append(members, relMember{memberWay, 4, 1})
		}
		relations := repeat(int(2000*share), func(i int) Message { return relation(i+1, []uint64{1, 2, 2, 3}, members...) })
		return pbf(block(dense(n, 1, 0, 0, 1000, 100)), block(way(1, counted(1, n), 1, 2), "highway", "service"),
			block(relations, "type", "restriction", "no_entry", "from", "via", "to"))
	}},
	{"restrictions at one node", func(share float64) []byte {
		n := 900
		relations := repeat(int(100_000*share), func(i int) Message {
			return relation(i+1, []uint64{1, 2, 2, 3}, relMember{memberWay, 4, int64(i%n + 1)}, relMember{memberNode, 5, 1},
				relMember{memberWay, 6, int64(i/n%n + 1)})
		})
		return pbf(block(dense(n+1, 1, 0, 0, 100, 100)), block(star(n, 1, 2), "highway", "service"),
			block(relations, "type", "restriction", "only_left_turn", "from", "via", "to"))
	}},
	{"restrictions over ways of many crossings", func(share float64) []byte {
		n, crossings := int(5000*share), 30
		ways := way(1, counted(1, crossings), 1, 2)
		ways = append(ways, repeat(crossings, func(i int) Message {
			return way(i+2,
				[]int64{int64(i + 1), int64(i + crossings + 1)}, 1, 2)
		})...)
		ways = append(ways, repeat(n, func(i int) Message {
			return way(crossings+i+2, []int64{1, int64(2*crossings + i + 1)}, 1, 2)
		})...)
		relations := repeat(n, func(i int) Message {
			return relation(i+1, []uint64{1, 2, 2, 3}, relMember{memberWay, 4, int64(crossings + i + 2)},
				relMember{memberWay, 5, 1}, relMember{memberWay, 6, int64(crossings + 1)})
		})
		return pbf(block(dense(2*crossings+n+1, 1, 0, 0, 100, 100)), block(ways, "highway", "service"),
			block(relations, "type", "restriction", "no_left_turn", "from", "via", "to"))
	}},

	// XML.
	{"XML of attributes", func(float64) []byte { return xml(3_000_000, "<node ", `a="" `, "/>") }},
	{"XML of nested elements", func(float64) []byte { return xml(4_000_000, "", "<a>", "") }},
	{"XML of one text", func(float64) []byte { return xml(15<<20, "<node>", "x", "</node>") }},
	{"XML of empty references", func(float64) []byte { return xml(3_000_000, "<way id='1'>", "<nd/>", "</way>") }},
	{"XML of half an element of references", func(share float64) []byte {
		element := "<way id='1'>" + strings.Repeat("<nd/>", 800_000) + "<tag k='highway' v='service'/></way>"
		return zipped(xml(int(10*share), "", element, ""))
	}},
	{"XML of tagged nodes", func(share float64) []byte {
		return zipped(xml(int(2_000_000*share), "", "<node><tag k='a' v='b'/></node>", ""))
	}},
	{"XML of nodes", func(share float64) []byte { return zipped(xml(int(10_000_000*share), "", "<node/>", "")) }},
	{"XML of relations", func(share float64) []byte { return zipped(xml(int(1_000_000*share), "", "<relation/>", "")) }},
	{"XML of members", func(share float64) []byte {
		return zipped(xml(int(1_500_000*share), "<relation>", "<member/>", "</relation>"))
	}},
	{"XML of spaces", func(share float64) []byte { return zipped(xml(int(float64(1<<30)*share), "", " ", "")) }},
	{"bzip2 of 4 GB in 5 KB", func(float64) []byte {
		return append(bytes.Clone(bzip2Head),
			slices.Repeat(bzip2Spaces, 100)...)
	}},
}
