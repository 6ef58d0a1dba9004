package pages_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// recordLines keeps the last line that is drawn in the colour of a match, and what is downloaded.
const recordLines = `(() => {
	const context = CanvasRenderingContext2D.prototype;
	let path = [];
	for (const [name, begins] of [["beginPath", true], ["moveTo"], ["lineTo"]]) {
		const draw = context[name];
		context[name] = function (...at) {
			if (begins) path = []; else path.push(at);
			return draw.apply(this, at);
		};
	}
	const stroke = context.stroke;
	context.stroke = function () {
		if (this.strokeStyle === "#2f6fce") window.drawn = path.slice();
		return stroke.apply(this);
	};
	const address = URL.createObjectURL;
	URL.createObjectURL = (blob) => { window.saved = blob; return address(blob); };
	return true;
})()`

// mercator is where a position is on a map of the world, from 0 to 1.
func mercator(lat, lng float64) (x, y float64) {
	sin := math.Sin(lat * math.Pi / 180)
	return lng/360 + 0.5, 0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)
}

// A dropped GPX draws the line that the API answers.
func (w *world) testTrace(t *testing.T) {
	sample := w.Do(http.MethodGet, "/playground/samples/dover.gpx", "", "").Body
	token := w.Exchange(w.account.ClientToken, w.account.ServerToken).AccessToken
	request, err := http.NewRequest(http.MethodPost, w.URL+"/api/route/matching/?details=true", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/gpx+xml")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := w.HTTP.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var want struct {
		Coordinates [][2]float64 `json:"coordinates"`
	}
	if err := json.NewDecoder(response.Body).Decode(&want); err != nil || len(want.Coordinates) < 2 {
		t.Fatalf("%s, %v", response.Status, err)
	}

	tab := w.page(t, 1280, 720, "#map=12/"+capitol)
	browsertest.Eval[bool](tab, recordLines)
	tab.Drop("#map", "drive.gpx", sample)
	tab.Wait("the match", `!document.querySelector("#result").hidden`)
	points := strings.Count(sample, "<trkpt")
	for selector, part := range map[string]string{
		"#measures": "Outliers", "#ways": "College Road", "#points-title": fmt.Sprintf("Points (%d)", points),
		"#trace-message": "Matched", "#points": "outlier",
	} {
		if text := tab.Text(selector); !strings.Contains(text, part) {
			t.Errorf("%s shows %q, not %q", selector, text, part)
		}
	}
	tab.Wait("the view of the trace", `!location.hash.startsWith("#map=12/")`)
	drawn := browsertest.Eval[[][2]float64](tab, "window.drawn")
	zoom := browsertest.Eval[float64](tab, `Number(location.hash.slice(5).split("/")[0])`)
	if len(drawn) != len(want.Coordinates) {
		t.Fatalf("%d points are drawn, the API has %d", len(drawn), len(want.Coordinates))
	}
	for i, p := range want.Coordinates {
		x, y := mercator(p[0], p[1])
		x0, y0 := mercator(want.Coordinates[0][0], want.Coordinates[0][1])
		scale := 256 * math.Exp2(zoom)
		dx, dy := drawn[i][0]-drawn[0][0]-(x-x0)*scale, drawn[i][1]-drawn[0][1]-(y-y0)*scale
		if math.Abs(dx) > 1 || math.Abs(dy) > 1 { // Leaflet rounds to whole pixels
			t.Fatalf("point %d of the line is drawn %.1f,%.1f pixels off", i, dx, dy)
		}
	}
	tab.Click("#get-geojson")
	var saved struct {
		Geometry struct {
			Coordinates [][2]float64 `json:"coordinates"`
		} `json:"geometry"`
	}
	text := browsertest.Eval[string](tab, "window.saved.text()")
	if err := json.Unmarshal([]byte(text), &saved); err != nil ||
		len(saved.Geometry.Coordinates) != len(want.Coordinates) ||
		saved.Geometry.Coordinates[0] != [2]float64{want.Coordinates[0][1], want.Coordinates[0][0]} {
		t.Errorf("the file has %d points, %v", len(saved.Geometry.Coordinates), err)
	}
	browsertest.Eval[bool](tab, `(document.querySelector("#panel").scrollTop = 0, true)`)
	tab.Wait("all tiles", colors+" > 40")
	tab.Picture("../../docs/images/playground.png")
	// The list and the map show the same point.
	browsertest.Eval[bool](tab, `(document.querySelector("#points").focus(), true)`)
	tab.Press(kb.End)
	if text := tab.Text(`#points [aria-selected="true"]`); !strings.HasPrefix(text, fmt.Sprint(points, ".")) {
		t.Errorf("the last point is %q", text)
	}
	w.finish(tab)
}

const hostile = `<img src=x onerror="window.owned = true"><script>window.owned = true</script> 🚗 שלום`

// Names of anybody are text.
func (w *world) testHostile(t *testing.T) {
	escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(hostile)
	tab := w.page(t, 1000, 700, "#map=14/"+capitol)
	for name, content := range map[string]string{
		"name.gpx": "<gpx><trk><name>" + escaped + `</name><trkseg><trkpt lat="39.15" lon="-75.52"><desc>` + escaped +
			`</desc><time>` + escaped + `</time></trkpt><trkpt lat="39.16" lon="-75.52"/></trkseg></trk></gpx>`,
		"entities.gpx": `<!DOCTYPE gpx [<!ENTITY a "` + strings.Repeat("a", 100) + `">]><gpx><wpt lat="&a;" lon="1"/></gpx>`,
		hostile:        "lat,lng,time\n39.15,-75.52," + hostile + "\n39.16,-75.52,\n",
		"far.csv":      "lat,lng\n" + hostile + ",-75.52\n",
		"numbers.json": `{"type":"LineString","coordinates":[["` + strings.Repeat("9", 400) + `",1e999],[null,{}]]}`,
		"deep.json":    strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
		"nothing.gpx":  "",
	} {
		browsertest.Eval[bool](tab, `(document.querySelector("#trace-message").textContent = "", true)`)
		tab.Drop("#map", name, content)
		tab.Wait(name+": an error in words", `document.querySelector("#trace-message.error")?.textContent.length > 10`)
		const markup = `window.owned === true || Boolean(document.querySelector("#panel img, #panel script"))`
		if browsertest.Eval[bool](tab, markup) {
			t.Errorf("%.40q: a name became markup", name)
		}
	}
	w.finish(tab)
}

// 10,000 points stay smooth, and a file of 8 MiB is read.
func (w *world) testLarge(t *testing.T) {
	var gpx strings.Builder
	gpx.WriteString("<gpx><trk><trkseg>\n")
	for i := range 10_000 {
		// To and fro on the main roads around the Capitol.
		fmt.Fprintf(&gpx, `<trkpt lat="%.6f" lon="-75.530000"></trkpt>`+"\n", 39.10+0.1*math.Abs(float64(i%2000)/1000-1))
	}
	gpx.WriteString("<!--" + strings.Repeat("x", 8<<20-gpx.Len()-100) + "-->")
	gpx.WriteString("</trkseg></trk></gpx>")
	tab := w.page(t, 1000, 700, "#map=12/"+capitol)
	tab.Drop("#map", "large.gpx", gpx.String())
	tab.Wait("the points", `document.querySelector("#points-title").textContent === "Points (10000)"`)
	tab.Wait("an end of matching", `!document.querySelector("#trace-message.busy")`)
	if rows := browsertest.Eval[int](tab, `document.querySelectorAll("#points .option").length`); rows > 60 {
		t.Errorf("%d rows of the list are in the document", rows)
	}
	nodes := browsertest.Eval[int](tab, `document.querySelectorAll("*").length`)
	if nodes > 1500 {
		t.Errorf("%d elements are in the document", nodes)
	}
	// Moving the pointer over all of the map finds points without a pause that one would see.
	took := browsertest.Eval[float64](tab, `(async () => {
		const map = document.querySelector("#map"), box = map.getBoundingClientRect(), start = performance.now();
		for (let i = 0; i < 50; i++) {
			map.dispatchEvent(new MouseEvent("mousemove", {bubbles: true,
				clientX: box.left + box.width / 2, clientY: box.top + i * box.height / 50}));
			await new Promise(requestAnimationFrame);
		}
		return (performance.now() - start) / 50;
	})()`)
	t.Logf("%.1f ms for a frame in which the pointer moves", took)
	if took > 250 {
		t.Errorf("a frame in which the pointer moves takes %.0f ms", took)
	}
	before := browsertest.Eval[string](tab, "location.hash")
	// While the map is dragged, every other frame at least comes within 100 ms, on a machine that does other things, too.
	took = browsertest.Eval[float64](tab, `(async () => {
		const pane = document.querySelector(".leaflet-map-pane"), frames = [];
		const at = (type, x) =>
			pane.dispatchEvent(new MouseEvent(type, {bubbles: true, clientX: x, clientY: 300, button: 0}));
		at("mousedown", 700);
		for (let i = 0, last = performance.now(); i < 60; i++) {
			at("mousemove", 700 - i * 3);
			const now = await new Promise(requestAnimationFrame);
			frames.push(now - last);
			last = now;
		}
		at("mouseup", 520);
		return frames.sort((a, b) => a - b)[30];
	})()`)
	t.Logf("%.1f ms for a frame in which the map is dragged", took)
	if took > 100 {
		t.Errorf("a frame in which the map is dragged takes %.0f ms", took)
	}
	tab.Wait("the other view", fmt.Sprintf("location.hash !== %q", before))
	tab.Drop("#map", "larger.gpx", gpx.String()+strings.Repeat(" ", 200))
	tab.Wait("a refusal", `document.querySelector("#trace-message.error")?.textContent.includes("8 MiB")`)
	w.finish(tab)
}

// All of it works without a mouse.
func (w *world) testKeyboard(t *testing.T) {
	tab := w.page(t, 1000, 700, "#map=16/"+capitol)
	tab.TabTo("#ask-at")
	tab.Type("#ask-at", "39.1573, -75.5197")
	tab.Press(kb.Enter)
	tab.Wait("the Capitol", `document.querySelector("#places .place")?.textContent.includes("Delaware State Capitol")`)
	tab.TabTo("#draw")
	tab.Press(kb.Enter)
	tab.TabTo("#map")
	tab.Press(kb.Enter)
	for range 3 {
		before := browsertest.Eval[string](tab, "location.hash")
		tab.Press(kb.ArrowUp)
		tab.Wait("the map to move", fmt.Sprintf("location.hash !== %q", before))
	}
	tab.Press(kb.Enter)
	if text := tab.Text("#points-title"); text != "Points (2)" {
		t.Errorf("after two points were drawn: %q", text)
	}
	tab.TabTo("#match")
	outline := browsertest.Eval[string](tab, `getComputedStyle(document.activeElement).outlineStyle`)
	if outline != "solid" {
		t.Errorf("the focus has the outline %q", outline)
	}
	tab.Press(kb.Enter)
	tab.Wait("an answer", `/Matched|no /i.test(document.querySelector("#trace-message").textContent)`)
	w.finish(tab)
}

// A token comes in the address, and goes out of it at once.
func (w *world) testToken(t *testing.T) {
	token := w.Exchange(w.account.ClientToken, w.account.ServerToken).AccessToken
	tab := browsertest.Open(t, 1000, 700)
	tab.Go(w.URL + "/playground/#token=" + token + "&map=14/" + capitol)
	tab.Wait("the page", "document.documentElement.dataset.ready")
	tab.Wait("tiles", colors+" > 20")
	if hash := browsertest.Eval[string](tab, "location.hash"); !strings.HasPrefix(hash, "#map=14/39.15") ||
		strings.Contains(hash, "token") {
		t.Errorf("the address ends with %.60s", hash)
	}
	if text := tab.Text("#access"); !strings.Contains(text, "Your token of the organization org is valid until") {
		t.Errorf("the page says %q", text)
	}
	for _, r := range tab.Requests() {
		if strings.Contains(r.URL, "/playground/token") || strings.Contains(r.URL, token) {
			t.Errorf("request %s %.100s", r.Method, r.URL)
		}
	}
	// Another one, while the page is open, is out of the address and not used.
	browsertest.Eval[bool](tab, fmt.Sprintf(`(location.hash = "#token=nonsense&map=16/%s", true)`, capitol))
	tab.Wait("the other view", `location.hash.startsWith("#map=16/39.15") && !location.hash.includes("token") &&
		document.querySelector("#trouble").textContent.includes("has a token already")`)
	tab.Click("#map")
	tab.Wait("an answer", `document.querySelector("#places .place")`)
	w.finish(tab)
	if strings.Contains(w.Log(), token) {
		t.Error("the token is in the log")
	}
}

// An account that is restricted to the origin of the site can be used by the page of the site.
func (w *world) testRestricted(t *testing.T) {
	restrict := func(restrictions string) {
		t.Helper()
		a := w.Do(http.MethodPatch, modulestest.AccountsPath+"/"+w.account.ID, w.UserToken("org"),
			`{"restrictions":{"origins":[`+restrictions+`]}}`)
		if a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	restrict(`"` + w.URL + `"`)
	defer restrict("")
	token := w.Exchange(w.account.ClientToken, w.account.ServerToken).AccessToken
	if a := w.Do(http.MethodGet, "/tiles/map.json", token, ""); a.Status != http.StatusForbidden {
		t.Errorf("without an origin: %d", a.Status)
	}
	tab := w.page(t, 1000, 700, "#map=16/"+capitol)
	tab.Wait("tiles", colors+" > 20")
	tab.Click("#map")
	tab.Wait("an answer", `document.querySelector("#places .place")`)
	for _, r := range tab.Requests() {
		if r.Status == http.StatusForbidden {
			t.Errorf("refused: %s %s", r.Method, r.URL)
		}
	}
	w.finish(tab)
}

// A token that expires while the page is open is renewed, and nothing that the page asks for is refused.
func TestBrowserRenewal(t *testing.T) {
	w := startWorld(t, village(t), "access_token_ttl 4s")
	tab := w.page(t, 800, 600, "#map=15/39.16/-75.52")
	browsertest.Eval[bool](tab, `(() => {
		let click = 0;
		performance.setResourceTimingBufferSize(10000);
		setInterval(() => document.querySelectorAll(".leaflet-control-zoom a")[click++ % 2].click(), 500);
		return true;
	})()`)
	const tokens = `performance.getEntriesByType("resource").filter((r) => r.name.endsWith("/playground/token")).length`
	tab.Wait("three tokens", tokens+" >= 3")
	for _, r := range tab.Requests() {
		if r.Status == http.StatusUnauthorized {
			t.Errorf("refused: %s %s", r.Method, r.URL)
		}
	}
	if text := tab.Text("#trouble"); text != "" {
		t.Errorf("the page says %q", text)
	}
	w.finish(tab)
}
