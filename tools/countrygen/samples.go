package main

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

const (
	samplesAnywhere   = 10_000
	samplesNearBorder = 20_000
	// nearBorder is how far from a vertex of some outline a sample near a border lies at most, in degrees of latitude: 20
	// km.
	nearBorder = 20.0 / 111.2
)

// drawSamples draws positions, first anywhere on the sphere, then near borders and coasts, and finds the country of
// each in the full polygons. A sample is longitude and latitude in millionths of a degree (int32 each, little-endian)
// and the country's position plus one (one byte), 0 for none.
func drawSamples(territories []territory) []byte {
	random := rand.New(rand.NewPCG(1, 10))
	var vertices []orb.Point
	for _, t := range territories {
		for _, polygon := range t.polygons {
			for _, ring := range polygon {
				vertices = append(vertices, ring...)
			}
		}
	}
	all := boundedPolygons(territories)
	var data []byte
	for i := range samplesAnywhere + samplesNearBorder {
		lon := random.Float64()*360 - 180
		lat := math.Asin(random.Float64()*2-1) * 180 / math.Pi
		if i >= samplesAnywhere {
			v := vertices[random.IntN(len(vertices))]
			angle, distance := random.Float64()*2*math.Pi, random.Float64()*nearBorder
			lat = min(90, max(-90, v.Lat()+distance*math.Sin(angle)))
			lon = v.Lon() + distance*math.Cos(angle)/math.Max(0.01, math.Cos(v.Lat()*math.Pi/180))
			lon = math.Remainder(lon, 360)
		}
		x, y := int32(math.Round(lon*1e6)), int32(math.Round(lat*1e6))
		data = binary.LittleEndian.AppendUint32(data, uint32(x))
		data = binary.LittleEndian.AppendUint32(data, uint32(y))
		data = append(data, byte(bruteForce(all, orb.Point{float64(x) / 1e6, float64(y) / 1e6})))
	}
	return data
}

// bounded is a polygon of a territory with its bounds, which cost a walk along the whole polygon.
type bounded struct {
	number  int // the territory's position, plus one
	polygon orb.Polygon
	bound   orb.Bound
}

// boundedPolygons lists all polygons, first those that go over others.
func boundedPolygons(territories []territory) []bounded {
	var over, under []bounded
	for i, t := range territories {
		for _, polygon := range t.polygons {
			if b := (bounded{i + 1, polygon, polygon.Bound()}); t.over {
				over = append(over, b)
			} else {
				under = append(under, b)
			}
		}
	}
	return append(over, under...)
}

// bruteForce returns the number of the first polygon that contains a point, or 0.
func bruteForce(all []bounded, p orb.Point) int {
	for _, b := range all {
		if b.bound.Contains(p) && planar.PolygonContains(b.polygon, p) {
			return b.number
		}
	}
	return 0
}
