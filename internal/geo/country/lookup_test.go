package country

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
)

// at is a position as it is usually written, latitude first.
func at(lat, lon float64) orb.Point { return orb.Point{lon, lat} }

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		name string
		p    orb.Point
		want string // "" for none
	}{
		// Enclaves, and what surrounds them.
		{"Lesotho inside South Africa", at(-29.6, 28.2), "LSO"}, {"Bethlehem, west of Lesotho", at(-28.23, 28.31), "ZAF"},
		{"San Marino", at(43.936, 12.45), "SMR"}, {"Rimini, outside San Marino", at(44.0, 12.54), "ITA"},
		{"St Peter's Square", at(41.9023, 12.4570), "VAT"}, {"Rome, a kilometre east of it", at(41.9023, 12.4700), "ITA"},
		{"Monaco", at(43.7396, 7.4276), "MCO"}, {"Beausoleil", at(43.7440, 7.4225), "FRA"},
		{"Èze, outside Monaco", at(43.7280, 7.3617), "FRA"}, {"Llívia's surroundings", at(42.43, 2.0), "FRA"},
		{"Gambia inside Senegal", at(13.45, -15.5), "GMB"}, {"Kaliningrad", at(54.71, 20.51), "RUS"},
		{"Nakhchivan", at(39.21, 45.41), "AZE"}, {"Cabinda", at(-5.2, 12.4), "AGO"}, {"Musandam", at(26.1, 56.3), "OMN"},

		// Both sides of borders.
		{"Blaine, south of the 49th parallel", at(48.98, -122.7), "USA"}, {"Surrey, north of it", at(49.03, -122.7), "CAN"},
		{"on the prairie, 500 m south of it", at(48.9955, -105.3), "USA"},
		{"on the prairie, 500 m north of it", at(49.0045, -105.3), "CAN"}, {"Strasbourg", at(48.58, 7.745), "FRA"},
		{"Kehl", at(48.57, 7.83), "DEU"},

		// Delaware.
		{"Wilmington", at(39.7447, -75.5484), "USA"},

		// What Natural Earth names otherwise.
		{"Hargeisa", at(9.56, 44.065), "SOM"}, {"Kyrenia", at(35.33, 33.32), "CYP"},
		{"Nicosia's buffer zone", at(35.16, 33.1), "CYP"}, {"Akrotiri", at(34.6, 32.95), "GBR"},
		{"Guantanamo Bay", at(19.93, -75.13), "CUB"}, {"Baikonur", at(45.96, 63.3), "KAZ"}, {"Simferopol", at(44.95, 34.1), "UKR"},
		{"Laayoune", at(27.15, -13.2), "ESH"}, {"Bir Tawil", at(21.87, 33.75), "EGY"}, {"Siachen Glacier", at(35.4, 77.1), "IND"},

		// Territories with a code of their own.
		{"Cayenne", at(4.92, -52.31), "GUF"}, {"Fort-de-France", at(14.64, -61.04), "MTQ"}, {"Jan Mayen", at(71.0, -8.4), "SJM"},
		{"Bouvet", at(-54.42, 3.38), "BVT"}, {"Christmas Island", at(-10.49, 105.63), "CXR"},
		{"Hong Kong", at(22.38, 114.13), "HKG"}, {"Kowloon's neighbour Shenzhen", at(22.6, 114.06), "CHN"},
		{"San Juan", at(18.38, -66.06), "PRI"}, {"Gibraltar", at(36.135, -5.348), "GIB"},
		{"the airfield of Gibraltar", at(36.1512, -5.3497), "GIB"}, {"La Línea", at(36.1650, -5.3480), "ESP"},

		// The antimeridian.
		{"Chukotka, east of it", at(66.5, -177), "RUS"}, {"Chukotka, west of it", at(66.5, 177), "RUS"},
		{"Wrangel at 180", at(71.2, 180), "RUS"}, {"Wrangel at -180", at(71.2, -180), "RUS"},
		{"Taveuni at 180", at(-16.9, 180), "FJI"}, {"Taveuni at -180", at(-16.9, -180), "FJI"},
		{"Antarctica at 180", at(-85, 180), "ATA"},

		// The poles.
		{"South Pole", at(-90, 0), "ATA"}, {"South Pole from 180", at(-90, 180), "ATA"}, {"North Pole", at(90, 0), ""},
		{"North Pole from 180", at(90, 180), ""},

		// Sea and lakes.
		{"Gulf of Guinea", at(0, 0), ""}, {"Pacific", at(-40, -120), ""}, {"Caspian Sea", at(42, 50.5), ""},
		{"Lake Superior, Canada", at(48.3, -87), "CAN"},

		// No positions.
		{"NaN", orb.Point{math.NaN(), 10}, ""}, {"NaN latitude", orb.Point{10, math.NaN()}, ""},
		{"infinite", orb.Point{math.Inf(1), math.Inf(-1)}, ""}, {"longitude out of range", orb.Point{180.001, 66.5}, ""},
		{"latitude out of range", orb.Point{0, -90.001}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := Lookup(test.p)
			if got.Code != test.want || ok != (test.want != "") {
				t.Errorf("Lookup(%v) = %q, %v; want %q", test.p, got.Code, ok, test.want)
			}
		})
	}
}

// TestLookupEverywhereInAntarctica walks parallels that run on land all around the globe: no seam of the grid shows.
func TestLookupEverywhereInAntarctica(t *testing.T) {
	for _, lat := range []float64{-90, -89.9999, -88.59375, -87.1875, -86} {
		for lon := -180.0; lon <= 180; lon += 0.05 {
			if got, _ := Lookup(at(lat, lon)); got.Code != "ATA" {
				t.Fatalf("Lookup at latitude %v, longitude %v = %q, want ATA", lat, lon, got.Code)
			}
		}
	}
}

// TestNoGapsOnLand walks lines that cross many land borders and never the sea: rounding may move a border but must not
// open a gap between neighbours.
func TestNoGapsOnLand(t *testing.T) {
	for _, line := range []struct {
		from, to  orb.Point
		countries int
	}{
		{at(48.8, 2.3), at(55.7, 37.6), 6},   // Paris to Moscow
		{at(-33.5, 20), at(14, 22), 5},       // the Karoo to Chad
		{at(-15, -47.9), at(-30, -66), 3},    // Brasília to the pampas
		{at(30, 31), at(39, 71), 5},          // Cairo to Tajikistan
		{at(47, 8.5), at(47, 26), 4},         // along the 47th parallel
		{at(49.1, -97.2), at(48.9, -120), 2}, // across the 49th parallel, nearly along it
		{at(52, 103), at(22, 103), 3},        // Irkutsk to Vietnam
		{at(46.9, 9.45), at(47.4, 9.70), 2},  // the Rhine in Liechtenstein
		{at(42.4, 20.0), at(42.4, 22.6), 3},  // across Kosovo
		{at(-29.5, 25), at(-29.5, 30.5), 2},  // across Lesotho
		{at(12.3, -15), at(13.9, -14.5), 3},  // across the Casamance and the Gambia
		{at(12.5, -3), at(12.5, 13.5), 3},    // Sahel
		{at(37.2, 36.5), at(37.0, 46.0), 3},  // along Turkey's southern border
		{at(43.9, 12.3), at(43.97, 12.6), 2}, // across San Marino
	} {
		seen := make(map[string]bool)
		const steps = 20_000
		for i := range steps + 1 {
			f := float64(i) / steps
			p := orb.Point{line.from[0] + f*(line.to[0]-line.from[0]), line.from[1] + f*(line.to[1]-line.from[1])}
			got, ok := Lookup(p)
			if !ok {
				t.Errorf("no country at %v", p)
				break
			}
			seen[got.Code] = true
		}
		if len(seen) < line.countries {
			t.Errorf("%v to %v: only %v", line.from, line.to, seen)
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	points := []orb.Point{at(39.74, -75.55), at(41.9023, 12.457), at(60.39, 5.32), at(0, 0), at(78.2, 15.6)}
	if n := testing.AllocsPerRun(100, func() {
		for _, p := range points {
			Lookup(p)
			Nearest(p, 30_000)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzLookup(f *testing.F) {
	f.Add(0.0, 0.0, 30_000.0)
	f.Add(180.0, 90.0, 1e9)
	f.Add(-180.0, -90.0, -1.0)
	f.Add(179.99999999999997, 66.0, math.Inf(1))
	f.Add(math.NaN(), math.Inf(-1), math.NaN())
	f.Add(7.4246, 43.7384, 1.0)
	f.Fuzz(func(t *testing.T, lon, lat, maxMetres float64) {
		p := orb.Point{lon, lat}
		c, ok := Lookup(p)
		if ok != (c != Country{}) {
			t.Errorf("Lookup(%v) = %v, %v", p, c, ok)
		}
		near, metres, found := Nearest(p, maxMetres)
		if found != (near != Country{}) || ok && (near != c || metres != 0) || !ok && found && !(metres <= maxMetres) {
			t.Errorf("Nearest(%v, %v) = %v, %v, %v; Lookup says %v", p, maxMetres, near, metres, found, c)
		}
		if !(math.Abs(lon) <= 180 && math.Abs(lat) <= 90) && (ok || found) {
			t.Errorf("%v is no position, yet in %v, near %v", p, c, near)
		}
	})
}
