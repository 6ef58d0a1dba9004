package pages_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	_ "github.com/mapsedge/caddy-maps/modules/geocoding"
	_ "github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/routing"
	_ "github.com/mapsedge/caddy-maps/modules/tiles"
)

// capitol is the position of Delaware's Capitol in Dover.
const capitol = "39.1573/-75.5197"

// world is the service with all its APIs, a map, and the page for anonymous visitors.
type world struct {
	*modulestest.Server
	account modulestest.Account
}

// startWorld runs the service with the map of an extract. settings are further lines of the maps option; build may
// change how the map is built.
func startWorld(t *testing.T, extract, settings string, build ...func(*compiler.Options)) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a map and runs a browser")
	}
	region := filepath.Join(t.TempDir(), "map.region")
	options := compiler.Options{Inputs: []string{extract}, Output: region}
	for _, change := range build {
		change(&options)
	}
	if _, err := compiler.Build(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	playgroundSite := func(guest string) string {
		return `
		handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts* {
			maps_accounts
		}
		handle /tiles/* {
			maps_auth TILE
			maps_tiles map
		}
		handle /v2/search/geocode {
			maps_auth GEOCODING
			maps_geocode {
				geocoder local map
			}
		}
		handle /v2/search/* {
			maps_auth REVERSEGEOCODING
			maps_reverse_geocode {
				geocoder local map
			}
		}
		handle /api/route/matching/ {
			maps_auth DIRECTION {
				error_style routing
			}
			maps_match {
				matcher local map
				profile car bicycle foot
			}
		}
		@routes path /api/v1/route /api/v1/isochrone
		handle @routes {
			maps_auth DIRECTION
			maps_route map
		}
		handle /playground/* {
			maps_playground map {
				` + guest + `
				profile car bicycle foot
			}
		}
		handle /console/* {
			maps_console
		}
		handle /docs/* {
			maps_docs
		}` + startSite
	}
	cfg := modulestest.Config{Maps: settings + "\nregion map " + region, Site: playgroundSite(""), Level: "INFO"}
	s := modulestest.Start(t, cfg)
	acc := s.CreateAccount(s.UserToken("org"), "TILE DIRECTION REVERSEGEOCODING GEOCODING", "")
	cfg.Site = playgroundSite("guest " + acc.ID)
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	return &world{s, acc}
}

// page opens the page at a view in a browser of its own, and waits until it is shown.
func (w *world) page(t *testing.T, width, height int, fragment string) *browsertest.Tab {
	t.Helper()
	tab := browsertest.Open(t, width, height)
	tab.Go(w.URL + "/playground/" + fragment)
	tab.Wait("the page", "document.documentElement.dataset.ready")
	return tab
}

// finish checks what must hold after every test of the page.
func (w *world) finish(tab *browsertest.Tab) {
	tab.CheckOrigin(w.URL)
	tab.CheckStorage()
}

// colors counts the colours on the canvases of the map, which are few if they are empty.
const colors = `(() => {
	const seen = new Set();
	for (const canvas of document.querySelectorAll(".leaflet-tile-loaded")) {
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		for (let i = 0; i < data.length; i += 400) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
	}
	return seen.size;
})()`

func TestPlaygroundBrowser(t *testing.T) {
	w := startWorld(t, testkit.Extract(t, testkit.Delaware), "")
	t.Run("map", func(t *testing.T) {
		for _, zoom := range []int{8, 12, 16} {
			tab := w.page(t, 1000, 700, fmt.Sprintf("#map=%d/%s", zoom, capitol))
			tab.Wait(fmt.Sprintf("a map at zoom %d", zoom), colors+" > 20")
			w.finish(tab)
		}
	})
	t.Run("place", func(t *testing.T) {
		tab := w.page(t, 1280, 800, "#map=17/"+capitol)
		tab.Wait("tiles", colors+" > 20")
		tab.Click("#map")
		tab.Wait("an answer", `document.querySelector("#places .place")`)
		if text := tab.Text("#places .place"); !strings.Contains(text, "Delaware State Capitol") ||
			!strings.Contains(text, "Dover") || !strings.Contains(text, "0 m") {
			t.Errorf("a click on the Capitol shows %q", text)
		}
		w.finish(tab)
	})
	t.Run("search", func(t *testing.T) {
		tab := w.page(t, 1280, 800, "#map=12/39.7459/-75.5466")
		tab.Type("#ask-at", "824 n market")
		lists(tab, "824 North Market Street")
		tab.Press(kb.ArrowDown, kb.Enter)
		waitFor(tab, "#places .place", "824 North Market Street")
		clearRecent(tab)
		w.finish(tab)
	})
	t.Run("trace", func(t *testing.T) { w.testTrace(t) })
	t.Run("hostile", func(t *testing.T) { w.testHostile(t) })
	t.Run("large", func(t *testing.T) { w.testLarge(t) })
	t.Run("keyboard", func(t *testing.T) { w.testKeyboard(t) })
	t.Run("phone", func(t *testing.T) {
		tab := w.page(t, 360, 740, "#map=14/"+capitol)
		tab.Wait("tiles", colors+" > 20")
		if wide := browsertest.Eval[int](tab, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("the page is %d pixels wide", wide)
		}
		w.finish(tab)
	})
	t.Run("network", func(t *testing.T) {
		tab := w.page(t, 1000, 700, "#map=15/"+capitol)
		tab.Click("#network")
		tab.Wait("the network", `document.querySelector(".leaflet-network-pane .leaflet-tile-loaded")`)
		w.finish(tab)
	})
	t.Run("directions", func(t *testing.T) { w.testDirections(t) })
	t.Run("token", func(t *testing.T) { w.testToken(t) })
	t.Run("restricted", func(t *testing.T) { w.testRestricted(t) })
}

// village is the path of an extract of a small place, with pairs of texts replaced.
func village(t *testing.T, replacements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "village.osm")
	text := strings.NewReplacer(replacements...).Replace(modulestest.Village)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// testDirections asks for a route by clicks, changes it, reloads the page, and asks what can be reached.
func (w *world) testDirections(t *testing.T) {
	tab := w.page(t, 1280, 800, "#map=15/"+capitol)
	tab.Wait("tiles", colors+" > 20")
	tab.Click("#route-choose")
	for _, at := range [][2]int{{200, 150}, {-200, -120}} {
		browsertest.Eval[bool](tab, fmt.Sprintf(`(() => {
			const map = document.getElementById("map"), box = map.getBoundingClientRect();
			const at = { bubbles: true, clientX: box.left + box.width / 2 + %d, clientY: box.top + box.height / 2 + %d };
			for (const type of ["mousedown", "mouseup", "click"]) map.dispatchEvent(new MouseEvent(type, at));
			return true;
		})()`, at[0], at[1]))
	}
	tab.Wait("steps", `document.querySelectorAll("#route-steps li").length > 1`)
	text := tab.Text("#route-steps")
	if !strings.Contains(text, "destination") {
		t.Errorf("the steps are %q", text)
	}
	const list = `document.getElementById("route-list")?.textContent`
	before := browsertest.Eval[string](tab, list)
	browsertest.Eval[bool](tab, `(() => {
		const stop = document.querySelector("#stops input");
		stop.value = "39.1600, -75.5300";
		return stop.dispatchEvent(new Event("change"));
	})()`)
	tab.Wait("another route", fmt.Sprintf(`%s !== %q && document.querySelectorAll("#route-steps li").length > 1`, list, before))
	fragment := browsertest.Eval[string](tab, "location.hash")
	if !strings.Contains(fragment, "stops=39.16,-75.53;") || strings.Contains(fragment, "token") {
		t.Errorf("the address of the page is %s", fragment)
	}
	after := browsertest.Eval[string](tab, list)
	tab.Go(w.URL + "/playground/?again" + fragment)
	tab.Wait("the same route", fmt.Sprintf(`%s === %q`, list, after))
	tab.Click("#route-avoid input[value=motorway]")
	tab.Wait("a route without motorways", `document.getElementById("route-message").textContent.startsWith("The route takes")`)
	tab.Click("#reach")
	tab.Wait("areas", `document.getElementById("route-message").textContent.startsWith("Reachable")`)
	w.finish(tab)
}
