// The map: its tiles, which carry the token in a header, and the address, which keeps the view.
import { ApiError, readJSON } from "./shared/session.js";
import { paper, paintRules, labelRules } from "./style.js";

const retries = [500, 1500, 4000]; // milliseconds between attempts at a tile

// source is what protomaps-leaflet takes tiles from. failed hears of an error that does not pass.
function source(session, address, failed) {
  return {
    async getZxy(z, x, y, signal) {
      const at = address.replace("{z}", z).replace("{x}", x).replace("{y}", y);
      for (let attempt = 0; ; attempt++) {
        let answer = null;
        try {
          answer = await session.fetch(at, { signal });
        } catch (error) {
          if (error.name === "AbortError") throw error;
        }
        if (answer?.status === 204) return undefined;
        if (answer?.ok) return { data: await answer.arrayBuffer() };
        const passes = !answer || answer.status === 429 || answer.status >= 500;
        if (passes && attempt < retries.length) {
          await new Promise((done) => setTimeout(done, retries[attempt]));
          signal.throwIfAborted();
          continue;
        }
        const error = answer ? await readJSON(answer).catch((e) => e)
          : new ApiError(0, "The server cannot be reached.");
        failed(error);
        // That has been told in words; the layer need not write it to the console, too.
        throw new DOMException("no tile", "AbortError");
      }
    },
  };
}

// layer makes a layer of vector tiles that shows the same on every screen.
export function layer(session, address, maxZoom, options, failed) {
  return protomapsL.leafletLayer({
    url: source(session, address, failed), maxDataZoom: maxZoom, attribution: "", noWrap: true, ...options,
  });
}

// viewOf reads the view of a fragment: map=zoom/latitude/longitude.
function viewOf(fragment) {
  const text = new URLSearchParams(fragment.replace(/^#/, "")).get("map");
  const parts = (text ?? "").split("/").map(Number);
  if (parts.length !== 3 || !parts.every(Number.isFinite)) return null;
  const [zoom, lat, lng] = parts;
  return zoom >= 0 && zoom <= 20 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { zoom, center: [lat, lng] } : null;
}

// openMap shows the region's map in an element. It returns the map of Leaflet.
export function openMap(element) {
  const map = L.map(element, { maxZoom: 19, minZoom: 2 });
  map.attributionControl.setPrefix(false);
  L.control.scale().addTo(map);
  map.zoomControl.getContainer().setAttribute("role", "group");
  const keep = () => {
    const { lat, lng } = map.getCenter();
    const digits = Math.max(2, Math.ceil(map.getZoom() / 3));
    history.replaceState(history.state, "",
      `#map=${map.getZoom()}/${lat.toFixed(digits)}/${lng.toFixed(digits)}`);
  };
  map.on("moveend", keep);
  return map;
}

// showView shows the view that the address names. It reports whether it names one.
export function showView(map) {
  const view = viewOf(location.hash);
  if (view) map.setView(view.center, view.zoom);
  return Boolean(view);
}

// showTiles gets the description of the region's tiles and adds them to the map, at the place that it describes
// unless the address names one. It returns the description.
export async function showTiles(map, session, settings, failed) {
  const tiles = await session.json(`${settings.tiles}/${settings.region}.json`);
  // The page asks at its own origin, whatever address the server thinks it has.
  const address = `${settings.tiles}/${settings.region}/{z}/{x}/{y}.mvt`;
  const [west, south, east, north] = tiles.bounds;
  if (!showView(map)) map.fitBounds([[south, west], [north, east]]);
  const options = { paintRules: paintRules(), labelRules: labelRules(navigator.language), backgroundColor: paper };
  const base = layer(session, address, tiles.maxzoom, options, failed).addTo(map);
  map.attributionControl.addAttribution(plain(tiles.attribution));
  return { tiles, base };
}

// plain is a text without what markup would make of it: Leaflet takes attributions for HTML.
function plain(text) {
  const holder = document.createElement("div");
  holder.textContent = new DOMParser().parseFromString(text ?? "", "text/html").body.textContent;
  return holder.innerHTML;
}
