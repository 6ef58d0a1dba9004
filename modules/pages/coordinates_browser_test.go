package pages_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
)

// Coordinates are read as people write them. The map is Delaware: of two orders the one inside comes first, and a ! marks
// one that is not as it was written.
func TestBrowserCoordinates(t *testing.T) {
	s, _, _ := startPlayground(t, "TILE", "search off")
	tab := browsertest.Open(t, 400, 300)
	tab.Go(s.URL + "/playground/")
	const exact = "39.157,-75.51917"
	for text, want := range map[string]string{
		"39.15, -75.52": "39.15,-75.52", " 39.15\t-75.52 ": "39.15,-75.52", "(39.15; -75.52)": "39.15,-75.52",
		"39.15,-75.52": "39.15,-75.52", "[39.15/−75.52],": "39.15,-75.52", "+39 -75.5": "39,-75.5", "0 0": "0,0",
		"-75.52 39.15": "!39.15,-75.52 -75.52,39.15", "10, 20": "10,20 !20,10", "100, 30": "!30,100", "95, 200": "",
		`39°9'25.2"N 75°31'9"W`: exact, "39º 9’ 25.2” N, 75º 31’ 9” W": exact, "39°9′25.2″N75°31′9″W": exact,
		"75°31'9\"W 39°9'25.2''N": exact, "N 39 9.42 W 75 31.15": exact, "N39°9.42' W75°31.15'": exact,
		"39:9:25.2 -75:31:9": exact, "39 9 25.2, -75 31 9": exact, "39 deg 9 min 25.2 sec N, 75 deg 31 min 9 sec W": exact,
		"39°9'25,2\"N 75°31'9\"W": exact, "39.15N 75.52W": "39.15,-75.52", "39.15 n, 75.52 w": "39.15,-75.52",
		"W 75.52 N 39.15": "39.15,-75.52", "39.15 north 75.52 west": "39.15,-75.52", "39 N 75 W": "39,-75", "N 39 W 75": "39,-75",
		"39.15 N, -75.52": "39.15,-75.52", "39°N 75°31.2'W": "39,-75.52", "39.15 S 75.52 E": "-39.15,75.52", "39N -75.52W": "39,-75.52",
		"lat: 39.15, lon: -75.52": "39.15,-75.52", "lng=-75.52&lat=39.15": "39.15,-75.52",
		"39,15; -75,52": "39.15,-75.52", "39,15 -75,52": "39.15,-75.52", "39,15,-75,52": "39.15,-75.52", "39, -75": "39,-75 !-75,39",
		"39,15": "39,15 !15,39", "50,5": "50,5 !5,50", "45 45": "45,45",
		"geo:39.15,-75.52": "39.15,-75.52", "GEO:39.15,-75.52,12;crs=wgs84;u=35?z=5": "39.15,-75.52", "geo:-75.52,39.15": "-75.52,39.15",
		"geo:0,0?q=39.15,-75.52(Dover)": "39.15,-75.52", "geo:39,-75;crs=nad27": "", "geo:39": "", "geo:1.2.3,4": "",
		// No coordinates.
		"": "", "39": "", "39.15,": "", "main st": "", "824 n market": "", "12 N": "", "1 2 3": "", "1,2,3": "", "12-14": "", "19901": "",
		"19901 824": "", "5th 6th": "", "39.15N 75.52N": "", "39°61'N 75°W": "", "39.5°30'N 75°W": "", "91 N 75 W": "", "-39 N 75 W": "",
		"39 N 181 W": "", "39.15,-75.52,17": "", "NaN, NaN": "", "Infinity 1": "", "1e1, 2e1": "", strings.Repeat("1 ", 100): "",
	} {
		quoted, _ := json.Marshal(text)
		got := browsertest.Eval[string](tab, fmt.Sprintf(`import("./coordinates.js").then(({ readPosition }) =>
			readPosition(%s, ({ lat, lng }) => lat > 38.4 && lat < 39.9 && lng > -75.8 && lng < -75)
				.map(({ lat, lng, swapped }) => (swapped ? "!" : "") + Number(lat.toFixed(5)) + "," + Number(lng.toFixed(5))).join(" "))`,
			quoted))
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
