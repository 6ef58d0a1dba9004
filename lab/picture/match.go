package picture

import (
	"fmt"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Match is a picture of a part of a map, with a trace, what was made of it, and the truth.
type Match struct {
	Title, Caption string
	Graph          *roadgraph.Graph
	Center         orb.Point
	Reach          float64 // metres from the centre to the left and right edges
	Trace, Truth   orb.LineString
	Result         *matching.Result // with details
}

// Size of a map, in pixels.
const (
	mapWidth  = 760.0
	mapHeight = 480.0
	mapTop    = 56.0
	mapBottom = 52.0
)

// Colours and strokes of what is drawn.
const (
	styleMatch = `stroke="#1f6fc5" stroke-width="7" stroke-opacity="0.55" stroke-linejoin="round" stroke-linecap="round"`
	styleTruth = `stroke="#0b3d1f" stroke-width="1.6" stroke-dasharray="6 4"`
	styleTrace = `stroke="#d1382c" stroke-width="0.7" stroke-opacity="0.45"`
	styleSnap  = `stroke="#d1382c" stroke-width="1" stroke-dasharray="2 2"`
	stylePoint = `fill="#d1382c" stroke="#ffffff" stroke-width="0.8"`
	styleOut   = `fill="#ffffff" stroke="#d1382c" stroke-width="1.8"`
)

// Draw makes the picture.
func (m *Match) Draw() []byte {
	c := canvas{
		document: newDocument(mapWidth, mapTop+mapHeight+mapBottom, m.Title),
		Match:    m,
		scale:    mapWidth / 2 / m.Reach,
	}
	c.text(16, 24, 17, "start", "#222222", m.Title)
	c.text(16, 44, 12.5, "start", "#555555", m.Caption)
	fmt.Fprintf(&c.body, `<svg x="0" y="%s" width="%s" height="%s" overflow="hidden">`+"\n",
		number(mapTop), number(mapWidth), number(mapHeight))
	c.rectangle(0, 0, mapWidth, mapHeight, `fill="#f6f4ef"`)
	c.roads()
	c.along(m.Result.Path, styleMatch)
	c.along(m.Truth, styleTruth)
	c.positions()
	c.bar()
	fmt.Fprintln(&c.body, "</svg>")
	c.legend()
	return c.end()
}

// canvas is a picture in the making; its map has the origin at the upper left.
type canvas struct {
	*document
	*Match
	scale float64 // pixels in a metre
}

// xy is the place of a position on the map.
func (c *canvas) xy(p orb.Point) (x, y float64) {
	const degree = geo.EarthRadius * math.Pi / 180
	east := (p.Lon() - c.Center.Lon()) * degree * math.Cos(c.Center.Lat()*math.Pi/180)
	north := (p.Lat() - c.Center.Lat()) * degree
	return mapWidth/2 + east*c.scale, mapHeight/2 - north*c.scale
}

// margin is how far beyond the edges things are still drawn, in pixels.
const margin = 60.0

func inside(x, y float64) bool {
	return x > -margin && x < mapWidth+margin && y > -margin && y < mapHeight+margin
}

// along draws those parts of a line that are on the map.
func (c *canvas) along(line orb.LineString, style string) {
	var run []float64
	for i := 1; i < len(line); i++ {
		ax, ay := c.xy(line[i-1])
		bx, by := c.xy(line[i])
		if max(ax, bx) < -margin || min(ax, bx) > mapWidth+margin || max(ay, by) < -margin || min(ay, by) > mapHeight+margin {
			c.line(style, run...)
			run = nil
			continue
		}
		if run == nil {
			run = []float64{ax, ay}
		}
		run = append(run, bx, by)
	}
	c.line(style, run...)
}

// roads draws the roads: all their edges first, so that they join at junctions, and arrows on one-way streets last.
func (c *canvas) roads() {
	hits := c.Graph.Near(c.Center.Lat(), c.Center.Lon(), math.Hypot(mapWidth, mapHeight)/2/c.scale, nil)
	for _, layer := range []struct {
		colour string
		wider  float64
	}{{"#c9c4b8", 2}, {"#ffffff", 0}} {
		for _, h := range hits {
			width := widthOf(c.Graph.Edge(h.Edge).Class) + layer.wider
			c.along(c.shape(h.Edge), fmt.Sprintf(
				`stroke="%s" stroke-width="%s" stroke-linecap="round" stroke-linejoin="round"`, layer.colour, number(width)))
		}
	}
	for _, h := range hits {
		c.arrow(h.Edge)
	}
}

func (c *canvas) shape(edge uint32) orb.LineString {
	var line orb.LineString
	for _, p := range c.Graph.Shape(edge, nil) {
		line = append(line, p.Location())
	}
	return line
}

// widthOf is how broad a road is drawn, in pixels.
func widthOf(class region.RoadClass) float64 {
	switch {
	case class <= region.Trunk:
		return 11
	case class <= region.Secondary:
		return 9
	case class <= region.LivingStreet:
		return 7
	}
	return 4
}

// arrow shows the direction of a one-way street at its middle.
func (c *canvas) arrow(edge uint32) {
	s := c.Graph.Edge(edge)
	if s.Flags.Has(roadgraph.Forward) == s.Flags.Has(roadgraph.Backward) {
		return
	}
	middle := float64(s.Length) / 2000
	ax, ay := c.xy(c.Graph.At(edge, middle-1))
	bx, by := c.xy(c.Graph.At(edge, middle+1))
	if !s.Flags.Has(roadgraph.Forward) {
		ax, ay, bx, by = bx, by, ax, ay
	}
	length := math.Hypot(bx-ax, by-ay)
	if length == 0 || float64(s.Length)/1000*c.scale < 14 || !inside(ax, ay) {
		return
	}
	ux, uy := (bx-ax)/length, (by-ay)/length
	x, y := (ax+bx)/2, (ay+by)/2
	const size = 3.5
	c.line(`stroke="#8a8577" stroke-width="1.3"`,
		x-size*(ux-uy), y-size*(uy+ux), x+size*ux, y+size*uy, x-size*(ux+uy), y-size*(uy-ux))
}

// positions draws the trace: its positions, how they follow one another, and where on the road each was put.
func (c *canvas) positions() {
	c.along(c.Trace, styleTrace)
	for i, p := range c.Trace {
		x, y := c.xy(p)
		if t := c.Result.Tracepoints[i]; t.Matched && inside(x, y) {
			onX, onY := c.xy(t.Location)
			c.line(styleSnap, x, y, onX, onY)
		}
	}
	for i, p := range c.Trace {
		if x, y := c.xy(p); inside(x, y) {
			if c.Result.Tracepoints[i].Matched {
				c.circle(x, y, 3.4, stylePoint)
			} else {
				c.circle(x, y, 4.2, styleOut)
			}
		}
	}
}

// bar draws a scale bar.
func (c *canvas) bar() {
	metres := 20.0
	for _, m := range []float64{50, 100, 200} {
		if m*c.scale <= 140 {
			metres = m
		}
	}
	x, y := mapWidth-16-metres*c.scale, mapHeight-16
	c.line(`stroke="#333333" stroke-width="1.5"`, x, y-4, x, y, mapWidth-16, y, mapWidth-16, y-4)
	c.text(x+metres*c.scale/2, y-6, 11, "middle", "#333333", fmt.Sprintf("%.0f m", metres))
}

// legend names what is drawn, and whose map it is.
func (c *canvas) legend() {
	y := mapTop + mapHeight + 20
	c.circle(22, y-4, 3.4, stylePoint)
	c.text(32, y, 12, "start", "#333333", "position")
	c.circle(106, y-4, 4.2, styleOut)
	c.text(116, y, 12, "start", "#333333", "left out")
	c.line(styleSnap, 182, y-4, 206, y-4)
	c.text(212, y, 12, "start", "#333333", "to its place on the road")
	c.line(styleMatch, 372, y-4, 398, y-4)
	c.text(406, y, 12, "start", "#333333", "match")
	c.line(styleTruth, 460, y-4, 490, y-4)
	c.text(497, y, 12, "start", "#333333", "truth")
	c.text(mapWidth-16, y+20, 11, "end", "#777777", "Map data © OpenStreetMap contributors")
}
