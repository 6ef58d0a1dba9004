package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/lab/cases"
	"github.com/mapsedge/caddy-maps/lab/drives"
	"github.com/mapsedge/caddy-maps/lab/geocodingeval"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
	"github.com/mapsedge/caddy-maps/lab/picture"
)

// pictureReach is half the width of what a picture shows, in metres.
const pictureReach = 260

// drawCases finds hard cases, matches them without a radius, and draws them, beside one of reverse geocoding.
func drawCases(ctx context.Context, s settings, extract, scratch string) error {
	if err := os.MkdirAll(s.pictures, 0o755); err != nil {
		return err
	}
	svg, err := geocodingeval.Draw(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.pictures, "geocoding-outline.svg"), svg, 0o644); err != nil {
		return err
	}
	return on(ctx, place{settings: s, name: delaware, scratch: scratch}, extract, (*place).drawCases)
}

func (p *place) drawCases(ctx context.Context) error {
	found, err := cases.Find(p.network.Graph, p.seed)
	if err != nil {
		return err
	}
	for _, c := range found {
		result, err := p.matcher.Match(ctx, &matching.Request{Points: drives.Points(c.Trace), Details: true})
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		m := mismatch.Of(c.Truth, result.Path)
		drawn := picture.Match{Title: c.Title, Graph: p.network.Graph, Center: c.Center, Reach: pictureReach, Trace: c.Trace,
			Truth: c.Truth, Result: result,
			Caption: fmt.Sprintf("%s; %d positions, σ %.0f m, one each %.0f s. "+
				"Missed %.0f m, added %.0f m of %.1f km; confidence %.2f",
				p.name, len(c.Trace), c.Sigma, c.Interval, m.Missed, m.Added, m.Truth/1000, result.Confidence)}
		path := filepath.Join(p.pictures, "match-"+c.Name+".svg")
		if err := os.WriteFile(path, drawn.Draw(), 0o644); err != nil {
			return err
		}
		fmt.Printf("%s: missed %.0f m, added %.0f m of %.0f m\n", path, m.Missed, m.Added, m.Truth)
	}
	return nil
}
