package main

import "github.com/paulmach/orb"

// correction redraws a country that Natural Earth draws so far off that towns change sides. Corners are longitude and
// latitude, within some 100 to 200 metres of the border on land; at sea they take in harbours and reclaimed land.
type correction struct {
	code      string
	neighbour string // gets the land of the old outline that is outside the new one
	outline   orb.Ring
}

var corrections = []correction{
	// Natural Earth's is a tenth of the city and has neither the square nor the museums.
	{"VAT", "ITA", orb.Ring{
		{12.4457, 41.9017}, {12.4465, 41.9009}, {12.4485, 41.9003}, {12.4510, 41.9002}, {12.4535, 41.9004},
		{12.4548, 41.9003}, {12.4555, 41.9008}, {12.4578, 41.9012}, {12.4584, 41.9024}, {12.4583, 41.9030},
		{12.4573, 41.9040}, {12.4568, 41.9062}, {12.4550, 41.9073}, {12.4535, 41.9074}, {12.4507, 41.9068},
		{12.4490, 41.9055}, {12.4467, 41.9040}, {12.4457, 41.9017},
	}},
	// Natural Earth's reaches three kilometres into France.
	{"MCO", "FRA", orb.Ring{
		{7.4092, 43.7296}, {7.4105, 43.7268}, {7.4120, 43.7245}, {7.4200, 43.7225}, {7.4450, 43.7280}, {7.4450, 43.7490},
		{7.4395, 43.7505}, {7.4375, 43.7518}, {7.4340, 43.7500}, {7.4310, 43.7478}, {7.4288, 43.7459}, {7.4270, 43.7432},
		{7.4243, 43.7418}, {7.4207, 43.7412}, {7.4180, 43.7395}, {7.4165, 43.7372}, {7.4140, 43.7352}, {7.4128, 43.7335},
		{7.4105, 43.7320}, {7.4092, 43.7296},
	}},
	// Natural Earth's lies two kilometres to the south-west; this is its shape, fitted to the northernmost, southernmost,
	// easternmost and westernmost points of the republic.
	{"SMR", "ITA", orb.Ring{
		{12.4500, 43.8937}, {12.4684, 43.8972}, {12.4829, 43.8972}, {12.5018, 43.9207}, {12.5010, 43.9241},
		{12.5015, 43.9275}, {12.5032, 43.9303}, {12.5060, 43.9326}, {12.5069, 43.9340}, {12.5146, 43.9449},
		{12.5168, 43.9635}, {12.5134, 43.9817}, {12.5060, 43.9920}, {12.4754, 43.9882}, {12.4415, 43.9753},
		{12.4305, 43.9671}, {12.4143, 43.9548}, {12.4036, 43.9289}, {12.4184, 43.9058}, {12.4500, 43.8937},
	}},
	// Natural Earth's ends south of the airfield.
	{"GIB", "ESP", orb.Ring{
		{-5.3670, 36.1200}, {-5.3480, 36.1080}, {-5.3370, 36.1090}, {-5.3380, 36.1556}, {-5.3575, 36.1552},
		{-5.3660, 36.1549}, {-5.3670, 36.1200},
	}},
}

// correct applies the corrections, whose outlines replace those of other territories.
func correct(byCode map[string]*territory) {
	for _, c := range corrections {
		t, neighbour := byCode[c.code], byCode[c.neighbour]
		neighbour.polygons = append(neighbour.polygons, t.polygons...)
		t.polygons = []orb.Polygon{{c.outline}}
		t.over = true
	}
}

// straighten puts the border of Canada and the United States from the Strait of Georgia to the Lake of the Woods on the
// 49th parallel; Natural Earth's runs 800 metres south of it.
func straighten(ring orb.Ring) {
	for i, p := range ring {
		if p.Lon() > -122.77 && p.Lon() < -95.165 && p.Lat() > 48.9920 && p.Lat() < 48.9951 {
			ring[i][1] = 49
		}
	}
}
