package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

// compareMaps compares the tiles of both regions, from archives that the builds write.
func compareMaps(ctx context.Context, s *settings, r *regions, scratch string) (comparison, error) {
	var archives [2]*tilestest.PMTiles
	for i, by := range []side{r.old, r.new} {
		path := filepath.Join(scratch, by.name+".pmtiles")
		cmd := exec.CommandContext(ctx, by.binary, "maps", "tiles", by.region, "--output", path,
			"--max-zoom", strconv.Itoa(s.zoom))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return comparison{}, fmt.Errorf("%s: %w: %s", cmd, err, out)
		}
		if archives[i], err = tilestest.ReadPMTilesFile(path); err != nil {
			return comparison{}, fmt.Errorf("the archive of %s: %w", by.name, err)
		}
	}
	return compareTiles(ctx, archives[0].Tiles, archives[1].Tiles)
}

// compareTiles compares all tiles feature by feature. A tile that is in only one archive is compared with an empty
// one.
func compareTiles(ctx context.Context, before, now map[tilestest.Tile][]byte) (comparison, error) {
	places := slices.Collect(maps.Keys(before))
	for at := range now {
		if _, seen := before[at]; !seen {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, func(a, b tilestest.Tile) int {
		return cmp.Or(cmp.Compare(a.Z, b.Z), cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y))
	})
	type difference struct {
		bytes    bool
		features []string
	}
	found := make([]difference, len(places))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, at := range places {
		if string(before[at]) == string(now[at]) {
			continue
		}
		group.Go(func() (err error) {
			found[i].bytes = true
			found[i].features, err = compareTile(before[at], now[at])
			if err != nil {
				err = fmt.Errorf("tile %d/%d/%d: %w", at.Z, at.X, at.Y, err)
			}
			return cmp.Or(err, ctx.Err())
		})
	}
	err := group.Wait()
	c := comparison{kind: "tiles", compared: len(places)}
	otherBytes, features := 0, 0
	for i, at := range places {
		if found[i].bytes {
			otherBytes++
		}
		features += len(found[i].features)
		if d := found[i].features; len(d) > 0 {
			text := fmt.Sprintf("%d/%d/%d: %d features", at.Z, at.X, at.Y, len(d))
			for _, line := range d[:min(len(d), mostLines)] {
				text += "\n    " + line
			}
			c.different = append(c.different, text)
		}
	}
	c.note = fmt.Sprintf(", by %d features; %d tiles have other bytes", features, otherBytes)
	return c, err
}

// compareTile reports each feature that is in only one of two tiles.
func compareTile(before, now []byte) (different []string, err error) {
	count := map[string]int{}
	for i, data := range [][]byte{before, now} {
		features, err := featuresOf(data)
		if err != nil {
			return nil, err
		}
		for _, f := range features {
			count[f] += 1 - 2*i
		}
	}
	for feature, n := range count {
		name := "OLD"
		if n < 0 {
			name = "NEW"
		}
		for range max(n, -n) {
			different = append(different, fmt.Sprintf("only in %s: %.300s", name, feature))
		}
	}
	slices.Sort(different)
	return different, nil
}

// featuresOf writes each feature of a tile as its layer, attributes and geometry. What is drawn counts: of a feature
// with several lines, areas or points each is one here, and a ring begins at its least point.
func featuresOf(tile []byte) (features []string, err error) {
	layers, err := unmarshal(tile)
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		for _, f := range layer.Features {
			attributes, err := json.Marshal(f.Properties) // in the order of their keys
			if err != nil {
				return nil, err
			}
			for _, g := range parts(f.Geometry) {
				features = append(features, fmt.Sprintf("%s %s %s %v", layer.Name, attributes, g.GeoJSONType(), g))
			}
		}
	}
	return features, nil
}

// unmarshal reads a tile, which archives have zipped.
func unmarshal(tile []byte) (mvt.Layers, error) {
	if len(tile) == 0 {
		return nil, nil
	}
	return mvt.UnmarshalGzipped(tile)
}

// parts are the points, lines and areas of a geometry.
func parts(g orb.Geometry) (all []orb.Geometry) {
	switch g := g.(type) {
	case orb.MultiPoint:
		for _, p := range g {
			all = append(all, p)
		}
		return all
	case orb.MultiLineString:
		for _, line := range g {
			all = append(all, line)
		}
		return all
	case orb.MultiPolygon:
		for _, area := range g {
			all = append(all, normalized(area))
		}
		return all
	case orb.Polygon:
		return []orb.Geometry{normalized(g)}
	}
	return []orb.Geometry{g}
}

// normalized is an area whose rings begin at their least points, and whose holes are in order.
func normalized(area orb.Polygon) orb.Polygon {
	n := make(orb.Polygon, len(area))
	for i, ring := range area {
		n[i] = rotated(ring)
	}
	if len(n) > 1 {
		slices.SortFunc(n[1:], func(a, b orb.Ring) int { return slices.CompareFunc(a, b, comparePoints) })
	}
	return n
}

func rotated(ring orb.Ring) orb.Ring {
	if len(ring) < 2 || ring[0] != ring[len(ring)-1] {
		return ring
	}
	open := ring[:len(ring)-1]
	best := slices.Clone(open)
	for first := range open {
		if comparePoints(open[first], best[0]) > 0 {
			continue
		}
		turned := append(slices.Clone(open[first:]), open[:first]...)
		if slices.CompareFunc(turned, best, comparePoints) < 0 { // a point may be in it twice
			best = turned
		}
	}
	return append(best, best[0])
}

func comparePoints(a, b orb.Point) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
}
