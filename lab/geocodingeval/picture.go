package geocodingeval

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/lab/dataset"
)

// Draw returns a picture, in SVG, of a hard case in Delaware: a position whose nearest feature is an area that it is
// not in, while the middles of other features are nearer than that area's. The first such position of a fixed sequence
// is taken.
func Draw(ctx context.Context) ([]byte, error) {
	path, err := dataset.Delaware(ctx)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "caddy-maps-picture")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	output := filepath.Join(directory, "delaware.region")
	if _, err := compiler.Build(ctx, compiler.Options{Inputs: []string{path}, Output: output}); err != nil {
		return nil, err
	}
	f, err := region.Open(output)
	if err != nil {
		return nil, err
	}
	defer f.Release()
	s := subject{temporary: directory}
	if s.index, err = geocoding.Open(f); err != nil {
		return nil, err
	}
	if err := s.read(ctx, path); err != nil {
		return nil, err
	}
	defer s.dir.Close()
	at, places, err := s.hardCase(ctx)
	if err != nil {
		return nil, err
	}
	return s.draw(at, places), nil
}

// What makes a case hard, in metres.
const (
	middleFar   = 250.0 // at least, from the position to the middle of the nearest feature
	nearestNear = 60.0  // at most, from the position to that feature
	othersNear  = 180.0 // at most, to the other answers
)

func (s *subject) hardCase(ctx context.Context) (orb.Point, []geocoding.Place, error) {
	byID := map[string]orb.Geometry{}
	for i := range s.features {
		byID[s.features[i].ID] = s.features[i].Geometry
	}
	rng := rand.New(rand.NewPCG(4, 39))
	for range 200_000 {
		at := orb.Point{-75.79 + rng.Float64()*0.4, 38.45 + rng.Float64()*1.39}
		if _, land := country.Lookup(at); !land {
			continue
		}
		places, err := s.ask(ctx, at, geocoding.MaxSize, "")
		if err != nil {
			return at, nil, err
		}
		if len(places) < geocoding.MaxSize || places[0].Distance < 8 || places[0].Distance > nearestNear ||
			places[geocoding.MaxSize-1].Distance > othersNear || places[0].Category == "highway" {
			continue
		}
		area, shop := byID[places[0].ID], 0
		if _, ok := area.(orb.Polygon); !ok || geocodingtest.Haversine(at, area.Bound().Center()) < middleFar {
			continue
		}
		for _, p := range places[1:] {
			if g, ok := byID[p.ID].(orb.Point); ok && geocodingtest.Haversine(at, g) < middleFar/2 {
				shop++
			}
		}
		if shop >= 2 {
			return at, places, nil
		}
	}
	return orb.Point{}, nil, errors.New("no hard case was found")
}

// Size of the picture in pixels, and of what it shows in metres.
const (
	width, height = 760.0, 520.0
	shown         = 640.0
)

// sheet is a picture that grows.
type sheet struct {
	bytes.Buffer
	middle orb.Point
}

func (d *sheet) xy(p orb.Point) (x, y float64) {
	const metresPerDegree = 111_195
	scale := width / shown
	return width/2 + (p[0]-d.middle[0])*metresPerDegree*math.Cos(d.middle[1]*math.Pi/180)*scale,
		height/2 - (p[1]-d.middle[1])*metresPerDegree*scale
}

func (d *sheet) path(lines []orb.LineString, style string) {
	d.WriteString(`<path d="`)
	for _, line := range lines {
		for i, p := range line {
			x, y := d.xy(p)
			fmt.Fprintf(d, "%c%.1f %.1f", "ML"[min(i, 1)], x, y)
		}
	}
	fmt.Fprintf(d, `" %s/>`+"\n", style)
}

func (d *sheet) text(x, y, size float64, style, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" font-size="%g" font-family="Helvetica, Arial, sans-serif" %s>`,
		x, y, size, style)
	_ = xml.EscapeText(d, []byte(text)) // a buffer takes everything
	d.WriteString("</text>\n")
}

func outlines(g orb.Geometry) (lines []orb.LineString) {
	switch g := g.(type) {
	case orb.LineString:
		return []orb.LineString{g}
	case orb.Polygon:
		for _, ring := range g {
			lines = append(lines, orb.LineString(ring))
		}
	case orb.MultiPolygon:
		for _, polygon := range g {
			lines = append(lines, outlines(polygon)...)
		}
	}
	return lines
}

func (s *subject) draw(at orb.Point, places []geocoding.Place) []byte {
	d := &sheet{middle: at}
	const legend = 150.0
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img">`+"\n",
		width, height+legend, width, height+legend)
	fmt.Fprint(d, "<title>The nearest outline is not that of the nearest middle</title>\n")
	fmt.Fprintf(d, `<rect width="%g" height="%g" fill="#ffffff"/>`+"\n", width, height+legend)
	fmt.Fprintf(d, `<svg width="%g" height="%g" overflow="hidden"><rect width="%g" height="%g" fill="#f6f4ef"/>`+"\n",
		width, height, width, height)
	rank := map[string]int{}
	for i, p := range places {
		rank[p.ID] = i + 1
	}
	var answers []*geocodingtest.Feature
	near := orb.Bound{Min: at, Max: at}.Pad(shown / 111_000)
	for i := range s.features {
		f := &s.features[i]
		if f.Silent || !f.Geometry.Bound().Intersects(near) {
			continue
		}
		if rank[f.ID] > 0 {
			answers = append(answers, f)
			continue
		}
		s.feature(d, f, "#d9d4c7", "#bdb6a5", 1.5)
	}
	for _, f := range answers {
		s.feature(d, f, "#cfe2f7", "#1f6fc5", 2.5)
	}
	x, y := d.xy(at)
	for i := len(places) - 1; i >= 0; i-- {
		px, py := d.xy(places[i].Location)
		fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" `, x, y, px, py)
		fmt.Fprint(d, `stroke="#c0392b" stroke-width="1.5" stroke-dasharray="5 4"/>`+"\n")
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="8" fill="#ffffff" stroke="#c0392b" stroke-width="1.5"/>`+"\n", px, py)
		d.text(px, py+4, 11, `text-anchor="middle" fill="#c0392b"`, fmt.Sprint(i+1))
	}
	fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="6" fill="#c0392b"/>`+"\n</svg>\n", x, y)
	d.text(14, height+22, 14, `fill="#222222" font-weight="bold"`, fmt.Sprintf("Asked at %.6f, %.6f", at[1], at[0]))
	for i, p := range places {
		middle := 0.0
		for _, f := range answers {
			if f.ID == p.ID {
				middle = geocodingtest.Haversine(at, f.Geometry.Bound().Center())
			}
		}
		d.text(14, height+44+float64(i)*20, 13, `fill="#333333"`,
			fmt.Sprintf("%d:  %.2f m to %s (%s=%s); %.0f m to its middle",
				i+1, p.Distance, p.DisplayName, p.Category, p.Type, middle))
	}
	d.text(width-14, height+22, 11, `text-anchor="end" fill="#777777"`, "© OpenStreetMap contributors, ODbL")
	d.WriteString("</svg>\n")
	return d.Bytes()
}

func (s *subject) feature(d *sheet, f *geocodingtest.Feature, fill, stroke string, lineWidth float64) {
	switch g := f.Geometry.(type) {
	case orb.Point:
		x, y := d.xy(g)
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", x, y, stroke)
	case orb.LineString:
		d.path(outlines(g), fmt.Sprintf(`fill="none" stroke="%s" stroke-width="%g" stroke-linejoin="round"`,
			stroke, 2*lineWidth))
	default:
		d.path(outlines(g), fmt.Sprintf(`fill="%s" fill-opacity="0.6" fill-rule="evenodd" stroke="%s" stroke-width="%g"`,
			fill, stroke, lineWidth))
	}
}
