package main

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
)

// recode gives an ISO 3166-1 code to what Natural Earth (by its own three-letter names) has none for, or one that is
// not assigned: a state whose code Natural Earth withholds, land leased by or administered by a state, islands that
// belong to one, and states that no ISO 3166 entry knows, under the entry that holds their territory. The empty code is
// land of no country.
var recode = map[string]string{
	"FRA": "FRA",
	"NOR": "NOR",
	"KOS": "XKX", // Kosovo: user-assigned, in general use
	"SOL": "SOM", // Somaliland
	"CYN": "CYP", // Northern Cyprus
	"CNM": "CYP", // the buffer zone of the United Nations
	"ESB": "GBR", // Dhekelia, sovereign base of the United Kingdom
	"WSB": "GBR", // Akrotiri, likewise
	"USG": "CUB", // Guantanamo Bay, leased from Cuba
	"KAB": "KAZ", // Baikonur, leased from Kazakhstan
	"BRI": "BRA", // Brazilian Island, held by Brazil, claimed by Uruguay
	"KAS": "IND", // Siachen Glacier, held by India
	"SPI": "CHL", // Southern Patagonian Ice Field: border not yet drawn, the ice lies mostly west of the watershed
	"BRT": "EGY", // Bir Tawil, claimed by no one, administered by Egypt
	"CSI": "AUS", // Coral Sea Islands
	"ATC": "AUS", // Ashmore and Cartier Islands
	"CLP": "FRA", // Clipperton Island
	"BJN": "COL", // Bajo Nuevo Bank
	"SER": "COL", // Serranilla Bank
	"PGA": "VNM", // Spratly Islands: by who holds each; most are Vietnam's, others are parts below
	"IOA": "CXR", // Australia's Indian Ocean Territories: Christmas Island; Cocos is a part below
	"SCR": "",    // Scarborough Reef: awash, claimed by three, inhabited by none
}

// part is a piece of a Natural Earth country that has an ISO 3166-1 code of its own, or that ISO 3166 sees elsewhere:
// the polygons that lie inside a box.
type part struct {
	of    string // Natural Earth's name of the country
	code  string
	bound orb.Bound
}

var parts = []part{
	{"FRA", "GUF", box(-55, 2, -51, 6)},
	{"FRA", "GLP", box(-62, 15.7, -60.9, 16.6)},
	{"FRA", "MTQ", box(-61.4, 14.2, -60.7, 15)},
	{"FRA", "REU", box(55, -21.6, 56, -20.7)},
	{"FRA", "MYT", box(44.9, -13.2, 45.5, -12.5)},
	{"NOR", "SJM", box(10, 74, 34, 81)},    // Svalbard
	{"NOR", "SJM", box(-10, 70.5, -7, 72)}, // Jan Mayen
	{"NOR", "BVT", box(3, -55, 4, -54)},
	{"NLD", "BES", box(-69, 11.9, -62, 18)},
	{"NZL", "TKL", box(-173, -10, -171, -8)},
	{"IOA", "CCK", box(96, -13, 97.5, -11.5)},
	{"RUS", "UKR", box(32.4, 44.3, 36.8, 46.3)},         // Crimea
	{"PGA", "TWN", box(114.355, 10.365, 114.37, 10.38)}, // Itu Aba
	{"PGA", "PHL", box(114.9, 10, 116, 11.2)},           // Nanshan, Flat, West York
	{"PGA", "PHL", box(114.2, 11, 114.3, 11.1)},         // Thitu
}

// The northern border of Western Sahara is a parallel, 27°40' N from the Atlantic to Algeria. Natural Earth gives
// Morocco what Morocco holds south of it.
const sahara = 27 + 40.0/60

type assigned struct {
	code    string
	polygon orb.Polygon
}

// assign tells which codes a polygon of a Natural Earth country answers with: one, but for Morocco, which is cut in
// two.
func assign(name, iso string, polygon orb.Polygon) []assigned {
	for _, p := range parts {
		b := polygon.Bound()
		if p.of == name && p.bound.Contains(b.Min) && p.bound.Contains(b.Max) {
			return []assigned{{p.code, polygon}}
		}
	}
	code, ok := recode[name]
	if !ok {
		code = iso
	}
	if name == "MAR" {
		south := clip.Polygon(box(-180, -90, 180, sahara), polygon.Clone())
		north := clip.Polygon(box(-180, sahara, 180, 90), polygon.Clone())
		return nonEmpty(assigned{"ESH", south}, assigned{code, north})
	}
	return []assigned{{code, polygon}}
}

func nonEmpty(all ...assigned) []assigned {
	var kept []assigned
	for _, a := range all {
		if len(a.polygon) > 0 {
			kept = append(kept, a)
		}
	}
	return kept
}

func box(west, south, east, north float64) orb.Bound {
	return orb.Bound{Min: orb.Point{west, south}, Max: orb.Point{east, north}}
}
