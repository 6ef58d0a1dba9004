package matching_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// strange are values that a trace.Point can hold, though parsers refuse most of them.
var strange = []float64{
	0, math.NaN(), math.Inf(1), math.Inf(-1), 90, -90, 180, -180, 179.9999999, -179.9999999, 89.9999999, 91, 360, 1e-300,
	math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, math.Copysign(0, -1),
}

// decode makes a request of bytes: one with its options, then for each point its kind and two numbers of 16 bits, places
// in the town in quarters of a metre or indexes of strange values.
func decode(data []byte) *matching.Request {
	if len(data) == 0 {
		return &matching.Request{}
	}
	how := data[0]
	req := &matching.Request{
		Details:   how&1 != 0,
		Radius:    []float64{0, 1, 50, 1000}[how>>1&3],
		MaxRadius: []float64{0, 5, 60, 400}[how>>3&3],
	}
	if how&32 != 0 {
		req.Radius = strange[int(how>>6)+1]
	}
	for data = data[1:]; len(data) >= 5 && len(req.Points) < 60; data = data[5:] {
		a, b := binary.LittleEndian.Uint16(data[1:]), binary.LittleEndian.Uint16(data[3:])
		p := at(float64(int16(a))/4, float64(int16(b))/4)
		odd := func(n uint16) float64 { return strange[int(n)%len(strange)] }
		switch data[0] & 7 {
		case 1:
			p = trace.At(odd(a), odd(b))
		case 2:
			p.Location[0] = odd(b)
		case 3:
			p.Accuracy, p.Time = odd(a), odd(b)
		case 4:
			p.Accuracy = float64(data[0])
		case 5:
			p = trace.At(float64(int16(a))/math.MaxInt16*90, float64(int16(b))/math.MaxInt16*180)
		}
		req.Points = append(req.Points, p)
	}
	return req
}

// encode is the reverse of decode for places in the town.
func encode(how byte, xy ...float64) []byte {
	data := []byte{how}
	for i := 0; i+1 < len(xy); i += 2 {
		data = append(data, 0)
		data = binary.LittleEndian.AppendUint16(data, uint16(int16(4*xy[i])))
		data = binary.LittleEndian.AppendUint16(data, uint16(int16(4*xy[i+1])))
	}
	return data
}

// FuzzMatch: any points give a drive, or one of the errors of a Matcher.
func FuzzMatch(f *testing.F) {
	f.Add(encode(1, -150, 3, -60, -3, 2, 60, -3, 150))
	f.Add(encode(1, -150, 0, -50, 0, 0, 50, 0, 196, 0, 60, 50, 0, 150, 0))
	f.Add(encode(0, 10, 10, 10, 10, 10, 10))
	f.Add(encode(9, -150, 3, 700, 700, 710, 700, 20, 5))
	f.Add(encode(25, 640, 600, 700, 700, 710, 700, 20, 5))
	for i := range strange {
		seed := encode(1, -150, 3, -60, -3, 2, 60, -3, 150)
		for kind := range byte(3) {
			odd := slices.Clone(seed)
			odd[6], odd[7], odd[9] = kind+1, byte(i), byte(i)
			f.Add(odd)
			odd = slices.Clone(odd)
			odd[0], odd[1], odd[2], odd[4] = 35, kind+1, byte(i), 4
			f.Add(odd)
		}
	}
	var town roadgraphtest.Town
	cross(&town)
	town.OneWay("short cut", 1, town.Node(-150, 150), 3)
	town.Street("island", 600, 600, 800, 750)
	forbidTurn(&town, "west", "south")
	g := town.Open(f)
	m := matching.New(g, matching.Options{MaxWork: 100_000})
	f.Fuzz(func(t *testing.T, data []byte) {
		req := decode(data)
		r, err := m.Match(context.Background(), req)
		var input *trace.InputError
		switch {
		case err == nil:
			if finite(req) {
				if _, err := check(g, req, r); err != nil {
					t.Error(err)
				}
			} else if _, err := retrace(g, r.Path); err != nil || !(r.Distance >= 0) {
				t.Errorf("a path of %v m: %v", r.Distance, err)
			}
		case r != nil:
			t.Errorf("there are both an answer, %+v, and an error, %v", r, err)
		case !errors.Is(err, matching.ErrNoRoute) && !errors.Is(err, matching.ErrWork) && !errors.As(err, &input):
			t.Errorf("an error that no Matcher has: %v", err)
		}
	})
}

// finite reports whether all points of a request are on the globe.
func finite(req *matching.Request) bool {
	return !slices.ContainsFunc(req.Points, func(p trace.Point) bool {
		return !(math.Abs(p.Location.Lat()) <= 90 && math.Abs(p.Location.Lon()) <= 180)
	})
}
