package routes_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// sections are those that a test reads.
type sections struct {
	file      *region.File
	baseEdges []roadgraph.BaseEdge
	edges     []routing.EdgeInfo
	crossings []routing.Crossing
	leaves    []routing.Leaf
	members   []byte
}

func read[T any](t *testing.T, f *region.File, name string) []T {
	t.Helper()
	v, err := region.Section[T](f, name)
	if err != nil {
		t.Fatal(err)
	}
	return v.All()
}

func readAll(t *testing.T, f *region.File) *sections {
	t.Helper()
	return &sections{f, read[roadgraph.BaseEdge](t, f, roadgraph.BaseEdgesSection),
		read[routing.EdgeInfo](t, f, routing.EdgesSection), read[routing.Crossing](t, f, routing.CrossingsSection),
		read[routing.Leaf](t, f, routing.LeavesSection), read[byte](t, f, routing.MembersSection)}
}

// ends are the leaf cells of a base edge.
func (s *sections) ends(base int) routing.Crossing {
	number := uint32(s.edges[base] & (1<<27 - 1))
	if s.edges[base]>>31 != 0 {
		return s.crossings[number]
	}
	return routing.Crossing{First: number, Last: number}
}

// TestMembers: each base edge is a member of the leaf cells of its ends, in ascending order, and of no other.
func TestMembers(t *testing.T) {
	s := readAll(t, roadgraphtest.DelawareFile(t))
	want := make([][]string, len(s.leaves)-1)
	for base := range s.edges {
		e := s.ends(base)
		for _, leaf := range slices.Compact([]uint32{e.First, e.Last}) {
			want[leaf] = append(want[leaf], fmt.Sprint(base, e.First == leaf, e.Last == leaf))
		}
	}
	for leaf := range want {
		var got []string
		base := uint64(0)
		for text := s.members[s.leaves[leaf].Members:s.leaves[leaf+1].Members]; len(text) > 0; {
			word, n := binary.Uvarint(text)
			text = text[n:]
			base += word >> 2
			got = append(got, fmt.Sprint(base, word&routing.FirstInside != 0, word&routing.LastInside != 0))
		}
		if !slices.Equal(got, want[leaf]) || len(got) == 0 {
			t.Fatalf("leaf cell %d has %v, want %v", leaf, got, want[leaf])
		}
	}
}
